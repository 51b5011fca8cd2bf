import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";
import type { RecallKind } from "../../../src/domain/schema/recall.ts";
import type { SqlCondition } from "../core/sql-condition.ts";

/**
 * A memory's version or a message, as the index has it. `text` is embedded; `words` are searched (the text unless given);
 * `record` is JSON, the fields of a message that a hit shows besides its text. A memory's own fields are in `memories`.
 */
export type Document = {
  n: number;
  kind: RecallKind;
  text: string;
  words?: string;
  record: string;
  createdAt: number;
};
type Row = Omit<Document, "words">;

const COLUMNS = 'documents.n, kind, text, record, documents.created_at AS "createdAt"';

/** SQL that selects the numbers of all documents. */
export const DOCUMENT_NUMBERS = "SELECT n FROM documents";
/** SQL of the text of the document with this number, an SQL expression. */
export const textOf = (n: string): string => `(SELECT text FROM documents WHERE documents.n = ${n})`;

/** The texts that recall searches. Owns the SQL of `documents`; a condition names its columns as `documents.n`. */
export class Documents {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put({ n, kind, text, record, createdAt }: Document): void {
    this.#sql.exec(
      "INSERT INTO documents (n, kind, text, record, created_at) VALUES (?, ?, ?, ?, ?)",
      n,
      kind,
      text,
      record,
      createdAt,
    );
  }

  /** Changes all but the text. */
  change({ n, kind, record, createdAt }: Document): void {
    this.#sql.exec(
      "UPDATE documents SET kind = ?, record = ?, created_at = ? WHERE n = ?",
      kind,
      record,
      createdAt,
      n,
    );
  }

  text(n: number): string | null {
    const [row] = this.#sql.exec<{ text: string }>("SELECT text FROM documents WHERE n = ?", n).toArray();
    return row?.text ?? null;
  }

  /** The documents with these numbers, in no order; of a text, so many characters at most. */
  read(numbers: readonly number[], characters = Number.MAX_SAFE_INTEGER): Document[] {
    if (numbers.length === 0) return [];
    return this.#sql
      .exec<Row>(
        `SELECT n, kind, substr(text, 1, ?) AS text, record, created_at AS "createdAt" FROM documents
         WHERE n IN (SELECT value FROM json_each(?))`,
        characters,
        JSON.stringify(numbers),
      )
      .toArray();
  }

  /** The same with further columns, each an SQL expression that names the document's number as `documents.n`. */
  readWith<Columns extends Record<string, SqlStorageValue>>(
    numbers: readonly number[],
    columns: Readonly<Record<keyof Columns & string, string>>,
  ): (Row & Columns)[] {
    const further = Object.entries<string>(columns).map(([name, value]) => `${value} AS ${name}`);
    return this.#sql
      .exec<Row & Columns>(
        `SELECT ${[COLUMNS, ...further].join(", ")}
         FROM json_each(?) AS one CROSS JOIN documents ON documents.n = one.value`,
        JSON.stringify(numbers),
      )
      .toArray();
  }

  /** The texts of the first of these documents: so many characters, and the text that passes them. */
  texts(numbers: readonly number[], characters: number): { n: number; text: string }[] {
    return this.#sql
      .exec<{ n: number; text: string }>(
        `SELECT n, text FROM documents WHERE n IN (
           SELECT n FROM (
             SELECT n, SUM(length(text)) OVER (ORDER BY n) - length(text) AS before FROM documents
             WHERE n IN (SELECT value FROM json_each(?))
           ) WHERE before < ?
         ) ORDER BY n`,
        JSON.stringify(numbers),
        characters,
      )
      .toArray();
  }

  numbersBelow(n: number): number[] {
    return numbersOf(this.#sql.exec<{ n: number }>("SELECT n FROM documents WHERE n < ?", n));
  }

  /** The numbers of all documents that meet a condition. Looks at each. */
  where({ sql, bindings }: SqlCondition): number[] {
    return numbersOf(this.#sql.exec<{ n: number }>(`SELECT n FROM documents WHERE ${sql}`, ...bindings));
  }

  /** The documents among some that meet a condition. `some` is SQL that selects their numbers as `n`. */
  among(some: SqlCondition, { sql, bindings }: SqlCondition): number[] {
    return numbersOf(
      this.#sql.exec<{ n: number }>(
        `SELECT documents.n FROM (${some.sql}) AS some CROSS JOIN documents ON documents.n = some.n
         WHERE ${sql}`,
        ...some.bindings,
        ...bindings,
      ),
    );
  }

  /** The last documents of a time, the end not included. */
  inTime({ from, to }: { from: number; to: number }, limit: number): number[] {
    return numbersOf(
      this.#sql.exec<{ n: number }>(
        `SELECT n FROM documents INDEXED BY documents_by_time WHERE created_at >= ? AND created_at < ?
         ORDER BY created_at DESC, n DESC LIMIT ?`,
        from,
        to,
        limit,
      ),
    );
  }

  /** The documents that meet a condition, the newest first, read `slice` at a time. */
  *newest({ sql, bindings }: SqlCondition, slice: number): Generator<Document> {
    for (let skip = 0; ; skip += slice) {
      const rows = this.#sql
        .exec<Row>(
          `SELECT ${COLUMNS} FROM documents WHERE ${sql}
           ORDER BY created_at DESC, n DESC LIMIT ? OFFSET ?`,
          ...bindings,
          slice,
          skip,
        )
        .toArray();
      yield* rows;
      if (rows.length < slice) return;
    }
  }

  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM documents").one().n;
  }

  holds({ sql, bindings }: SqlCondition): boolean {
    return this.#sql.exec(`SELECT 1 FROM documents WHERE ${sql} LIMIT 1`, ...bindings).toArray().length > 0;
  }

  /** Overwrites the texts, so that no free page holds them after a delete. */
  overwrite({ sql, bindings }: SqlCondition): void {
    this.#sql.exec(`UPDATE documents SET ${zeroedColumns(["text", "record"])} WHERE ${sql}`, ...bindings);
  }

  /** Returns how many documents were removed. */
  remove({ sql, bindings }: SqlCondition): number {
    this.#sql.exec(`DELETE FROM documents WHERE ${sql}`, ...bindings);
    return this.#sql.exec<{ n: number }>("SELECT changes() AS n").one().n;
  }
}

const numbersOf = (rows: Iterable<{ n: number }>): number[] => Array.from(rows, ({ n }) => n);
