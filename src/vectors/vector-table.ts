import type { Quantised } from "./int8.ts";

export type Scored = { n: number; score: number };

/**
 * Quantised vectors of one model in one growing array, searched exactly. It costs `dimensions` + 16 bytes a
 * vector: 20,000 of 256 dimensions are 5.5 MB.
 */
export class VectorTable {
  readonly #dimensions: number;
  readonly #capacity: number;
  #rows: Int8Array;
  #scales: Float32Array;
  #ids: number[] = [];
  readonly #rowOf = new Map<number, number>();
  #full = false;

  /** `capacity`: how many vectors it takes at most. */
  constructor(dimensions: number, capacity: number) {
    const first = Math.min(64, capacity);
    this.#dimensions = dimensions;
    this.#capacity = capacity;
    this.#rows = new Int8Array(first * dimensions);
    this.#scales = new Float32Array(first);
  }

  get size(): number {
    return this.#ids.length;
  }

  /** Whether there was a vector that it could not take. */
  get full(): boolean {
    return this.#full;
  }

  /** Puts or replaces the vector of document `n`; false if there is no room for it. */
  set(n: number, { data, scale }: Quantised): boolean {
    const row = this.#rowOf.get(n) ?? this.#ids.length;
    if (row === this.#capacity) {
      this.#full = true;
      return false;
    }
    if (row === this.#scales.length) this.#grow();
    this.#ids[row] = n;
    this.#rowOf.set(n, row);
    this.#rows.set(data, row * this.#dimensions);
    this.#scales[row] = scale;
    return true;
  }

  /** The last row takes the place of the one that goes. */
  delete(n: number): void {
    const row = this.#rowOf.get(n);
    const last = this.#ids.length - 1;
    const moved = this.#ids[last];
    if (row === undefined || moved === undefined) return;
    this.#rows.copyWithin(row * this.#dimensions, last * this.#dimensions, (last + 1) * this.#dimensions);
    this.#scales[row] = this.#scales[last] ?? 0;
    this.#ids[row] = moved;
    this.#rowOf.set(moved, row);
    this.#ids.pop();
    this.#rowOf.delete(n);
  }

  /** The cosine of every document that `allowed` lets pass with the unit vector `query`. */
  *scores(query: Float32Array, allowed: (n: number) => boolean): Generator<Scored> {
    for (const [row, n] of this.#ids.entries()) if (allowed(n)) yield { n, score: this.#dot(query, row) };
  }

  /** The cosine of document `n` with `query`, or undefined if it has no vector. */
  score(n: number, query: Float32Array): number | undefined {
    const row = this.#rowOf.get(n);
    return row === undefined ? undefined : this.#dot(query, row);
  }

  #dot(query: Float32Array, row: number): number {
    const rows = this.#rows;
    const start = row * this.#dimensions;
    let sum = 0;
    for (let i = 0; i < this.#dimensions; i++) sum += (query[i] ?? 0) * (rows[start + i] ?? 0);
    return sum * (this.#scales[row] ?? 0);
  }

  #grow(): void {
    const room = Math.min(this.#scales.length * 2, this.#capacity);
    const rows = new Int8Array(room * this.#dimensions);
    rows.set(this.#rows);
    this.#rows = rows;
    const scales = new Float32Array(room);
    scales.set(this.#scales);
    this.#scales = scales;
  }
}
