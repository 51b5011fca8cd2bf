import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import { dotWith, type Quantised, quantise } from "../../../src/platform/vectors/int8.ts";
import type { VectorBudget } from "../../../src/platform/vectors/vector-budget.ts";
import { FIRST, VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { type Missing, VectorCache } from "./vector-cache.ts";
import { StoredVectors } from "./stored-vectors.ts";
import { type StoredVector, type VectorName, VectorRows } from "./vector-rows.ts";
import type { SqlCondition } from "../core/sql-condition.ts";

/** The vector space of one model. */
type Space = Pick<Embedder, "model" | "dimensions">;
/** The query as a unit vector. */
export type EmbeddedQuery = Space & { vector: Float32Array };

/** Follows every change of the vectors, to hold the same ones elsewhere. */
export type VectorMirror = {
  put: (n: number, model: string) => void;
  remove: (vectors: readonly VectorName[]) => void;
};

export type VectorCacheOptions = {
  /** Most bytes for the vectors of one model. */
  bytes: number;
  /** Shared by all objects of the isolate. */
  budget: VectorBudget;
  /** Names the object, in every isolate. */
  owner: string;
  now: () => number;
};

/** The vectors that a query is compared with: cached, or read from storage by each search. */
type SearchedVectors = Pick<VectorTable, "size" | "has" | "nearest">;
type LoadedCache = { cache: VectorCache; table: VectorTable };

/** Room for vectors to come, as a share of those at loading. */
const SPARE = 1 / 8;

/** The vectors of all documents: their rows, and the caches of them that a search reads. */
export class VectorStore {
  readonly rows: VectorRows;
  readonly #mirror: VectorMirror;
  readonly #options: VectorCacheOptions;
  /** By model, loaded by the first recall and kept up to date from then on. */
  #caches = new Map<string, VectorCache>();
  /** By model, dropped with each change. */
  #stored = new Map<string, StoredVectors>();
  /** The models of all vectors since the object is awake; unknown before the first write. */
  #used: Set<string> | undefined;

  constructor(sql: SqlStorage, mirror: VectorMirror, options: VectorCacheOptions) {
    this.rows = new VectorRows(sql);
    this.#mirror = mirror;
    this.#options = options;
    // The caches of this object's former instance.
    options.budget.releaseAll(options.owner);
  }

  put(n: number, { model, dimensions }: Space, vector: NonNullable<Vector>): void {
    if (vector.length !== dimensions) throw new Error(`a vector of ${model} has ${vector.length} dimensions`);
    this.#used ??= new Set(this.rows.models());
    // Only with several models can the document have a vector of another one.
    if (this.#used.add(model).size > 1) this.#removed(this.rows.removeOther({ n, model }));
    const quantised = quantise(vector);
    this.rows.put({ n, model }, quantised);
    this.#cache(model, n, quantised);
    this.#mirror.put(n, model);
  }

  /** Gives one document the vector of another, if that has one. */
  copy(from: number, to: number): boolean {
    const copied = this.rows.copy(from, to);
    if (copied === null) return false;
    this.#cache(copied.model, to, copied.vector);
    this.#mirror.put(to, copied.model);
    return true;
  }

  remove(rows: SqlCondition): void {
    this.#removed(this.rows.remove(rows));
  }

  read(model: string, numbers: readonly number[]): { n: number; values: Float32Array }[] {
    return this.#quantised(model, numbers).map(({ n, vector: { data, scale } }) => ({
      n,
      values: Float32Array.from(data, (x) => x * scale),
    }));
  }

  #quantised(model: string, numbers: readonly number[]): StoredVector[] {
    return this.rows
      .read(model, numbers)
      .map(({ n, vector }) => ({ n, vector: { ...vector, scale: Math.fround(vector.scale) } }));
  }

  /** The model's vectors up to the capacity: memories first, then messages, the newest of each. */
  searched(space: Space): SearchedVectors {
    return this.#loaded(space)?.table ?? this.#inStorage(space);
  }

  /** True if memories, and messages, have vectors that `searched` leaves out. */
  missing(space: Space): Missing {
    return (this.#loaded(space)?.cache ?? this.#inStorage(space)).missing;
  }

  /** The cosine with the query of each of these documents that has a vector of its model. */
  cosines(query: EmbeddedQuery, numbers: readonly number[]): Map<number, number> {
    const loaded = this.#loaded(query);
    const cosines = new Map<number, number>();
    const absent: number[] = [];
    for (const n of numbers) {
      const cosine = loaded?.table.score(n, query.vector);
      if (cosine !== undefined) cosines.set(n, cosine);
      else absent.push(n);
    }
    if (absent.length === 0 || loaded?.cache.isComplete === true) return cosines;
    // Computed as the table does it, with a scale of 32 bits: the same to the last digit.
    for (const [n, cosine] of this.storedCosines(query, absent)) cosines.set(n, cosine);
    return cosines;
  }

  /** The same without loading the cache. */
  storedCosines(
    { model, vector }: Omit<EmbeddedQuery, "dimensions">,
    numbers: readonly number[],
  ): Map<number, number> {
    return new Map(this.#quantised(model, numbers).map((one) => [one.n, dotWith(one.vector, vector)]));
  }

  /** Drops the caches, which may be ahead of the storage after a rollback. */
  forgetLoaded(): void {
    for (const cache of this.#caches.values()) this.#options.budget.release(cache);
    this.#caches = new Map();
    this.#stored = new Map();
  }

  #cache(model: string, n: number, vector: Quantised): void {
    this.#stored.delete(model);
    const cache = this.#caches.get(model);
    const table = cache?.table ?? null;
    if (cache === undefined || table === null) return;
    const growth = table.growthFor(n);
    if (growth > 0) {
      this.#touch(cache);
      if (!this.#options.budget.makeRoom(growth, this.#options.now())) return this.#drop(model, cache);
    }
    cache.put(table, n, vector);
  }

  /** The cache, loaded if need be; null if the budget has no room for it. */
  #loaded(space: Space): LoadedCache | null {
    const { model } = space;
    const cache = this.#caches.get(model);
    const table = cache?.table ?? null;
    if (cache !== undefined && table !== null && !cache.isStale(table)) {
      this.#touch(cache);
      return { cache, table };
    }
    if (cache !== undefined) this.#drop(model, cache);
    return this.#load(space);
  }

  #load(space: Space): LoadedCache | null {
    const { budget, now } = this.#options;
    const { model, dimensions } = space;
    const stored = this.#inStorage(space);
    const capacity = this.#capacity(dimensions);
    const room = Math.min(capacity, Math.ceil(stored.size * (1 + SPARE)) + FIRST);
    if (!budget.makeRoom(VectorTable.bytesOf(dimensions, room), now())) return null;
    const table = new VectorTable(dimensions, capacity, room);
    const cache = new VectorCache(table, stored.missing);
    for (const vectors of stored.slices()) for (const { n, vector } of vectors) table.set(n, vector);
    this.#touch(cache);
    this.#caches.set(model, cache);
    return { cache, table };
  }

  #touch(cache: VectorCache): void {
    this.#options.budget.hold(cache, { owner: this.#options.owner, now: this.#options.now() });
  }

  #drop(model: string, cache: VectorCache): void {
    this.#options.budget.release(cache);
    this.#caches.delete(model);
  }

  #inStorage({ model, dimensions }: Space): StoredVectors {
    const known = this.#stored.get(model);
    if (known !== undefined) return known;
    const stored = new StoredVectors(this.rows, { model, dimensions }, this.#capacity(dimensions));
    this.#stored.set(model, stored);
    return stored;
  }

  /** In vectors. A misconfigured embedder has no dimensions. */
  #capacity(dimensions: number): number {
    return Math.max(1, Math.floor(this.#options.bytes / Math.max(1, dimensions)));
  }

  #removed(gone: readonly VectorName[]): void {
    if (gone.length === 0) return;
    for (const { n, model } of gone) {
      this.#caches.get(model)?.table?.delete(n);
      this.#stored.delete(model);
    }
    this.#mirror.remove(gone);
  }
}
