import { overwritten } from "../../../src/platform/d1/overwrite.ts";
import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import { indexedText } from "../../../src/domain/ranking/question.ts";
import type { RecallKind } from "../../../src/domain/schema/recall.ts";
import { notLeaving } from "../core/leaving-ranges.ts";
import { PieceStore } from "./piece-store.ts";
import {
  type DocumentRows,
  FIRST_POSITION,
  MESSAGES,
  type PositionRange,
  rowsIn,
  rowsOf,
  SLOTS,
} from "../core/position.ts";
import type { VectorStore } from "./vector-store.ts";
import type { WordMerger } from "./word-merger.ts";

/**
 * A memory's version or a message, as the index has it. `text` is embedded; `words` are searched (the text unless given);
 * `record` is JSON, what a hit shows of a message besides its text.
 */
export type Document = {
  n: number;
  kind: RecallKind;
  text: string;
  words?: string;
  record: string;
  createdAt: number;
};

/** The model that all documents are embedded with, and whether messages are. */
export type EmbeddingTarget = { model: string; messages: boolean };

const nameOf = ({ model, messages }: EmbeddingTarget): string =>
  messages ? model : `${model} but no messages`;

/** A text's vector of a model; null: the text has none. */
type EmbeddedText = Pick<Embedder, "model" | "dimensions"> & { vector: Vector };

/**
 * Words (FTS5) and vectors (int8) of all that one user can recall. A document is found by its words at once, and by its vector
 * once it is embedded. Owns the SQL of `documents`, `words` and `unembedded`.
 */
export class SearchIndex {
  readonly #sql: SqlStorage;
  readonly vectors: VectorStore;
  readonly pieces: PieceStore;
  readonly #words: Pick<WordMerger, "deleted">;
  /** Number of documents; null while unknown, as counting reads them all. */
  #count: number | null = null;
  #changes = 0;
  /** The stored name of the last target; undefined before it is read. */
  #target: string | null | undefined;

  constructor(sql: SqlStorage, vectors: VectorStore, words: Pick<WordMerger, "deleted">) {
    this.#sql = sql;
    this.#words = words;
    this.vectors = vectors;
    this.pieces = new PieceStore(sql);
  }

  /** Adds a new document. Without `given` it waits for its vector, which `attach` adds. */
  put(
    { n, kind, text, words = text, record, createdAt }: Document,
    given?: EmbeddedText | "only words",
  ): void {
    this.#sql.exec(
      "INSERT INTO documents (n, kind, text, record, created_at) VALUES (?, ?, ?, ?, ?)",
      n,
      kind,
      text,
      record,
      createdAt,
    );
    this.#changes++;
    if (this.#count !== null) this.#count++;
    this.#sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", n, indexedText(words));
    if (given === undefined) {
      this.#sql.exec("INSERT INTO unembedded (n) VALUES (?)", n);
      return;
    }
    this.pieces.wait(n);
    if (given !== "only words" && given.vector !== null) this.vectors.put(n, given, given.vector);
  }

  /** Replaces a document of the same text, which keeps its vector. */
  rewrite({ n, kind, text, words = text, record, createdAt }: Document): void {
    this.#changes++;
    this.#sql.exec(
      "UPDATE documents SET kind = ?, record = ?, created_at = ? WHERE n = ?",
      kind,
      record,
      createdAt,
      n,
    );
    this.#sql.exec("DELETE FROM words WHERE rowid = ?", n);
    this.#words.deleted();
    this.#sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", n, indexedText(words));
  }

  has(n: number): boolean {
    return this.text(n) !== null;
  }

  text(n: number): string | null {
    const [row] = this.#sql.exec<{ text: string }>("SELECT text FROM documents WHERE n = ?", n).toArray();
    return row?.text ?? null;
  }

  /** In no order; texts are cut to `characters`. */
  documents(numbers: readonly number[], characters = Number.MAX_SAFE_INTEGER): Document[] {
    if (numbers.length === 0) return [];
    return this.#sql
      .exec<Omit<Document, "createdAt"> & { created_at: number }>(
        `SELECT n, kind, substr(text, 1, ?) AS text, record, created_at FROM documents
         WHERE n IN (SELECT value FROM json_each(?))`,
        characters,
        JSON.stringify(numbers),
      )
      .toArray()
      .map(({ created_at: createdAt, ...document }) => ({ ...document, createdAt }));
  }

  numbersBelow(n: number): number[] {
    const rows = this.#sql.exec<{ n: number }>("SELECT n FROM documents WHERE n < ?", n);
    return Array.from(rows, (row) => row.n);
  }

  removeRanges(ranges: readonly PositionRange[]): void {
    for (const range of ranges) {
      // A longer range frees nearly all its pages whole, and an erasure overwrites those.
      if (range[0] === range[1]) this.#overwrite(rowsIn(range));
      this.#remove(rowsIn(range));
    }
  }

  removeAll(numbers: readonly number[]): void {
    this.#overwrite(rowsOf(numbers));
    this.#remove(rowsOf(numbers));
  }

  /** Whether any table still has a row of these documents. */
  holds(range: PositionRange): boolean {
    const { sql, bindings } = rowsIn(range);
    return ["documents", "words", "unembedded", "vectors", "pieces", "unpieced"].some(
      (table) =>
        this.#sql.exec(`SELECT 1 FROM ${table} WHERE ${sql} LIMIT 1`, ...bindings).toArray().length > 0,
    );
  }

  #overwrite({ sql, bindings }: DocumentRows): void {
    this.#sql.exec(`UPDATE documents SET ${overwritten(["text", "record"])} WHERE ${sql}`, ...bindings);
  }

  #remove(rows: DocumentRows): void {
    const { sql, bindings } = rows;
    this.#sql.exec(`DELETE FROM documents WHERE ${sql}`, ...bindings);
    const removed = this.#sql.exec<{ n: number }>("SELECT changes() AS n").one().n;
    if (removed > 0) this.#words.deleted();
    this.#changes += removed;
    if (this.#count !== null) this.#count -= removed;
    this.vectors.remove(rows);
    this.pieces.remove(rows);
    for (const table of ["words", "unembedded"])
      this.#sql.exec(`DELETE FROM ${table} WHERE ${sql}`, ...bindings);
  }

  /** Documents that wait for a vector: those that failed least often first, then the oldest. */
  unembedded(limit: number): { n: number; text: string; attempts: number }[] {
    return this.#sql
      .exec<{ n: number; text: string; attempts: number }>(
        `SELECT n, text, attempts FROM unembedded JOIN documents USING (n) WHERE ${notLeaving("n")}
         ORDER BY attempts, n LIMIT ?`,
        limit,
      )
      .toArray();
  }

  /** Whether a document waits for its vector. */
  isPending(n: number): boolean {
    return this.#sql.exec("SELECT 1 FROM unembedded WHERE n = ?", n).toArray().length > 0;
  }

  /** Moves these behind documents that failed less often. */
  embeddingFailed(numbers: readonly number[]): void {
    this.#sql.exec(
      "UPDATE unembedded SET attempts = attempts + 1 WHERE n IN (SELECT value FROM json_each(?))",
      JSON.stringify(numbers),
    );
  }

  /** Gives a document its vector and its pieces (null: they are cut later), unless it is gone meanwhile. */
  attach(n: number, { vector, pieces, ...space }: EmbeddedText & { pieces: Uint16Array | null }): void {
    const taken = `DELETE FROM unembedded WHERE n = ? AND ${notLeaving("n")} RETURNING n`;
    const waiting = this.#sql.exec(taken, n).toArray();
    if (waiting.length === 0) return;
    this.#changes++;
    if (vector !== null) this.vectors.put(n, space, vector);
    if (pieces === null) this.pieces.wait(n);
    else this.pieces.put(n, pieces);
  }

  /** Copies the vector of another document. Returns false if that has none or waits for a new one. */
  copyVector(from: number, to: number): boolean {
    if (this.isPending(from) || !this.vectors.copy(from, to)) return false;
    this.#changes++;
    this.#sql.exec("DELETE FROM unembedded WHERE n = ?", to);
    this.pieces.wait(to);
    return true;
  }

  /**
   * Queues every document that lacks a vector of the target's model; a vector of another model stays until it is replaced.
   * Without `messages`, messages lose their vectors. Returns whether anything was queued or changed.
   */
  enqueue({ model, messages }: EmbeddingTarget): boolean {
    const before = this.#lastTarget();
    const target = nameOf({ model, messages });
    if (before === target) return false;
    const first = before === null;
    this.#target = target;
    this.#sql.exec("UPDATE index_state SET model = ?", target);
    if (!messages) this.onlyWords(MESSAGES);
    const queued = this.#sql.exec(
      `INSERT OR IGNORE INTO unembedded (n) SELECT n FROM documents
       WHERE n NOT IN (SELECT n FROM vectors WHERE model = ?) AND (n < ${FIRST_POSITION} OR (? AND
         n / ${SLOTS} NOT IN (SELECT n FROM threads WHERE indexing = 'lexical')))`,
      model,
      messages ? 1 : 0,
    );
    return !first || queued.rowsWritten > 0;
  }

  /** Whether documents were queued for another target before. */
  differsFrom(target: EmbeddingTarget): boolean {
    const before = this.#lastTarget();
    return before !== null && before !== nameOf(target);
  }

  /** Its name; null before the first one. */
  #lastTarget(): string | null {
    this.#target ??= this.#sql.exec<{ model: string | null }>("SELECT model FROM index_state").one().model;
    return this.#target;
  }

  /** Removes the vectors of these: they are found by their words only. */
  onlyWords(range: PositionRange): void {
    const rows = rowsIn(range);
    this.vectors.remove(rows);
    const waiting = this.#sql
      .exec<{ n: number }>(`DELETE FROM unembedded WHERE ${rows.sql} RETURNING n`, ...rows.bindings)
      .toArray();
    for (const { n } of waiting) this.pieces.wait(n);
    this.#changes++;
  }

  /** Queues these for vectors, where they have none. */
  byMeaning([from, to]: PositionRange): void {
    this.#sql.exec(
      `INSERT OR IGNORE INTO unembedded (n)
       SELECT n FROM documents WHERE n BETWEEN ?1 AND ?2 AND n NOT IN (SELECT n FROM vectors WHERE n BETWEEN ?1 AND ?2)`,
      from,
      to,
    );
  }

  freshness(): { indexed: number; pending: number } {
    this.#count ??= this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM documents").one().n;
    const { n: pending } = this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM unembedded").one();
    return { indexed: this.#count, pending };
  }

  /** Number of changes since the object is awake. */
  get changes(): number {
    return this.#changes;
  }

  /** Drops the caches, which may be ahead of the storage after a rollback. */
  forgetLoaded(): void {
    this.#target = undefined;
    this.vectors.forgetLoaded();
    this.pieces.forgetLoaded();
    this.#count = null;
  }
}
