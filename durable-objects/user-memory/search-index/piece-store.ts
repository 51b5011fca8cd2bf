import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";

import type { PositionRange } from "../core/position.ts";
import type { Documents } from "./documents.ts";

/** SQL of the pieces of the document with this number, an SQL expression; null while they are not cut. */
export const piecesOf = (n: string): string => `(SELECT data FROM pieces WHERE pieces.n = ${n})`;

/** What one recall or alarm cuts at most: some milliseconds' worth. */
const DOCUMENTS = 500;
const CHARACTERS = 100_000;

/**
 * The pieces of each document's text, for a comparison word by word, and how many documents hold each. Owns the SQL of
 * `pieces` and `unpieced`. What came with its vector waits in `unpieced` for the next recall or alarm; what waits for
 * its vector is cut when it gets that.
 */
export class PieceStore {
  readonly #sql: SqlStorage;
  /** Counts by piece, filled by the first recall and kept up to date from then on. */
  #holding: Uint32Array | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Notes that a document's pieces are to be cut. */
  wait(n: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO unpieced (n) VALUES (?)", n);
  }

  /** Whether anything is to be cut. */
  get waiting(): boolean {
    return this.#sql.exec("SELECT 1 FROM unpieced LIMIT 1").toArray().length > 0;
  }

  /** Cuts some of what waits: a bounded number of documents, and of characters. Answers whether there is more. */
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

  holds([from, to]: PositionRange): boolean {
    return ["pieces", "unpieced"].some(
      (table) =>
        this.#sql.exec(`SELECT 1 FROM ${table} WHERE n BETWEEN ? AND ? LIMIT 1`, from, to).toArray().length >
        0,
    );
  }

  removeRange([from, to]: PositionRange): void {
    this.#removeWhere("n BETWEEN ? AND ?", from, to);
  }

  removeAll(numbers: readonly number[]): void {
    this.#removeWhere("n IN (SELECT value FROM json_each(?))", JSON.stringify(numbers));
  }

  /** How many documents hold each piece. */
  holding(lexicon: Lexicon): Uint32Array {
    if (this.#holding !== null) return this.#holding;
    const holding = new Uint32Array(lexicon.size);
    for (const [data] of this.#sql.exec("SELECT data FROM pieces").raw<[ArrayBuffer]>())
      for (const piece of new Uint16Array(data)) holding[piece] = (holding[piece] ?? 0) + 1;
    this.#holding = holding;
    return holding;
  }

  /** Drops what is held in memory, which may be ahead of a storage whose transaction was undone. */
  forgetLoaded(): void {
    this.#holding = null;
  }

  #removeWhere(condition: string, ...bindings: (string | number)[]): void {
    this.#sql.exec(`DELETE FROM unpieced WHERE ${condition}`, ...bindings);
    const gone = this.#sql.exec(`DELETE FROM pieces WHERE ${condition} RETURNING data`, ...bindings);
    for (const [data] of gone.raw<[ArrayBuffer]>())
      for (const piece of new Uint16Array(data)) this.#count(piece, -1);
  }

  #count(piece: number, change: 1 | -1): void {
    if (this.#holding !== null) this.#holding[piece] = (this.#holding[piece] ?? 0) + change;
  }
}
