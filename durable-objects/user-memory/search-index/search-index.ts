import type { Erasable, ErasedData } from "../core/erasable.ts";
import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { notTombstoned } from "../core/tombstone-ranges.ts";
import type { Documents } from "./documents.ts";
import { raw, type SqlPart, SqlStore } from "../../storage/sql.ts";
import { FIRST_POSITION, MESSAGES, type PositionRange, rowsIn, rowsOf, SLOTS } from "../core/position.ts";
import type { IndexedText, VectorStore } from "./vector-store.ts";
import { embeddedIn, ofModel, WITH_ROW } from "./vector-rows.ts";
import { DOCUMENT_NUMBERS, type WordIndex } from "./word-index.ts";
import type { WordMerger } from "./word-merger.ts";

/** The model that all documents are embedded with, and whether messages are. */
export type EmbeddingTarget = { model: string; messages: boolean };

const nameOf = ({ model, messages }: EmbeddingTarget): string =>
  messages ? model : `${model} but no messages`;

type SearchIndexDependencies = {
  documents: Documents;
  vectors: VectorStore;
  words: WordIndex;
  merger: Pick<WordMerger, "deleted">;
  /** SQL that selects the numbers of the threads that are found by their words only. */
  lexicalThreads: string;
};

/** The most that one recall or alarm cuts into word pieces: some milliseconds. */
const CUT_DOCUMENTS = 500;
const CUT_CHARACTERS = 100_000;
const STAYS = raw(notTombstoned("n"));
/** A document without a vector. */
export const ONLY_WORDS: IndexedText = { model: "", dimensions: 0, vector: null, pieces: null };

/**
 * Words (FTS5), vectors (int8) and word pieces of all that one user can recall. A document is found by its words at once, and
 * by its vector once it is embedded. Owns the SQL of `unembedded` and `index_state`.
 */
export class SearchIndex extends SqlStore implements Erasable {
  readonly documents: Documents;
  readonly vectors: VectorStore;
  readonly words: WordIndex;
  readonly #deps: Pick<SearchIndexDependencies, "merger" | "lexicalThreads">;
  /** Number of documents; null before the first recall. */
  #count: number | null = null;
  #changes = 0;
  /** The stored name of the last target; undefined before it is read. */
  #target: string | null | undefined;

  constructor(sql: SqlStorage, deps: SearchIndexDependencies) {
    super(sql);
    this.#deps = deps;
    this.documents = deps.documents;
    this.vectors = deps.vectors;
    this.words = deps.words;
  }

  /** Adds a new document by the words of a text. Without `indexed` it waits for its vector, which `attach` adds. */
  put(n: number, words: string, indexed?: IndexedText): void {
    this.#changes++;
    if (this.#count !== null) this.#count++;
    this.words.put(n, words);
    if (indexed === undefined) this.sql.run`INSERT INTO unembedded (n) VALUES (${n})`;
    else this.vectors.add(n, indexed);
  }

  /** Replaces the words of a document, which keeps its vector. */
  rewrite(n: number, words: string): void {
    this.#changes++;
    this.words.remove(rowsOf([n]));
    this.#deps.merger.deleted();
    this.words.put(n, words);
  }

  removeRanges(ranges: readonly PositionRange[]): void {
    for (const range of ranges) this.#remove(rowsIn(range));
  }

  removeAll(numbers: readonly number[]): void {
    if (numbers.length > 0) this.#remove(rowsOf(numbers));
  }

  /** True if any table still has a row of these documents. */
  holds(range: PositionRange): boolean {
    const rows = rowsIn(range);
    return (
      this.words.holds(rows) ||
      this.vectors.rows.holds(rows) ||
      this.sql.has`SELECT 1 FROM unembedded WHERE ${rows} LIMIT 1`
    );
  }

  /** Cuts some waiting documents into word pieces. Returns whether there are more. */
  cut(lexicon: Lexicon): boolean {
    const waiting = this.vectors.withoutPieces(CUT_DOCUMENTS);
    const texts = new Map(this.documents.texts(waiting, CUT_CHARACTERS).map(({ n, text }) => [n, text]));
    const last = texts.size === 0 ? Infinity : Math.max(...texts.keys());
    // A document whose text is gone has no pieces.
    for (const n of waiting.filter((one) => one <= last))
      this.vectors.setPieces(n, distinctPieces(lexicon, texts.get(n) ?? ""));
    if (waiting.length > 0) this.#changes++;
    return waiting.length === CUT_DOCUMENTS || waiting.some((n) => n > last);
  }

  get isUncut(): boolean {
    return this.vectors.withoutPieces(1).length > 0;
  }

  #remove(rows: SqlPart): void {
    const removed = this.words.remove(rows);
    if (removed > 0) this.#deps.merger.deleted();
    this.#changes += removed;
    if (this.#count !== null) this.#count -= removed;
    this.vectors.remove(rows);
    this.sql.run`DELETE FROM unembedded WHERE ${rows}`;
  }

  /** Documents that wait for a vector: those that failed least often first, then the oldest. */
  unembedded(limit: number): { n: number; text: string; attempts: number }[] {
    const waiting = this.sql.rows<{ n: number; attempts: number }>`
      SELECT * FROM (
        SELECT n, attempts FROM unembedded WHERE attempts = 0 AND ${STAYS} ORDER BY n LIMIT ${limit})
      UNION ALL
      SELECT * FROM (
        SELECT n, attempts FROM unembedded WHERE attempts > 0 AND ${STAYS}
        ORDER BY attempts, n LIMIT ${limit})
      LIMIT ${limit}`;
    const texts = this.textsOf(waiting.map(({ n }) => n));
    return waiting.map((one) => ({ ...one, text: texts.get(one.n) ?? "" }));
  }

  textsOf(numbers: readonly number[]): Map<number, string> {
    return new Map(this.documents.read(numbers).map(({ n, text }) => [n, text]));
  }

  get isUnembedded(): boolean {
    return this.sql.has`SELECT 1 FROM unembedded WHERE ${STAYS} LIMIT 1`;
  }

  waiting(numbers: readonly number[]): Set<number> {
    return new Set(this.sql.column<number>`
      SELECT n FROM unembedded WHERE n IN (SELECT value FROM json_each(${JSON.stringify(numbers)}))`);
  }

  /** Moves these behind documents that failed less often. */
  embeddingFailed(numbers: readonly number[]): void {
    this.sql.run`
      UPDATE unembedded SET attempts = attempts + 1
      WHERE n IN (SELECT value FROM json_each(${JSON.stringify(numbers)}))`;
  }

  /** Gives a document its vector and its pieces, unless it is gone meanwhile. */
  attach(n: number, indexed: IndexedText): void {
    if (!this.sql.has`DELETE FROM unembedded WHERE n = ${n} AND ${STAYS} RETURNING n`) return;
    this.#changes++;
    this.vectors.replace(n, indexed);
  }

  /** Copies the vector of another document to one that waits. Returns false if that has none or waits for a new one. */
  copyVector(from: number, to: number): boolean {
    if (this.waiting([from]).size > 0 || !this.vectors.copy(from, to)) return false;
    this.#changes++;
    this.sql.run`DELETE FROM unembedded WHERE n = ${to}`;
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
    this.sql.run`UPDATE index_state SET model = ${target}`;
    if (!messages) this.onlyWords(MESSAGES);
    const queued = this.sql.run`
      INSERT OR IGNORE INTO unembedded (n) SELECT n FROM (${DOCUMENT_NUMBERS})
      WHERE n NOT IN (${ofModel(model)}) AND (n < ${FIRST_POSITION} OR (${messages ? 1 : 0} AND
        n / ${raw(String(SLOTS))} NOT IN (${raw(this.#deps.lexicalThreads)})))`;
    return !first || queued > 0;
  }

  /** True if documents were queued for another target before. */
  differsFrom(target: EmbeddingTarget): boolean {
    const before = this.#lastTarget();
    return before !== null && before !== nameOf(target);
  }

  /** Its name; null before the first one. */
  #lastTarget(): string | null {
    return (this.#target ??= this.sql.value<string | null>`SELECT model FROM index_state`);
  }

  /** Removes the vectors of these: they are found by their words only. */
  onlyWords(range: PositionRange): void {
    const rows = rowsIn(range);
    this.#changes++;
    this.vectors.removeVectors(rows);
    const waiting = this.sql.column<number>`DELETE FROM unembedded WHERE ${rows} RETURNING n`;
    for (const n of waiting) this.vectors.replace(n, ONLY_WORDS);
  }

  /** Queues these for vectors, where they have none. */
  byMeaning(range: PositionRange): void {
    this.sql.run`
      INSERT OR IGNORE INTO unembedded (n) SELECT n FROM (${DOCUMENT_NUMBERS})
      WHERE n BETWEEN ${range[0]} AND ${range[1]} AND n NOT IN (${embeddedIn(range)})`;
  }

  freshness(): { indexed: number; pending: number } {
    this.#count ??= this.#documents();
    return { indexed: this.#count, pending: this.sql.value`SELECT COUNT(*) FROM unembedded` };
  }

  /** The number of documents: from the counts, which a recall needs anyway, if these are of all. */
  #documents(): number {
    const { isWhole, documents } = this.vectors.counts();
    if (!isWhole) return this.words.count();
    // A document that is embedded again has a row in both.
    return documents + this.sql.value<number>`SELECT COUNT(*) FROM unembedded WHERE n NOT IN (${WITH_ROW})`;
  }

  /** Number of changes since the object is awake. */
  get changes(): number {
    return this.#changes;
  }

  /** The caches have what an erasure of the user has removed. */
  erase({ what }: ErasedData): void {
    if (what === "user") this.forgetLoaded();
  }

  /** Drops the caches, which may be ahead of the storage after a rollback. */
  forgetLoaded(): void {
    this.#target = undefined;
    this.vectors.forgetLoaded();
    this.#count = null;
  }
}
