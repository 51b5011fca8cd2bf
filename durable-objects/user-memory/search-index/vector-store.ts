import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import { dotWith, type Quantised, quantise } from "../../../src/platform/vectors/int8.ts";
import type { VectorBudget } from "../../../src/platform/vectors/vector-budget.ts";
import { FIRST, VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { HeldVectors, type Missing } from "./held-vectors.ts";
import { StoredVectors } from "./stored-vectors.ts";
import type { PositionRange } from "../core/position.ts";
import { type VectorName, VectorRows } from "./vector-rows.ts";

export type { VectorName } from "./vector-rows.ts";
/** What is to hold the same vectors as is held here. */
export type VectorCopy = {
  put: (n: number, model: string) => void;
  remove: (vectors: readonly VectorName[]) => void;
};

/** Where an object's vectors may be held in memory. */
export type VectorMemory = {
  /** What the vectors of one model may take. */
  bytes: number;
  /** What those of all objects of the isolate may take together. */
  budget: VectorBudget;
  /** Names the object, in this isolate and before. */
  owner: string;
  now: () => number;
};

/** The vectors of one model that a query is compared with: in memory, or read anew by each search. */
export type SearchedVectors = Pick<VectorTable, "size" | "has" | "nearest">;

/** Room for vectors to come, as a share of those that are there when a table is made. */
const SPARE = 1 / 8;

/** A space of vectors, and the query as a unit vector in it. */
export type Space = Pick<Embedder, "model" | "dimensions"> & { vector: Float32Array };

/** The vectors of all documents, with those of them that memory holds. */
export class VectorStore {
  readonly rows: VectorRows;
  readonly #copy: VectorCopy;
  readonly #memory: VectorMemory;
  /** The vectors in memory by model, filled by the first recall and kept up to date from then on. */
  #loaded = new Map<string, HeldVectors>();
  /** The same vectors in storage by model, as they are since the last change. */
  #stored = new Map<string, StoredVectors>();
  /** The models of all vectors that there were since the object is awake; not known before the first write. */
  #used: Set<string> | undefined;

  constructor(sql: SqlStorage, copy: VectorCopy, memory: VectorMemory) {
    this.rows = new VectorRows(sql);
    this.#copy = copy;
    this.#memory = memory;
    // Those of the object that this one takes the place of: nobody uses them any more.
    memory.budget.releaseAll(memory.owner);
  }

  put(
    n: number,
    { model, dimensions }: Pick<Embedder, "model" | "dimensions">,
    vector: NonNullable<Vector>,
  ): void {
    if (vector.length !== dimensions) throw new Error(`a vector of ${model} has ${vector.length} dimensions`);
    this.#used ??= new Set(this.rows.models());
    // Only where there are several models can the vector of another one stand in the place.
    if (this.#used.add(model).size > 1) this.#removed(this.rows.removeOther({ n, model }));
    const quantised = quantise(vector);
    this.rows.put({ n, model }, quantised);
    this.#hold(model, n, quantised);
    this.#copy.put(n, model);
  }

  /** Gives one document the vector of another, if that has one. */
  copy(from: number, to: number): boolean {
    const copied = this.rows.copy(from, to);
    if (copied === null) return false;
    this.#hold(copied.model, to, copied.vector);
    this.#copy.put(to, copied.model);
    return true;
  }

  removeRange(range: PositionRange): void {
    this.#removed(this.rows.removeRange(range));
  }

  removeAll(numbers: readonly number[]): void {
    this.#removed(this.rows.removeAll(numbers));
  }

  /** The vectors of these documents that are of the model. */
  read(model: string, numbers: readonly number[]): { n: number; values: Float32Array }[] {
    return this.rows.read(model, numbers).map(({ n, vector: { data, scale } }) => ({
      n,
      values: Float32Array.from(data, (x) => x * Math.fround(scale)),
    }));
  }

  /** The vectors of one model, as many as an object may hold: memories first, then messages, the newest of each. */
  searched(space: Pick<Embedder, "model" | "dimensions">): SearchedVectors {
    return this.#held(space)?.table ?? this.#inStorage(space);
  }

  /** Whether there are memories, and messages, whose vectors are not among these. */
  missing(space: Pick<Embedder, "model" | "dimensions">): Missing {
    return (this.#held(space)?.held ?? this.#inStorage(space)).missing;
  }

  /** The cosine of each of these documents with the query, of those that have a vector of its model. */
  cosines(space: Space, numbers: readonly number[]): Map<number, number> {
    const loaded = this.#held(space);
    const cosines = new Map<number, number>();
    const absent: number[] = [];
    for (const n of numbers) {
      const cosine = loaded?.table.score(n, space.vector);
      if (cosine !== undefined) cosines.set(n, cosine);
      else absent.push(n);
    }
    if (absent.length === 0) return cosines;
    if (loaded !== null && !loaded.held.missing.memories && !loaded.held.missing.messages) return cosines;
    // Computed as the table does it, with a scale of 32 bits: the same to the last digit.
    for (const { n, vector } of this.rows.read(space.model, absent))
      cosines.set(n, dotWith({ ...vector, scale: Math.fround(vector.scale) }, space.vector));
    return cosines;
  }

  /** Drops what is held in memory, which may be ahead of a storage whose transaction was undone. */
  forgetLoaded(): void {
    for (const held of this.#loaded.values()) this.#memory.budget.release(held);
    this.#loaded = new Map();
    this.#stored = new Map();
  }

  #hold(model: string, n: number, vector: Quantised): void {
    this.#stored.delete(model);
    const held = this.#loaded.get(model);
    const table = held?.table ?? null;
    if (held === undefined || table === null) return;
    const growth = table.growthFor(n);
    if (growth > 0) {
      this.#touch(held);
      if (!this.#memory.budget.makeRoom(growth, this.#memory.now())) return this.#drop(model, held);
    }
    held.put(table, n, vector);
  }

  /** The vectors in memory, loaded if need be; null where memory has no room for them. */
  #held(space: Pick<Embedder, "model" | "dimensions">): { held: HeldVectors; table: VectorTable } | null {
    const { model, dimensions } = space;
    const known = this.#loaded.get(model);
    const table = known?.table ?? null;
    if (known !== undefined && table !== null && !known.isStale(table)) {
      this.#touch(known);
      return { held: known, table };
    }
    if (known !== undefined) this.#drop(model, known);
    return this.#load(model, this.#inStorage(space), { dimensions, capacity: this.#capacity(dimensions) });
  }

  #load(
    model: string,
    stored: StoredVectors,
    { dimensions, capacity }: { dimensions: number; capacity: number },
  ): { held: HeldVectors; table: VectorTable } | null {
    const { budget, now } = this.#memory;
    const room = Math.min(capacity, Math.ceil(stored.size * (1 + SPARE)) + FIRST);
    if (!budget.makeRoom(VectorTable.bytesOf(dimensions, room), now())) return null;
    const table = new VectorTable(dimensions, capacity, room);
    const held = new HeldVectors(table, stored.missing);
    for (const vectors of stored.slices()) for (const { n, vector } of vectors) table.set(n, vector);
    this.#touch(held);
    this.#loaded.set(model, held);
    return { held, table };
  }

  #touch(held: HeldVectors): void {
    this.#memory.budget.hold(held, { owner: this.#memory.owner, now: this.#memory.now() });
  }

  #drop(model: string, held: HeldVectors): void {
    this.#memory.budget.release(held);
    this.#loaded.delete(model);
  }

  #inStorage({ model, dimensions }: Pick<Embedder, "model" | "dimensions">): StoredVectors {
    const known = this.#stored.get(model);
    if (known !== undefined) return known;
    const stored = new StoredVectors(this.rows, { model, dimensions }, this.#capacity(dimensions));
    this.#stored.set(model, stored);
    return stored;
  }

  /** As many as an object may hold. An embedder that is set up wrong has no dimensions. */
  #capacity(dimensions: number): number {
    return Math.max(1, Math.floor(this.#memory.bytes / Math.max(1, dimensions)));
  }

  #removed(gone: readonly VectorName[]): void {
    if (gone.length === 0) return;
    for (const { n, model } of gone) {
      this.#loaded.get(model)?.table?.delete(n);
      this.#stored.delete(model);
    }
    this.#copy.remove(gone);
  }
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
