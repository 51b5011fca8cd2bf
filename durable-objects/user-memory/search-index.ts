import type { Embedder, QueryVector, Vector } from "../../src/embeddings/embedder.ts";
import { type Candidate, fuse, type Fused } from "../../src/memory/fuse.ts";
import { wordQuery } from "../../src/memory/query-terms.ts";
import type { Arm, RecallKind } from "../../src/schema/recall.ts";
import { quantise } from "../../src/vectors/int8.ts";
import { VectorTable } from "../../src/vectors/vector-table.ts";
import { FIRST_POSITION, type PositionRange } from "./position.ts";

export type SearchQuery = {
  query: string;
  queryVector: QueryVector;
  k: number;
  kinds?: RecallKind[];
  tags?: string[];
  /** Only documents in these ranges of `n`. */
  ranges?: readonly PositionRange[];
};
export type Found = Fused & { document: Document };
export type SearchAnswer = { found: Found[]; arms: Arm[] };

/** `record` is what a hit shows of a document besides its text, and all that a memory is: JSON. */
export type Document = { n: number; kind: RecallKind; text: string; record: string; createdAt: number };

type DocumentRow = { n: number; kind: RecallKind; text: string; record: string; created_at: number };

/** What the vectors of one object may take of the 128 MB that an isolate has for all that is in it. */
const VECTOR_BYTES = 24 * 1024 * 1024;
/** How many documents each arm brings into the fusion. */
const CANDIDATES = 200;

/**
 * Words (FTS5) and vectors (int8, exact) of all that one user can recall. Owns the SQL of `documents`, `words`,
 * `vectors` and `unembedded`. A document is found by its words at once, and by its vector as soon as it has one.
 */
export class SearchIndex {
  readonly #sql: SqlStorage;
  /** The vectors of one model in memory, filled by the first recall and kept up to date from then on. */
  #loaded: { model: string; table: VectorTable } | undefined;
  /** How many documents there are; null while that is not known. Counting reads them all. */
  #count: number | null = null;
  #changes = 0;
  /** The model that all documents are known to have, or to wait for, a vector of. */
  #model: string | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Puts a memory in the place of its older self, if there is one. Its vector comes by `attach`. Answers its `n`. */
  putMemory(memory: { id: string; dedupeKey: string } & Omit<Document, "n">): number {
    this.removeMemory(memory.id);
    const { last: n } = this.#sql
      .exec<{ last: number }>("UPDATE memory_documents SET last = last + 1 RETURNING last")
      .one();
    this.#sql.exec(
      `INSERT INTO documents (n, kind, text, memory_id, dedupe_key, record, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      n,
      memory.kind,
      memory.text,
      memory.id,
      memory.dedupeKey,
      memory.record,
      memory.createdAt,
    );
    this.#addWords(n, memory.text);
    return n;
  }

  /** Puts a message; its `n` is its position. */
  putMessage({ n, kind, text, record, createdAt }: Document): void {
    this.#sql.exec(
      "INSERT INTO documents (n, kind, text, record, created_at) VALUES (?, ?, ?, ?, ?)",
      n,
      kind,
      text,
      record,
      createdAt,
    );
    this.#addWords(n, text);
  }

  removeMemory(id: string): void {
    const document = this.memory(id);
    if (document !== null) this.removeRange(document.n, document.n);
  }

  removeRange(from: number, to: number): void {
    const gone = this.#sql.exec<{ n: number }>(
      "DELETE FROM documents WHERE n BETWEEN ? AND ? RETURNING n",
      from,
      to,
    );
    for (const { n } of gone) {
      this.#changes++;
      this.#loaded?.table.delete(n);
      if (this.#count !== null) this.#count--;
    }
    for (const table of ["words", "vectors", "unembedded"])
      this.#sql.exec(`DELETE FROM ${table} WHERE rowid BETWEEN ? AND ?`, from, to);
  }

  removeRanges(ranges: readonly PositionRange[]): void {
    for (const [from, to] of ranges) this.removeRange(from, to);
  }

  memory(id: string): Document | null {
    return this.#document("memory_id = ?", id);
  }

  memoryByDedupeKey(key: string): Document | null {
    return this.#document("dedupe_key = ?", key);
  }

  /** Documents that still want a vector: those that failed least often first, then the oldest. */
  unembedded(limit: number): { n: number; text: string; attempts: number }[] {
    return this.#sql
      .exec<{ n: number; text: string; attempts: number }>(
        "SELECT n, text, attempts FROM unembedded JOIN documents USING (n) ORDER BY attempts, n LIMIT ?",
        limit,
      )
      .toArray();
  }

  /** Notes that these could not be embedded, so that others come before them. */
  embeddingFailed(numbers: readonly number[]): void {
    this.#sql.exec(
      "UPDATE unembedded SET attempts = attempts + 1 WHERE n IN (SELECT value FROM json_each(?))",
      JSON.stringify(numbers),
    );
  }

  /** Gives a document its vector (null: it has none in this model), unless the document has gone meanwhile. */
  attach(n: number, { model, dimensions }: Pick<Embedder, "model" | "dimensions">, vector: Vector): void {
    const waiting = this.#sql.exec("DELETE FROM unembedded WHERE n = ? RETURNING n", n).toArray();
    if (waiting.length === 0 || vector === null) return;
    if (vector.length !== dimensions) throw new Error(`a vector of ${model} has ${vector.length} dimensions`);
    const quantised = quantise(vector);
    this.#sql.exec(
      "INSERT OR REPLACE INTO vectors (n, model, scale, data) VALUES (?, ?, ?, ?)",
      n,
      model,
      quantised.scale,
      quantised.data,
    );
    if (this.#loaded?.model === model) this.#loaded.table.set(n, quantised);
  }

  /** Queues every document whose vector is of another model; that one stays until the new one is there. */
  requeueOtherModels(model: string): boolean {
    if (this.#model === model) return false;
    this.#model = model;
    const queued = this.#sql.exec(
      "INSERT OR IGNORE INTO unembedded (n) SELECT n FROM vectors WHERE model < ?1 OR model > ?1 RETURNING n",
      model,
    );
    return queued.toArray().length > 0;
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
    this.#loaded = undefined;
    this.#count = null;
  }

  search(query: SearchQuery): SearchAnswer {
    const table = this.#vectors(query.queryVector);
    const { vector } = query.queryVector;
    const words = wordQuery(query.query);
    const lexical = words === null ? null : this.#byWords(words, query);
    const byVector = vector === null || vector === "failed" ? null : this.#byVector(table, vector, query);
    const cosine = (n: number) =>
      vector === null || vector === "failed" ? undefined : table.score(n, vector);
    // A query of no word and no meaning (`???`) asks for nothing in particular: it gets the newest.
    const fused = words === null && vector === null ? this.#newest(query) : fuse(lexical, byVector, cosine);
    return {
      found: fused.slice(0, query.k).flatMap((hit) => {
        const document = this.#document("n = ?", hit.n);
        return document === null ? [] : [{ ...hit, document }];
      }),
      arms: [
        {
          name: "lexical",
          status: lexical === null ? "off" : "ok",
          candidates: lexical?.length ?? 0,
          capped: lexical?.length === CANDIDATES,
        },
        {
          name: "vector",
          status: vector === "failed" ? "failed" : vector === null ? "off" : "ok",
          candidates: byVector?.length ?? 0,
          capped: table.full,
        },
      ],
    };
  }

  #byWords(words: string, query: SearchQuery): Candidate[] {
    const { sql, bindings } = filter(query);
    return this.#sql
      .exec<Candidate>(
        `SELECT n, -bm25(words) AS score FROM words JOIN documents ON n = words.rowid
         WHERE words MATCH ? AND ${sql} ORDER BY score DESC LIMIT ${CANDIDATES}`,
        words,
        ...bindings,
      )
      .toArray();
  }

  #byVector(table: VectorTable, vector: Float32Array, query: SearchQuery): Candidate[] {
    const allowed = this.#allowed(query);
    return [...table.scores(vector, allowed)].toSorted((a, b) => b.score - a.score).slice(0, CANDIDATES);
  }

  #newest(query: SearchQuery): Fused[] {
    const { sql, bindings } = filter(query);
    return this.#sql
      .exec<Fused>(
        `SELECT n, 0 AS score FROM documents WHERE ${sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
        ...bindings,
        query.k,
      )
      .toArray();
  }

  /** Which documents the query's filters let pass. */
  #allowed(query: SearchQuery): (n: number) => boolean {
    if (query.kinds === undefined && query.tags === undefined && query.ranges === undefined)
      return () => true;
    const { sql, bindings } = filter(query);
    const rows = this.#sql.exec<{ n: number }>(`SELECT n FROM documents WHERE ${sql}`, ...bindings).toArray();
    const set = new Set(rows.map(({ n }) => n));
    return (n) => set.has(n);
  }

  #vectors({ model, dimensions }: QueryVector): VectorTable {
    if (this.#loaded?.model === model) return this.#loaded.table;
    const table = new VectorTable(dimensions, Math.floor(VECTOR_BYTES / dimensions));
    // Memories first, then messages, the newest of each: what does not fit is found by its words.
    const rows = this.#sql.exec<{ n: number; scale: number; data: ArrayBuffer }>(
      "SELECT n, scale, data FROM vectors WHERE model = ? ORDER BY n >= ?, n DESC",
      model,
      FIRST_POSITION,
    );
    for (const { n, scale, data } of rows) if (!table.set(n, { data: new Int8Array(data), scale })) break;
    this.#loaded = { model, table };
    return table;
  }

  #document(where: string, binding: string | number): Document | null {
    const [row] = this.#sql
      .exec<DocumentRow>(`SELECT n, kind, text, record, created_at FROM documents WHERE ${where}`, binding)
      .toArray();
    if (row === undefined) return null;
    const { created_at: createdAt, ...rest } = row;
    return { ...rest, createdAt };
  }

  #addWords(n: number, text: string): void {
    this.#changes++;
    if (this.#count !== null) this.#count++;
    this.#sql.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", n, text);
    this.#sql.exec("INSERT INTO unembedded (n) VALUES (?)", n);
  }
}

/** The query's filters as SQL over `documents`; lists are bound as JSON, since a statement takes 100 parameters. */
function filter({ kinds, tags, ranges }: SearchQuery): { sql: string; bindings: (string | number)[] } {
  const conditions = ["TRUE"];
  const bindings: (string | number)[] = [];
  if (kinds !== undefined) {
    conditions.push("kind IN (SELECT value FROM json_each(?))");
    bindings.push(JSON.stringify(kinds));
  }
  if (tags !== undefined) {
    conditions.push(`NOT EXISTS (SELECT 1 FROM json_each(?) AS wanted
      WHERE wanted.value NOT IN (SELECT value FROM json_each(documents.record, '$.tags')))`);
    bindings.push(JSON.stringify(tags));
  }
  if (ranges !== undefined) {
    conditions.push(
      "EXISTS (SELECT 1 FROM json_each(?) AS range WHERE n BETWEEN range.value ->> 0 AND range.value ->> 1)",
    );
    bindings.push(JSON.stringify(ranges));
  }
  return { sql: conditions.join(" AND "), bindings };
}
