import { Best } from "./best.ts";
import type { Quantised } from "./int8.ts";
import { RowTable } from "./row-table.ts";

/** The least room that a table begins with, in rows. */
const FIRST = 64;
/** Bytes of a row beside its code: its document. */
const ROW_BYTES = 8;

/**
 * One bit for each number of a vector: is it negative? 98,304 vectors of 256 numbers take 3.75 MiB, a ninth of a `VectorTable`. A
 * search finds those that are likely the nearest; their vectors have to decide.
 */
export class CodeTable extends RowTable {
  readonly #dimensions: number;
  readonly #stride: number;
  #codes: Uint8Array;

  constructor(dimensions: number, capacity: number) {
    super(capacity, FIRST);
    this.#dimensions = dimensions;
    this.#stride = Math.ceil(dimensions / 8);
    this.#codes = new Uint8Array(this.room * this.#stride);
  }

  protected bytesFor(room: number): number {
    return room * (this.#stride + ROW_BYTES);
  }

  /** Looks at each document. */
  protected rowOf(n: number): number | undefined {
    const row = this.ids.indexOf(n);
    return row < 0 ? undefined : row;
  }

  /**
   * The `limit` allowed documents that are likely the nearest of the unit vector `query`, in no order: by its product with each
   * vector, of which all numbers count as 1 or -1.
   */
  likely(query: Float32Array, limit: number, allowed: (n: number) => boolean): number[] {
    const best = new Best(limit);
    const [codes, ids] = [this.#codes, this.ids];
    const sums = sumsOf(query, this.#stride);
    for (let row = 0, at = 0; row < ids.length; row++) {
      let score = 0;
      for (let sum = 0; sum < sums.length; sum += 256) score += sums[sum + (codes[at++] ?? 0)] ?? 0;
      if (score > best.least && allowed(ids[row] ?? 0)) best.add(row, score);
    }
    return best.rows.map((row) => ids[row] ?? 0);
  }

  protected write(row: number, { data }: Quantised): void {
    const start = row * this.#stride;
    this.#codes.fill(0, start, start + this.#stride);
    for (let i = 0; i < this.#dimensions; i++)
      if ((data[i] ?? 0) < 0)
        this.#codes[start + (i >> 3)] = (this.#codes[start + (i >> 3)] ?? 0) | (1 << (i & 7));
  }

  protected move(from: number, to: number): void {
    const [start, end] = [from * this.#stride, (from + 1) * this.#stride];
    this.#codes.copyWithin(to * this.#stride, start, end);
    this.#codes.fill(0, start, end);
  }

  protected resize(room: number): void {
    const codes = new Uint8Array(room * this.#stride);
    codes.set(this.#codes);
    this.#codes = codes;
  }
}

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
