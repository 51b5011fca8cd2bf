import { Best } from "./best.ts";
import type { Quantised } from "./int8.ts";

/** The least room that a table begins with, in rows. */
const FIRST = 64;
/** Bytes of a row beside its code: its document. */
const ROW_BYTES = 8;

/**
 * One bit for each number of a vector: is it negative? 98,304 vectors of 256 numbers take 3.75 MiB, a ninth of a `VectorTable`. A
 * search finds those that are likely the nearest; their vectors have to decide.
 */
export class CodeTable {
  /** The most codes that it can hold. */
  readonly capacity: number;
  readonly #dimensions: number;
  readonly #stride: number;
  #codes: Uint8Array;
  #ids: Float64Array;
  #size = 0;

  constructor(dimensions: number, capacity: number) {
    const room = Math.min(FIRST, capacity);
    this.capacity = capacity;
    this.#dimensions = dimensions;
    this.#stride = strideOf(dimensions);
    this.#codes = new Uint8Array(room * this.#stride);
    this.#ids = new Float64Array(room);
  }

  get bytes(): number {
    return this.#ids.length * (this.#stride + ROW_BYTES);
  }

  /** The bytes that the code of document `n` adds. */
  growthFor(n: number): number {
    if (this.#size < this.#ids.length) return 0;
    const growth = this.#grownRoom * (this.#stride + ROW_BYTES) - this.bytes;
    // A load asks for each document, also once there is no more room: only one that may grow the table is looked for.
    return growth > 0 && this.has(n) ? 0 : growth;
  }

  get size(): number {
    return this.#size;
  }

  /** The documents with a code, in no order. */
  get documents(): Float64Array {
    return this.#ids.subarray(0, this.#size);
  }

  /** Looks at each document. */
  has(n: number): boolean {
    return this.documents.includes(n);
  }

  /** Puts or replaces the code of document `n`; false if there is no room for it. */
  set(n: number, vector: Quantised): boolean {
    const row = this.documents.indexOf(n);
    if (row < 0) return this.add(n, vector);
    this.#put(row, vector);
    return true;
  }

  /** Puts the code of a document that has none. */
  add(n: number, vector: Quantised): boolean {
    if (this.#size === this.capacity) return false;
    if (this.#size === this.#ids.length) this.#grow();
    this.#ids[this.#size] = n;
    this.#put(this.#size++, vector);
    return true;
  }

  /** The last code moves to the place of the deleted one, and nothing of either stays beyond the end. */
  delete(n: number): void {
    const row = this.documents.indexOf(n);
    if (row < 0) return;
    const [stride, last] = [this.#stride, --this.#size];
    this.#codes.copyWithin(row * stride, last * stride, (last + 1) * stride);
    this.#codes.fill(0, last * stride, (last + 1) * stride);
    this.#ids[row] = this.#ids[last] ?? 0;
    this.#ids[last] = 0;
  }

  /**
   * The `limit` allowed documents that are likely the nearest of the unit vector `query`, in no order: by its product with each
   * vector, of which all numbers count as 1 or -1.
   */
  likely(query: Float32Array, limit: number, allowed: (n: number) => boolean): number[] {
    const best = new Best(limit);
    const [codes, ids, stride] = [this.#codes, this.#ids, this.#stride];
    const sums = sumsOf(query, stride);
    for (let row = 0, at = 0; row < this.#size; row++) {
      let score = 0;
      for (let sum = 0; sum < sums.length; sum += 256) score += sums[sum + (codes[at++] ?? 0)] ?? 0;
      if (score > best.least && allowed(ids[row] ?? 0)) best.add(row, score);
    }
    return best.rows.map((row) => ids[row] ?? 0);
  }

  #put(row: number, { data }: Quantised): void {
    const start = row * this.#stride;
    this.#codes.fill(0, start, start + this.#stride);
    for (let i = 0; i < this.#dimensions; i++)
      if ((data[i] ?? 0) < 0)
        this.#codes[start + (i >> 3)] = (this.#codes[start + (i >> 3)] ?? 0) | (1 << (i & 7));
  }

  get #grownRoom(): number {
    return Math.min(Math.ceil(this.#ids.length * 1.5), this.capacity);
  }

  #grow(): void {
    const room = this.#grownRoom;
    const [codes, ids] = [new Uint8Array(room * this.#stride), new Float64Array(room)];
    codes.set(this.#codes);
    ids.set(this.#ids);
    [this.#codes, this.#ids] = [codes, ids];
  }
}

const strideOf = (dimensions: number): number => Math.ceil(dimensions / 8);

/** For each byte of a code, what each of its 256 values adds to the product: one look-up for eight numbers. */
function sumsOf(query: Float32Array, bytes: number): Float32Array {
  const sums = new Float32Array(256 * bytes);
  for (let byte = 0; byte < bytes; byte++)
    for (let value = 0; value < 256; value++) {
      let sum = 0;
      for (let bit = 0; bit < 8; bit++) {
        const x = query[8 * byte + bit] ?? 0;
        sum += (value >> bit) & 1 ? -x : x;
      }
      sums[256 * byte + value] = sum;
    }
  return sums;
}
