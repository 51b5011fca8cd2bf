import { indexedText } from "../../../src/domain/ranking/question.ts";
import type { Term } from "../../../src/domain/ranking/spelling.ts";
import type { Scored } from "../../../src/platform/vectors/vector-table.ts";
import type { PositionRange } from "../core/position.ts";
import type { SqlCondition } from "../core/sql-condition.ts";

/** FTS5 keeps the numbers of deleted documents in rows of `words_data` with an `id` from here on (`FTS5_TOMBSTONE_ROWID`). */
const FIRST_TOMBSTONE = 2 ** 53;

/** SQL that selects the numbers of all documents: each has words. */
export const DOCUMENT_NUMBERS = "SELECT rowid AS n FROM words";

/** The words of all documents, as FTS5 indexes them. Owns the SQL of `words` and of the tables that FTS5 keeps for it. */
export class WordIndex {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put(n: number, words: string): void {
    this.#sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", n, indexedText(words));
  }

  /** Returns how many documents were removed. */
  remove({ sql, bindings }: SqlCondition): number {
    this.#sql.exec(`DELETE FROM words WHERE ${sql}`, ...bindings);
    return this.#sql.exec<{ n: number }>("SELECT changes() AS n").one().n;
  }

  /** The documents among these. */
  among(numbers: readonly number[]): Set<number> {
    const rows = this.#sql
      .exec<{ n: number }>(
        "SELECT rowid AS n FROM words WHERE rowid IN (SELECT value FROM json_each(?))",
        JSON.stringify(numbers),
      )
      .toArray();
    return new Set(rows.map(({ n }) => n));
  }

  /** The number of documents. Reads a row for each. */
  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM words").one().n;
  }

  numbersBelow(n: number): number[] {
    return this.#sql
      .exec<{ n: number }>("SELECT rowid AS n FROM words WHERE rowid < ?", n)
      .toArray()
      .map((row) => row.n);
  }

  holds({ sql, bindings }: SqlCondition): boolean {
    return this.#sql.exec(`SELECT 1 FROM words WHERE ${sql} LIMIT 1`, ...bindings).toArray().length > 0;
  }

  /**
   * The documents that match, best first. `ORDER BY rank` is several times as fast as a rank of each document by itself. Reads
   * some, and then all others: each statement ranks all that match.
   */
  *best(expression: string, some: number): Generator<Scored> {
    const rows = (limit: number, offset: number) =>
      this.#sql
        .exec<Scored>(
          "SELECT rowid AS n, -rank AS score FROM words WHERE words MATCH ? ORDER BY rank LIMIT ? OFFSET ?",
          expression,
          limit,
          offset,
        )
        .toArray();
    const first = rows(some, 0);
    yield* first;
    if (first.length === some) yield* rows(-1, some);
  }

  /** The best of these documents that match. Looks at each document that has a word, and ranks only these. */
  bestOf(numbers: ReadonlySet<number>, expression: string, limit: number): Scored[] {
    const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
    return this.#sql
      .exec<Scored>(
        `SELECT rowid AS n, -bm25(words) AS score FROM words
         WHERE words MATCH ? AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))
         ORDER BY score DESC LIMIT ?`,
        expression,
        from,
        to,
        JSON.stringify([...numbers]),
        limit,
      )
      .toArray();
  }

  /** The documents of a range that match, the last first, read `slice` at a time. */
  *last(expression: string, [from, to]: PositionRange, slice: number): Generator<Scored> {
    for (let end = to; ;) {
      const rows = this.#sql
        .exec<Scored>(
          `SELECT rowid AS n, -bm25(words) AS score FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
           ORDER BY rowid DESC LIMIT ?`,
          expression,
          from,
          end,
          slice,
        )
        .toArray();
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < slice) return;
      end = last.n - 1;
    }
  }

  /** The words among these that no document has. A look at one document of each word. */
  absent(words: readonly string[]): string[] {
    return this.#sql
      .exec<{ word: string }>(
        `SELECT value AS word FROM json_each(?)
         WHERE NOT EXISTS (SELECT 1 FROM words WHERE words MATCH '"' || value || '"')`,
        JSON.stringify(words),
      )
      .toArray()
      .map(({ word }) => word);
  }

  /** Terms with this beginning, as `porter` stems them. SQLite counts the documents of each, so it reads all their rows. */
  terms(beginning: string, limit: number): Term[] {
    return this.#sql
      .exec<Term>(
        "SELECT term, doc AS documents FROM word_terms WHERE term >= ? AND term < ? LIMIT ?",
        beginning,
        `${beginning}\u{10ffff}`,
        limit,
      )
      .toArray();
  }

  /**
   * Merges up to |pages| pages. Negative starts a merge of all segments; positive continues it. Returns whether anything
   * changed, as SQLite documents.
   */
  merge(pages: number): boolean {
    const changes = () => this.#sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
    const before = changes();
    this.#sql.exec("INSERT INTO words (words, rank) VALUES ('merge', ?)", pages);
    return changes() - before > 1;
  }

  /** True if words of deleted documents may be in a segment still. */
  hasDeletedTerms(): boolean {
    const any = `SELECT 1 FROM words_data WHERE id >= ${FIRST_TOMBSTONE} LIMIT 1`;
    return this.#sql.exec(any).toArray().length > 0;
  }
}
