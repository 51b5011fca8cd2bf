import { overwritten } from "../../../src/platform/d1/overwrite.ts";
import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import { indexedText } from "../../../src/domain/ranking/question.ts";
import type { RecallKind } from "../../../src/domain/schema/recall.ts";
import { notLeaving } from "../core/leaving-ranges.ts";
import { PieceStore } from "./piece-store.ts";
import { FIRST_POSITION, type PositionRange, SLOTS } from "../core/position.ts";
import type { VectorStore } from "./vector-store.ts";
import type { WordMerger } from "./word-merger.ts";

/**
 * What can be found: `text` is what is embedded of it, `words` what it is found by besides (the text unless given),
 * `record` what a hit shows of a message besides its text, as JSON. A memory's own fields are in `memories`.
 */
export type Document = {
  n: number;
  kind: RecallKind;
  text: string;
  words?: string;
  record: string;
  createdAt: number;
};

/** What gives documents their meaning: the model of their vectors, and whether messages have one. */
export type Meaning = { model: string; messages: boolean };

const nameOf = ({ model, messages }: Meaning): string => (messages ? model : `${model} but no messages`);

const MESSAGES: PositionRange = [FIRST_POSITION, Number.MAX_SAFE_INTEGER];

const OVERWRITE = `UPDATE documents SET ${overwritten(["text", "record"])}`;

/** A text's vector, in its space. */
export type EmbeddedIn = Pick<Embedder, "model" | "dimensions"> & { vector: Vector };

/**
 * Words (FTS5) and vectors (int8) of all that one user can recall. Owns the SQL of `documents`, `words` and
 * `unembedded`. A document is found by its words at once, and by its vector as soon as it has one.
 */
export class SearchIndex {
  readonly #sql: SqlStorage;
  readonly vectors: VectorStore;
  readonly pieces: PieceStore;
  readonly #words: Pick<WordMerger, "deleted">;
  /** How many documents there are; null while that is not known. Counting reads them all. */
  #count: number | null = null;
  #changes = 0;
  /** What all documents have, or wait for, as it is stored; undefined while that has not been read. */
  #meaning: string | null | undefined;

  constructor(sql: SqlStorage, vectors: VectorStore, words: Pick<WordMerger, "deleted">) {
    this.#sql = sql;
    this.#words = words;
    this.vectors = vectors;
    this.pieces = new PieceStore(sql);
  }

  /**
   * Puts a document that is new. Unless its vector is given (null: it has none in this model), or it is to be found by
   * its words only, `attach` brings it.
   */
  put({ n, kind, text, words = text, record, createdAt }: Document, given?: EmbeddedIn | "only words"): void {
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

  /** Puts a document of the same text anew; it keeps its vector. */
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

  /** What there is of these, in no order; of a text, so many characters at most. */
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
    const rows = this.#sql.exec<{ n: number }>("SELECT n FROM documents WHERE n < ?", n).toArray();
    return rows.map((row) => row.n);
  }

  removeRange(from: number, to: number): void {
    // Of many, nearly all pages go as a whole: an erasure overwrites those.
    if (from === to) this.#sql.exec(`${OVERWRITE} WHERE n = ?`, from);
    this.#sql.exec("DELETE FROM documents WHERE n BETWEEN ? AND ?", from, to);
    this.#removed(this.#sql.exec<{ n: number }>("SELECT changes() AS n").one().n);
    this.vectors.removeRange(from, to);
    this.pieces.removeRange(from, to);
    for (const table of ["words", "unembedded"])
      this.#sql.exec(`DELETE FROM ${table} WHERE rowid BETWEEN ? AND ?`, from, to);
  }

  removeRanges(ranges: readonly PositionRange[]): void {
    for (const [from, to] of ranges) this.removeRange(from, to);
  }

  /** Whether anything is kept of documents of a range, also of one that is leaving. */
  holds([from, to]: PositionRange): boolean {
    return ["documents", "words", "unembedded", "vectors", "pieces", "unpieced"].some(
      (table) =>
        this.#sql.exec(`SELECT 1 FROM ${table} WHERE rowid BETWEEN ? AND ? LIMIT 1`, from, to).toArray()
          .length > 0,
    );
  }

  removeAll(numbers: readonly number[]): void {
    const wanted = JSON.stringify(numbers);
    this.#sql.exec(`${OVERWRITE} WHERE n IN (SELECT value FROM json_each(?))`, wanted);
    const gone = this.#sql
      .exec<{ n: number }>(
        "DELETE FROM documents WHERE n IN (SELECT value FROM json_each(?)) RETURNING n",
        wanted,
      )
      .toArray();
    if (gone.length === 0) return;
    this.#removed(gone.length);
    this.vectors.removeAll(numbers);
    this.pieces.removeAll(numbers);
    for (const table of ["words", "unembedded"])
      this.#sql.exec(`DELETE FROM ${table} WHERE rowid IN (SELECT value FROM json_each(?))`, wanted);
  }

  /** Documents that still want a vector: those that failed least often first, then the oldest. */
  unembedded(limit: number): { n: number; text: string; attempts: number }[] {
    return this.#sql
      .exec<{ n: number; text: string; attempts: number }>(
        `SELECT n, text, attempts FROM unembedded JOIN documents USING (n) WHERE ${notLeaving("n")}
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
      `INSERT OR IGNORE INTO unembedded (n) SELECT n FROM documents
       WHERE n NOT IN (SELECT n FROM vectors WHERE model = ?) AND (n < ${FIRST_POSITION} OR (? AND
         n / ${SLOTS} NOT IN (SELECT n FROM threads WHERE indexing = 'lexical')))`,
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
    this.vectors.removeRange(from, to);
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
    if (documents > 0) this.#words.deleted();
    this.#changes += documents;
    if (this.#count !== null) this.#count -= documents;
  }
}
