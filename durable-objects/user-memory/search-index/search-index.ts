import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { notTombstoned } from "../core/tombstone-ranges.ts";
import { type Document, DOCUMENT_NUMBERS, Documents, textOf } from "./documents.ts";
import type { SqlCondition } from "../core/sql-condition.ts";
import { PieceStore } from "./piece-store.ts";
import { FIRST_POSITION, MESSAGES, type PositionRange, rowsIn, rowsOf, SLOTS } from "../core/position.ts";
import type { VectorStore } from "./vector-store.ts";
import { IN_RANGE, OF_MODEL } from "./vector-rows.ts";
import type { WordIndex } from "./word-index.ts";
import type { WordMerger } from "./word-merger.ts";

/** The model that all documents are embedded with, and whether messages are. */
export type EmbeddingTarget = { model: string; messages: boolean };

const nameOf = ({ model, messages }: EmbeddingTarget): string =>
  messages ? model : `${model} but no messages`;

type SearchIndexDependencies = {
  vectors: VectorStore;
  words: WordIndex;
  merger: Pick<WordMerger, "deleted">;
  /** SQL that selects the numbers of the threads that are found by their words only. */
  lexicalThreads: string;
};

/** A text's vector of a model; null: the text has none. */
type EmbeddedText = Pick<Embedder, "model" | "dimensions"> & { vector: Vector };

/**
 * Words (FTS5) and vectors (int8) of all that one user can recall. A document is found by its words at once, and by its vector
 * once it is embedded. Owns the SQL of `unembedded` and `index_state`.
 */
export class SearchIndex {
  readonly #sql: SqlStorage;
  readonly documents: Documents;
  readonly vectors: VectorStore;
  readonly pieces: PieceStore;
  readonly words: WordIndex;
  readonly #merger: SearchIndexDependencies["merger"];
  readonly #lexicalThreads: string;
  /** Number of documents; null while unknown, as counting reads them all. */
  #count: number | null = null;
  #changes = 0;
  /** The stored name of the last target; undefined before it is read. */
  #target: string | null | undefined;

  constructor(sql: SqlStorage, { vectors, words, merger, lexicalThreads }: SearchIndexDependencies) {
    this.#sql = sql;
    this.#merger = merger;
    this.#lexicalThreads = lexicalThreads;
    this.documents = new Documents(sql);
    this.vectors = vectors;
    this.words = words;
    this.pieces = new PieceStore(sql);
  }

  /** Adds a new document. Without `given` it waits for its vector, which `attach` adds. */
  put(document: Document, given?: EmbeddedText | "only words"): void {
    const { n, text, words = text } = document;
    this.documents.put(document);
    this.#changes++;
    if (this.#count !== null) this.#count++;
    this.words.put(n, words);
    if (given === undefined) {
      this.#sql.exec("INSERT INTO unembedded (n) VALUES (?)", n);
      return;
    }
    this.pieces.wait(n);
    if (given !== "only words" && given.vector !== null) this.vectors.put(n, given, given.vector);
  }

  /** Replaces a document of the same text, which keeps its vector. */
  rewrite(document: Document): void {
    const { n, text, words = text } = document;
    this.#changes++;
    this.documents.change(document);
    this.words.remove(rowsOf([n]));
    this.#merger.deleted();
    this.words.put(n, words);
  }

  removeRanges(ranges: readonly PositionRange[]): void {
    for (const range of ranges) {
      // A longer range frees nearly all its pages whole, and an erasure overwrites those.
      if (range[0] === range[1]) this.documents.overwrite(rowsIn(range));
      this.#remove(rowsIn(range));
    }
  }

  removeAll(numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    this.documents.overwrite(rowsOf(numbers));
    this.#remove(rowsOf(numbers));
  }

  /** True if any table still has a row of these documents. */
  holds(range: PositionRange): boolean {
    const rows = rowsIn(range);
    return (
      [this.documents, this.words, this.vectors.rows, this.pieces].some((store) => store.holds(rows)) ||
      this.#sql.exec(`SELECT 1 FROM unembedded WHERE ${rows.sql} LIMIT 1`, ...rows.bindings).toArray()
        .length > 0
    );
  }

  /** Cuts some waiting documents into word pieces. Returns whether there are more. */
  cut(lexicon: Lexicon): boolean {
    return this.pieces.cut(lexicon, this.documents);
  }

  #remove(rows: SqlCondition): void {
    const removed = this.documents.remove(rows);
    if (removed > 0) this.#merger.deleted();
    this.#changes += removed;
    if (this.#count !== null) this.#count -= removed;
    for (const store of [this.vectors, this.pieces, this.words]) store.remove(rows);
    this.#sql.exec(`DELETE FROM unembedded WHERE ${rows.sql}`, ...rows.bindings);
  }

  /** Documents that wait for a vector: those that failed least often first, then the oldest. */
  unembedded(limit: number): { n: number; text: string; attempts: number }[] {
    return this.#sql
      .exec<{ n: number; text: string; attempts: number }>(
        `SELECT n, ${textOf("waiting.n")} AS text, attempts FROM (
           SELECT * FROM (
             SELECT n, attempts FROM unembedded WHERE attempts = 0 AND ${notTombstoned("n")} ORDER BY n LIMIT ?1)
           UNION ALL
           SELECT * FROM (
             SELECT n, attempts FROM unembedded WHERE attempts > 0 AND ${notTombstoned("n")}
             ORDER BY attempts, n LIMIT ?1)
         ) AS waiting ORDER BY attempts, n LIMIT ?1`,
        limit,
      )
      .toArray();
  }

  /** True if a document waits for its vector. */
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
    const taken = `DELETE FROM unembedded WHERE n = ? AND ${notTombstoned("n")} RETURNING n`;
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
      `INSERT OR IGNORE INTO unembedded (n) SELECT n FROM (${DOCUMENT_NUMBERS})
       WHERE n NOT IN (${OF_MODEL}) AND (n < ${FIRST_POSITION} OR (? AND
         n / ${SLOTS} NOT IN (${this.#lexicalThreads})))`,
      model,
      messages ? 1 : 0,
    );
    return !first || queued.rowsWritten > 0;
  }

  /** True if documents were queued for another target before. */
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
       SELECT n FROM (${DOCUMENT_NUMBERS}) WHERE n BETWEEN ?1 AND ?2 AND n NOT IN (${IN_RANGE})`,
      from,
      to,
    );
  }

  freshness(): { indexed: number; pending: number } {
    this.#count ??= this.documents.count();
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
