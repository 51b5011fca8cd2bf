import { dotWith, type Quantised, quantise } from "./int8.ts";
import { Kernel } from "./kernel/kernel.ts";
import { Best } from "./best.ts";

export type Scored = { n: number; score: number };

/** The least room that a table begins with, in rows. */
const FIRST = 64;
/** Bytes of a row beside its numbers: its scale, its document and its place. */
const ROW_BYTES = 100;
/** The first pass quantises the query. It takes more rows than wanted, which the second pass scores exactly. */
const SPARE = 32;

/**
 * Quantised vectors of one model in one growing memory. A search scores every row by int8, and the best again by the
 * query's own numbers.
 */
export class VectorTable {
  /** The most vectors that it can hold. */
  readonly capacity: number;
  readonly #dimensions: number;
  readonly #kernel: Kernel;
  #scales: Float32Array;
  #ids: number[] = [];
  readonly #rowOf = new Map<number, number>();

  /** `room`: vectors that it has memory for at the start. */
  constructor(dimensions: number, capacity: number, room = FIRST) {
    const first = Math.min(room, capacity);
    this.capacity = capacity;
    this.#dimensions = dimensions;
    this.#kernel = new Kernel(dimensions);
    this.#kernel.reserve(first);
    this.#scales = new Float32Array(first);
  }

  /** Bytes of a table with room for so many vectors. */
  static bytesOf(dimensions: number, room: number): number {
    return Kernel.bytesOf(dimensions, room) + room * ROW_BYTES;
  }

  get bytes(): number {
    return VectorTable.bytesOf(this.#dimensions, this.#scales.length);
  }

  /** The bytes that the vector of document `n` adds. */
  growthFor(n: number): number {
    if (this.size < this.#scales.length || this.has(n)) return 0;
    return VectorTable.bytesOf(this.#dimensions, this.#grownRoom) - this.bytes;
  }

  get size(): number {
    return this.#ids.length;
  }

  /** The documents with a vector, in no order. */
  get documents(): readonly number[] {
    return this.#ids;
  }

  has(n: number): boolean {
    return this.#rowOf.has(n);
  }

  /** Puts or replaces the vector of document `n`; false if there is no room for it. */
  set(n: number, { data, scale }: Quantised): boolean {
    const row = this.#rowOf.get(n) ?? this.#ids.length;
    if (row === this.capacity) return false;
    if (row === this.#scales.length) this.#grow();
    this.#ids[row] = n;
    this.#rowOf.set(n, row);
    this.#kernel.set(row, data);
    this.#scales[row] = scale;
    return true;
  }

  /** Puts the vector of a document that has none. */
  add(n: number, vector: Quantised): boolean {
    return this.set(n, vector);
  }

  /** The last row moves to the place of the deleted one. */
  delete(n: number): void {
    const row = this.#rowOf.get(n);
    const last = this.#ids.length - 1;
    const moved = this.#ids[last];
    if (row === undefined || moved === undefined) return;
    this.#kernel.move(last, row);
    this.#scales[row] = this.#scales[last] ?? 0;
    this.#ids[row] = moved;
    this.#rowOf.set(moved, row);
    this.#ids.pop();
    this.#rowOf.delete(n);
  }

  /** The `limit` allowed documents with the highest cosine to the unit vector `query`, best first. */
  nearest(query: Float32Array, limit: number, allowed: (n: number) => boolean): Scored[] {
    const best = new Best(limit + SPARE);
    const scales = this.#scales;
    for (const { first, products } of this.#kernel.products(quantise(query).data, this.size))
      for (let i = 0; i < products.length; i++) {
        const score = (products[i] ?? 0) * (scales[first + i] ?? 0);
        if (score > best.least && allowed(this.#ids[first + i] ?? 0)) best.add(first + i, score);
      }
    return best.rows
      .map((row) => ({ n: this.#ids[row] ?? 0, score: this.#dot(query, row) }))
      .toSorted((a, b) => b.score - a.score || b.n - a.n)
      .slice(0, limit);
  }

  /** The cosine of document `n` with `query`, or undefined if it has no vector. */
  score(n: number, query: Float32Array): number | undefined {
    const row = this.#rowOf.get(n);
    return row === undefined ? undefined : this.#dot(query, row);
  }

  #dot(query: Float32Array, row: number): number {
    return dotWith({ data: this.#kernel.row(row), scale: this.#scales[row] ?? 0 }, query);
  }

  clear(): void {
    this.#ids = [];
    this.#rowOf.clear();
  }

  get #grownRoom(): number {
    return Math.min(Math.ceil(this.#scales.length * 1.5), this.capacity);
  }

  #grow(): void {
    const room = this.#grownRoom;
    this.#kernel.reserve(room);
    const scales = new Float32Array(room);
    scales.set(this.#scales);
    this.#scales = scales;
  }
}
