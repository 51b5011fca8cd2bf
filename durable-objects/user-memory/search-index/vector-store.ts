import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import { dotWith, type Quantised, quantise } from "../../../src/platform/vectors/int8.ts";
import type { Kernel } from "../../../src/platform/vectors/kernel/kernel.ts";
import type { VectorBudget } from "../../../src/platform/vectors/vector-budget.ts";
import { VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { CodeTable } from "../../../src/platform/vectors/code-table.ts";
import { type CachedTable, type Missing, VectorCache } from "./vector-cache.ts";
import { PieceCounts } from "./piece-counts.ts";
import { codedVectors, type SearchedVectors, StoredVectors } from "./stored-vectors.ts";
import { type VectorName, VectorRows } from "./vector-rows.ts";
import { MEMORIES, MESSAGES } from "../core/position.ts";
import type { SqlPart } from "../../storage/sql.ts";

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
  /** Shared by them, too. */
  kernel: Kernel;
  /** Names the object, in every isolate. */
  owner: string;
  now: () => number;
};

/** The order of loading: the greatest number of each first. */
const ORDER = [MEMORIES, MESSAGES];

/** The stored row of a text: a vector, if it has one, and its word pieces, if they are cut. */
export type IndexedText = Space & { vector: Vector; pieces: Uint16Array | null };

/** The vectors and word pieces of all documents: their rows, and the caches of them that a search reads. */
export class VectorStore {
  readonly rows: VectorRows;
  readonly #mirror: VectorMirror;
  readonly #options: VectorCacheOptions;
  /** By model, loaded by the first recall and kept up to date from then on, until the budget drops one. */
  readonly #caches = new Map<string, VectorCache>();
  /** By model, dropped with each change. */
  #stored = new Map<string, StoredVectors>();
  /** Loaded by the first recall and kept up to date from then on. */
  #counts: PieceCounts | null = null;
  /** The stored models, once they are read. */
  #models: Set<string> | undefined;
  /** True if each row is known to have its pieces. */
  #isCut = false;

  constructor(sql: SqlStorage, mirror: VectorMirror, options: VectorCacheOptions) {
    this.rows = new VectorRows(sql);
    this.#mirror = mirror;
    this.#options = options;
    // The caches of this object's former instance.
    options.budget.releaseAll(options.owner);
  }

  /** Stores a document that has no row yet. */
  add(n: number, text: IndexedText): void {
    this.#put(n, text);
    this.#counts?.documentCame(text.pieces);
  }

  /** Stores a document. It loses the vector that it may have; pieces that it has stay. */
  replace(n: number, text: IndexedText): void {
    const former = this.rows.stateOf(n);
    if (former === null) return this.add(n, text);
    if (former.model !== null && (former.model !== text.model || text.vector === null))
      this.#removed([{ n, model: former.model }]);
    this.#put(n, text);
    if (!former.hasPieces && text.pieces !== null) this.#counts?.piecesCame(text.pieces);
  }

  #put(n: number, { model, dimensions, vector, pieces }: IndexedText): void {
    this.#isCut &&= pieces !== null;
    if (vector === null) return this.rows.put(n, { model: "", vector, pieces });
    if (vector.length !== dimensions) throw new Error(`a vector of ${model} has ${vector.length} dimensions`);
    if (!this.models().has(model)) this.rows.addModel(model);
    this.#models?.add(model);
    const quantised = quantise(vector);
    this.rows.put(n, { model, vector: quantised, pieces });
    this.#cache(model, n, quantised);
    this.#mirror.put(n, model);
  }

  /** Gives a document that has no row the vector and pieces of another of the same text. Returns false if that has no vector. */
  copy(from: number, to: number): boolean {
    const copied = this.rows.copy(from, to);
    if (copied === null) return false;
    const { model, vector, pieces } = copied;
    this.#isCut &&= pieces !== null;
    this.#counts?.documentCame(pieces);
    this.#cache(model, to, vector);
    this.#mirror.put(to, model);
    return true;
  }

  remove(rows: SqlPart): void {
    const removal = this.rows.remove(rows);
    this.#removed(removal.vectors);
    this.#counts?.documentsWent(removal.rows, removal.pieces);
  }

  removeVectors(rows: SqlPart): void {
    this.#removed(this.rows.removeVectors(rows));
  }

  /** Stores the word pieces of a document that has a row without any. */
  setPieces(n: number, pieces: Uint16Array): void {
    this.rows.setPieces(n, pieces);
    this.#counts?.piecesCame(pieces);
  }

  withoutPieces(limit: number): number[] {
    if (this.#isCut) return [];
    const waiting = this.rows.withoutPieces(limit);
    this.#isCut = waiting.length === 0;
    return waiting;
  }

  models(): ReadonlySet<string> {
    return (this.#models ??= new Set(this.rows.models()));
  }

  /** Forgets the models whose last vector is gone. Reads all rows if there are several. */
  removeUnusedModels(): void {
    if (this.models().size < 2) return;
    this.rows.removeUnusedModels();
    this.#models = undefined;
  }

  read(model: string, numbers: readonly number[]): { n: number; values: Float32Array }[] {
    return this.rows.read(model, numbers).map(({ n, vector: { data, scale } }) => ({
      n,
      values: Float32Array.from(data, (x) => x * scale),
    }));
  }

  /** The model's vectors up to the capacity: memories first, then messages, the newest of each. */
  searched(space: Space): SearchedVectors {
    const table = this.#loaded(space)?.table;
    if (table === undefined) return this.#inStorage(space);
    return table instanceof CodeTable ? codedVectors(this.rows, space.model, table) : table;
  }

  /** True if memories, and messages, have vectors that `searched` leaves out. */
  missing(space: Space): Missing {
    return (this.#loaded(space) ?? this.#inStorage(space)).missing;
  }

  /** The cosine with the query of each of these documents that has a vector of its model. `load`: loads the cache for it. */
  cosines(query: EmbeddedQuery, numbers: readonly number[], { load = true } = {}): Map<number, number> {
    const cache = load || this.#caches.has(query.model) ? this.#loaded(query) : null;
    const table = cache?.table instanceof VectorTable ? cache.table : null;
    const cosines = new Map<number, number>();
    const absent: number[] = [];
    for (const n of numbers) {
      const cosine = table?.score(n, query.vector);
      if (cosine !== undefined) cosines.set(n, cosine);
      else absent.push(n);
    }
    if (absent.length === 0 || (table !== null && cache?.isComplete === true)) return cosines;
    // Computed as the table does it: the same to the last digit.
    for (const { n, vector } of this.rows.read(query.model, absent))
      cosines.set(n, dotWith(vector, query.vector));
    return cosines;
  }

  /** Drops the caches, which may be ahead of the storage after a rollback. */
  forgetLoaded(): void {
    for (const cache of this.#caches.values()) this.#options.budget.release(cache);
    this.#caches.clear();
    this.#stored = new Map();
    this.#counts = null;
    this.#models = undefined;
    this.#isCut = false;
  }

  counts(): PieceCounts {
    if (this.#counts !== null) return this.#counts;
    const counts = new PieceCounts();
    for (const range of ORDER)
      for (const { rows, pieces } of this.rows.blocks(range, "")) if (!counts.addBlock(rows, pieces)) break;
    return (this.#counts = counts);
  }

  #cache(model: string, n: number, vector: Quantised): void {
    this.#stored.delete(model);
    const cache = this.#caches.get(model);
    if (cache === undefined) return;
    const { budget, now } = this.#options;
    const growth = cache.table.growthFor(n);
    if (growth > 0) {
      this.#touch(cache);
      if (!budget.makeRoom(growth, now())) return budget.release(cache);
    }
    cache.put(n, vector);
  }

  /** The cache, loaded if need be: of the vectors, or of their codes; null if the budget has room for neither. */
  #loaded(space: Space): VectorCache | null {
    const { model } = space;
    const cache = this.#caches.get(model);
    if (cache !== undefined) {
      if (!cache.isStale && !this.#fitsWhole(cache.table, space)) {
        this.#touch(cache);
        return cache;
      }
      this.#options.budget.release(cache);
    }
    const capacity = this.#capacity(space.dimensions);
    return (
      this.#load(model, new VectorTable(space.dimensions, capacity, this.#options.kernel)) ??
      this.#load(model, new CodeTable(space.dimensions, capacity))
    );
  }

  /** True if the budget has room by now for the vectors of which only the codes are held. */
  #fitsWhole(table: CachedTable, { dimensions }: Space): boolean {
    const { budget, now } = this.#options;
    if (!(table instanceof CodeTable)) return false;
    return budget.hasRoom(VectorTable.bytesOf(dimensions, 1.5 * table.size), now());
  }

  /** Loads the vectors, or the codes, of a model up to the capacity, and counts the pieces in the same pass. */
  #load(model: string, table: CachedTable): VectorCache | null {
    const { budget, now } = this.#options;
    // The budget outlives this object: what it calls reaches the map alone, not the store.
    const caches = this.#caches;
    const cache: VectorCache = new VectorCache(table, () => {
      if (caches.get(model) === cache) caches.delete(model);
    });
    if (!budget.makeRoom(table.bytes, now())) return null;
    this.#touch(cache);
    const counts = this.#counts === null ? new PieceCounts() : null;
    for (const range of ORDER)
      for (const { rows, vectors, pieces } of this.rows.blocks(range, model)) {
        const isCounting = counts?.addBlock(rows, pieces) ?? false;
        for (const { n, vector } of vectors) {
          const growth = table.growthFor(n);
          if (growth > 0 && !budget.makeRoom(growth, now())) {
            budget.release(cache);
            return null;
          }
          if (!table.add(n, vector)) cache.leaveOut(n);
        }
        if (!isCounting && !cache.isComplete) break;
      }
    if (counts !== null) this.#counts = counts;
    this.#caches.set(model, cache);
    return cache;
  }

  #touch(cache: VectorCache): void {
    this.#options.budget.hold(cache, { owner: this.#options.owner, now: this.#options.now() });
  }

  #inStorage({ model, dimensions }: Space): StoredVectors {
    const known = this.#stored.get(model);
    if (known !== undefined) return known;
    const { kernel } = this.#options;
    const stored = new StoredVectors(this.rows, { model, dimensions, kernel }, this.#capacity(dimensions));
    this.#stored.set(model, stored);
    return stored;
  }

  /** In vectors. A misconfigured embedder has no dimensions. */
  #capacity(dimensions: number): number {
    return Math.max(1, Math.floor(this.#options.bytes / Math.max(1, dimensions)));
  }

  #removed(removal: readonly VectorName[]): void {
    if (removal.length === 0) return;
    for (const { n, model } of removal) {
      this.#caches.get(model)?.table.delete(n);
      this.#stored.delete(model);
    }
    this.#mirror.remove(removal);
  }
}
