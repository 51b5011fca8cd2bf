import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import type { SqlCondition } from "../core/sql-condition.ts";
import type { Documents } from "./documents.ts";

/** SQL of the pieces of the document with this number, an SQL expression; null until they are cut. */
export const piecesOf = (n: string): string => `(SELECT data FROM pieces WHERE pieces.n = ${n})`;

/** The most that one recall or alarm cuts: some milliseconds. */
const DOCUMENTS = 500;
const CHARACTERS = 100_000;

/**
 * The word pieces of each document's text, and how many documents hold each. A document that came with its vector waits in
 * `unpieced` for the next recall or alarm; any other is cut when it is embedded. Owns the SQL of `pieces` and `unpieced`.
 */
export class PieceStore {
  readonly #sql: SqlStorage;
  /** By piece, loaded by the first recall and kept up to date from then on. */
  #frequencies: Uint32Array | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  wait(n: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO unpieced (n) VALUES (?)", n);
  }

  get waiting(): boolean {
    return this.#sql.exec("SELECT 1 FROM unpieced LIMIT 1").toArray().length > 0;
  }

  /** Cuts some waiting documents. Returns whether there are more. */
  cut(lexicon: Lexicon, documents: Pick<Documents, "texts">): boolean {
    const waiting = this.#sql
      .exec<{ n: number }>("SELECT n FROM unpieced ORDER BY n LIMIT ?", DOCUMENTS)
      .toArray()
      .map(({ n }) => n);
    const texts = documents.texts(waiting, CHARACTERS);
    for (const { n, text } of texts) this.put(n, distinctPieces(lexicon, text));
    const last = texts.at(-1)?.n ?? waiting.at(-1) ?? 0;
    this.#sql.exec("DELETE FROM unpieced WHERE n <= ?", last);
    return waiting.length === DOCUMENTS || waiting.some((n) => n > last);
  }

  put(n: number, pieces: Uint16Array): void {
    const written = this.#sql.exec(
      "INSERT OR IGNORE INTO pieces (n, data) VALUES (?, ?) RETURNING n",
      n,
      pieces,
    );
    if (written.toArray().length === 0) return;
    for (const piece of pieces) this.#count(piece, 1);
  }

  holds(rows: SqlCondition): boolean {
    return ["pieces", "unpieced"].some(
      (table) =>
        this.#sql.exec(`SELECT 1 FROM ${table} WHERE ${rows.sql} LIMIT 1`, ...rows.bindings).toArray()
          .length > 0,
    );
  }

  remove({ sql, bindings }: SqlCondition): void {
    this.#sql.exec(`DELETE FROM unpieced WHERE ${sql}`, ...bindings);
    const gone = this.#sql.exec(`DELETE FROM pieces WHERE ${sql} RETURNING data`, ...bindings);
    for (const [data] of gone.raw<[ArrayBuffer]>())
      for (const piece of new Uint16Array(data)) this.#count(piece, -1);
  }

  /** The number of documents that hold each piece. */
  documentFrequencies(lexicon: Lexicon): Uint32Array {
    if (this.#frequencies !== null) return this.#frequencies;
    const frequencies = new Uint32Array(lexicon.size);
    for (const [data] of this.#sql.exec("SELECT data FROM pieces").raw<[ArrayBuffer]>())
      for (const piece of new Uint16Array(data)) frequencies[piece] = (frequencies[piece] ?? 0) + 1;
    this.#frequencies = frequencies;
    return frequencies;
  }

  /** Drops the counts, which may be ahead of the storage after a rollback. */
  forgetLoaded(): void {
    this.#frequencies = null;
  }

  #count(piece: number, change: 1 | -1): void {
    if (this.#frequencies !== null) this.#frequencies[piece] = (this.#frequencies[piece] ?? 0) + change;
  }
}
