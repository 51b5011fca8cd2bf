import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { notLeaving } from "../core/leaving-ranges.ts";
import { type Document, DOCUMENT_NUMBERS, Documents, textOf } from "./documents.ts";
import { PieceStore } from "./piece-store.ts";
import { FIRST_POSITION, type PositionRange, SLOTS } from "../core/position.ts";
import { IN_RANGE, OF_MODEL } from "./vector-rows.ts";
import type { VectorStore } from "./vector-store.ts";
import type { WordIndex } from "./word-index.ts";
import type { WordMerger } from "./word-merger.ts";

/** `lexicalThreads`: SQL that selects the numbers of the threads whose messages have no vectors. */
type SearchIndexDependencies = {
  vectors: VectorStore;
  words: WordIndex;
  merger: Pick<WordMerger, "deleted">;
  lexicalThreads: string;
};

/** What gives documents their meaning: the model of their vectors, and whether messages have one. */
export type Meaning = { model: string; messages: boolean };

const nameOf = ({ model, messages }: Meaning): string => (messages ? model : `${model} but no messages`);

const MESSAGES: PositionRange = [FIRST_POSITION, Number.MAX_SAFE_INTEGER];

/** A text's vector, in its space. */
export type EmbeddedIn = Pick<Embedder, "model" | "dimensions"> & { vector: Vector };

/**
 * Words (FTS5) and vectors (int8) of all that one user can recall. Owns the SQL of `unembedded` and `index_state`. A document
 * is found by its words at once, and by its vector as soon as it has one.
 */
export class SearchIndex {
  readonly #sql: SqlStorage;
  readonly documents: Documents;
  readonly vectors: VectorStore;
  readonly pieces: PieceStore;
  readonly words: WordIndex;
  readonly #merger: SearchIndexDependencies["merger"];
  readonly #lexicalThreads: string;
  /** How many documents there are; null while that is not known. Counting reads them all. */
  #count: number | null = null;
  #changes = 0;
  /** What all documents have, or wait for, as it is stored; undefined while that has not been read. */
  #meaning: string | null | undefined;

  constructor(sql: SqlStorage, { vectors, words, merger, lexicalThreads }: SearchIndexDependencies) {
    this.#sql = sql;
    this.#merger = merger;
    this.#lexicalThreads = lexicalThreads;
    this.documents = new Documents(sql);
    this.vectors = vectors;
    this.words = words;
    this.pieces = new PieceStore(sql);
  }

  /**
   * Puts a document that is new. Unless its vector is given (null: it has none in this model), or it is to be found by
   * its words only, `attach` brings it.
   */
  put(document: Document, given?: EmbeddedIn | "only words"): void {
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

  /** Puts a document of the same text anew; it keeps its vector. */
  rewrite(document: Document): void {
    const { n, text, words = text } = document;
    this.#changes++;
    this.documents.change(document);
    this.words.removeRange([n, n]);
    this.#merger.deleted();
    this.words.put(n, words);
  }

  removeRange(range: PositionRange): void {
    this.#removed(this.documents.removeRange(range));
    this.vectors.removeRange(range);
    this.pieces.removeRange(range);
    this.words.removeRange(range);
    this.#sql.exec("DELETE FROM unembedded WHERE n BETWEEN ? AND ?", ...range);
  }

  removeRanges(ranges: readonly PositionRange[]): void {
    for (const range of ranges) this.removeRange(range);
  }

  /** Whether anything is kept of documents of a range, also of one that is leaving. */
  holds(range: PositionRange): boolean {
    const waiting = "SELECT 1 FROM unembedded WHERE n BETWEEN ? AND ? LIMIT 1";
    return (
      [this.documents, this.words, this.vectors.rows, this.pieces].some((store) => store.holds(range)) ||
      this.#sql.exec(waiting, ...range).toArray().length > 0
    );
  }

  removeAll(numbers: readonly number[]): void {
    const gone = this.documents.removeAll(numbers);
    if (gone === 0) return;
    this.#removed(gone);
    this.vectors.removeAll(numbers);
    this.pieces.removeAll(numbers);
    this.words.removeAll(numbers);
    this.#sql.exec(
      "DELETE FROM unembedded WHERE n IN (SELECT value FROM json_each(?))",
      JSON.stringify(numbers),
    );
  }

  /** Cuts some of the texts that wait into word pieces. Answers whether there is more. */
  cut(lexicon: Lexicon): boolean {
    return this.pieces.cut(lexicon, this.documents);
  }

  /** Documents that still want a vector: those that failed least often first, then the oldest. */
  unembedded(limit: number): { n: number; text: string; attempts: number }[] {
    return this.#sql
      .exec<{ n: number; text: string; attempts: number }>(
        `SELECT n, ${textOf("unembedded.n")} AS text, attempts FROM unembedded WHERE ${notLeaving("n")}
         ORDER BY attempts, n LIMIT ?`,
        limit,
      )
      .toArray();
  }

  /** Whether a document still wants a vector. */
  waits(n: number): boolean {
    return this.#sql.exec("SELECT 1 FROM unembedded WHERE n = ?", n).toArray().length > 0;
  }

  /** Notes that these could not be embedded, so that others come before them. */
  embeddingFailed(numbers: readonly number[]): void {
    this.#sql.exec(
      "UPDATE unembedded SET attempts = attempts + 1 WHERE n IN (SELECT value FROM json_each(?))",
      JSON.stringify(numbers),
    );
  }

  /**
   * Gives a document its vector (null: it has none in this model) and its pieces (null: they are to be cut later), unless
   * the document has gone meanwhile.
   */
  attach(n: number, { vector, pieces, ...space }: EmbeddedIn & { pieces: Uint16Array | null }): void {
    const taken = `DELETE FROM unembedded WHERE n = ? AND ${notLeaving("n")} RETURNING n`;
    const waiting = this.#sql.exec(taken, n).toArray();
    if (waiting.length === 0) return;
    this.#changes++;
    if (vector !== null) this.vectors.put(n, space, vector);
    if (pieces === null) this.pieces.wait(n);
    else this.pieces.put(n, pieces);
  }

  /** Gives a document the vector of another one, if that has one and waits for none. */
  copyVector(from: number, to: number): boolean {
    if (this.waits(from) || !this.vectors.copy(from, to)) return false;
    this.#changes++;
    this.#sql.exec("DELETE FROM unembedded WHERE n = ?", to);
    this.pieces.wait(to);
    return true;
  }

  /**
   * Queues every document that is to be found by its meaning and has no vector of the model; one of another model stays
   * until the new one is there. Without `messages`, these lose theirs. Answers whether anything was to be done.
   */
  requeue({ model, messages }: Meaning): boolean {
    const before = this.#followed();
    const meaning = nameOf({ model, messages });
    if (before === meaning) return false;
    const first = before === null;
    this.#meaning = meaning;
    this.#sql.exec("UPDATE index_state SET model = ?", meaning);
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

  /** Whether documents were given another meaning before. */
  isOtherwise(meaning: Meaning): boolean {
    const before = this.#followed();
    return before !== null && before !== nameOf(meaning);
  }

  /** What documents were given last, by its name; null if nothing was asked or embedded yet. */
  #followed(): string | null {
    this.#meaning ??= this.#sql.exec<{ model: string | null }>("SELECT model FROM index_state").one().model;
    return this.#meaning;
  }

  /** These are to be found by their words only. */
  onlyWords([from, to]: PositionRange): void {
    this.vectors.removeRange([from, to]);
    const waiting = this.#sql
      .exec<{ n: number }>("DELETE FROM unembedded WHERE n BETWEEN ? AND ? RETURNING n", from, to)
      .toArray();
    for (const { n } of waiting) this.pieces.wait(n);
    this.#changes++;
  }

  /** These are to be found by their meaning too. */
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

  /** Grows with each change of what is stored. */
  get changes(): number {
    return this.#changes;
  }

  /** Drops what is held in memory, which may be ahead of a storage whose transaction was undone. */
  forgetLoaded(): void {
    this.#meaning = undefined;
    this.vectors.forgetLoaded();
    this.pieces.forgetLoaded();
    this.#count = null;
  }

  #removed(documents: number): void {
    if (documents > 0) this.#merger.deleted();
    this.#changes += documents;
    if (this.#count !== null) this.#count -= documents;
  }
}
