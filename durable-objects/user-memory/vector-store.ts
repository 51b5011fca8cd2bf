import type { Embedder, Vector } from "../../src/embeddings/embedder.ts";
import { type Quantised, quantise } from "../../src/vectors/int8.ts";
import type { VectorTable } from "../../src/vectors/vector-table.ts";
import { HeldVectors } from "./held-vectors.ts";
import { FIRST_POSITION, type PositionRange } from "./position.ts";

type VectorRow = { n: number; scale: number; data: ArrayBuffer };

/** A document's vector in the space of one model. */
export type VectorName = { n: number; model: string };
/** What is to hold the same vectors as is held here. */
export type VectorCopy = {
  put: (n: number, model: string) => void;
  remove: (vectors: readonly VectorName[]) => void;
};

/** A space of vectors, and the query as a unit vector in it. */
export type Space = Pick<Embedder, "model" | "dimensions"> & { vector: Float32Array };

/** The vectors of all documents. Owns the SQL of `vectors`; a document has one, of the model that embedded it last. */
export class VectorStore {
  readonly #sql: SqlStorage;
  readonly #copy: VectorCopy;
  readonly #bytes: number;
  /** The vectors in memory by model, filled by the first recall and kept up to date from then on. */
  #loaded = new Map<string, HeldVectors>();
  /** The models of all vectors that there were since the object is awake; not known before the first write. */
  #used: Set<string> | undefined;

  /** `bytes`: what the vectors of one model may take in memory, of the 128 MB that an isolate has for all that is in it. */
  constructor(sql: SqlStorage, copy: VectorCopy, bytes: number) {
    this.#sql = sql;
    this.#copy = copy;
    this.#bytes = bytes;
  }

  put(
    n: number,
    { model, dimensions }: Pick<Embedder, "model" | "dimensions">,
    vector: NonNullable<Vector>,
  ): void {
    if (vector.length !== dimensions) throw new Error(`a vector of ${model} has ${vector.length} dimensions`);
    this.#used ??= new Set(this.models());
    // Only where there are several models can the vector of another one stand in the place.
    if (this.#used.add(model).size > 1) this.#removeWhere("n = ? AND model <> ?", n, model);
    const quantised = quantise(vector);
    this.#sql.exec(
      "INSERT OR REPLACE INTO vectors (n, model, scale, data) VALUES (?, ?, ?, ?)",
      n,
      model,
      quantised.scale,
      quantised.data,
    );
    this.#hold(model, n, quantised);
    this.#copy.put(n, model);
  }

  /** Gives one document the vector of another, if that has one. */
  copy(from: number, to: number): boolean {
    const [row] = this.#sql
      .exec<VectorRow & { model: string }>(
        "INSERT OR REPLACE INTO vectors (n, model, scale, data) SELECT ?, model, scale, data FROM vectors WHERE n = ? RETURNING n, model, scale, data",
        to,
        from,
      )
      .toArray();
    if (row === undefined) return false;
    this.#hold(row.model, to, { data: new Int8Array(row.data), scale: row.scale });
    this.#copy.put(to, row.model);
    return true;
  }

  removeRange(from: number, to: number): void {
    this.#removeWhere("n BETWEEN ? AND ?", from, to);
  }

  removeAll(numbers: readonly number[]): void {
    this.#removeWhere("n IN (SELECT value FROM json_each(?))", JSON.stringify(numbers));
  }

  /** The models that documents have vectors of. */
  models(): string[] {
    // Skips from one model to the next in the index, and so reads a row for each.
    const models: string[] = [];
    for (let last = ""; ;) {
      const { next } = this.#sql
        .exec<{ next: string | null }>("SELECT MIN(model) AS next FROM vectors WHERE model > ?", last)
        .one();
      if (next === null) return models;
      models.push(next);
      last = next;
    }
  }

  /** Whether a message has a vector of the model. */
  hasMessages(model: string): boolean {
    const any = "SELECT 1 FROM vectors WHERE model = ? AND n >= ? LIMIT 1";
    return this.#sql.exec(any, model, FIRST_POSITION).toArray().length > 0;
  }

  /** The documents of these numbers, both included, that have a vector of the model. */
  numbersBetween([from, to]: PositionRange, model: string): number[] {
    return this.#sql
      .exec<{ n: number }>("SELECT n FROM vectors WHERE n BETWEEN ? AND ? AND model = ?", from, to, model)
      .toArray()
      .map((row) => row.n);
  }

  /** The vectors of these documents that are of the model. */
  read(model: string, numbers: readonly number[]): { n: number; values: Float32Array }[] {
    return this.#sql
      .exec<VectorRow>(
        "SELECT n, scale, data FROM vectors WHERE model = ? AND n IN (SELECT value FROM json_each(?))",
        model,
        JSON.stringify(numbers),
      )
      .toArray()
      .map(({ n, scale, data }) => ({ n, values: Float32Array.from(new Int8Array(data), (x) => x * scale) }));
  }

  /** The vectors of one model, as many as there is room for: memories first, then messages, the newest of each. */
  table(space: Pick<Embedder, "model" | "dimensions">): VectorTable {
    return this.#held(space).table;
  }

  /** Whether there are memories, and messages, whose vectors are not in memory. */
  missing(space: Pick<Embedder, "model" | "dimensions">): HeldVectors["missing"] {
    return this.#held(space).missing;
  }

  /** The cosine of each of these documents with the query, of those that have a vector of its model. */
  cosines(space: Space, numbers: readonly number[]): Map<number, number> {
    const { table, missing } = this.#held(space);
    const cosines = new Map<number, number>();
    const absent: number[] = [];
    for (const n of numbers) {
      const cosine = table.score(n, space.vector);
      if (cosine !== undefined) cosines.set(n, cosine);
      else absent.push(n);
    }
    if (absent.length === 0 || !(missing.memories || missing.messages)) return cosines;
    for (const { n, values } of this.read(space.model, absent)) cosines.set(n, dot(values, space.vector));
    return cosines;
  }

  /** Drops what is held in memory, which may be ahead of a storage whose transaction was undone. */
  forgetLoaded(): void {
    this.#loaded = new Map();
  }

  #hold(model: string, n: number, vector: Quantised): void {
    this.#loaded.get(model)?.put(n, vector);
  }

  #held({ model, dimensions }: Pick<Embedder, "model" | "dimensions">): HeldVectors {
    const known = this.#loaded.get(model);
    if (known !== undefined && !known.isStale) return known;
    const held = new HeldVectors(dimensions, this.#bytes);
    // Two ranges, each in the order of an index: nothing is sorted that is not held.
    if (held.fill(this.#rows(model, "n < ?"))) held.fill(this.#rows(model, "n >= ?"));
    else held.missing.messages ||= this.hasMessages(model);
    this.#loaded.set(model, held);
    return held;
  }

  *#rows(model: string, range: string): Generator<{ n: number; vector: Quantised }> {
    const rows = this.#sql.exec<VectorRow>(
      `SELECT n, scale, data FROM vectors INDEXED BY vectors_by_model WHERE model = ? AND ${range} ORDER BY n DESC`,
      model,
      FIRST_POSITION,
    );
    for (const { n, scale, data } of rows) yield { n, vector: { data: new Int8Array(data), scale } };
  }

  #removeWhere(condition: string, ...bindings: (string | number)[]): void {
    const gone = this.#sql
      .exec<VectorName>(`DELETE FROM vectors WHERE ${condition} RETURNING n, model`, ...bindings)
      .toArray();
    if (gone.length === 0) return;
    for (const { n, model } of gone) this.#loaded.get(model)?.table.delete(n);
    this.#copy.remove(gone);
  }
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
