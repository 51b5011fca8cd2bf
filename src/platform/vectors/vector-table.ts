import { dotWith, type Quantised, quantise } from "./int8.ts";
import { Kernel, strideOf } from "./kernel/kernel.ts";
import { Best } from "./best.ts";
import { RowTable } from "./row-table.ts";

export type Scored = { n: number; score: number };

/** The `limit` documents of the highest score, best first. */
export const nearestOf = (scored: readonly Scored[], limit: number): Scored[] =>
  scored.toSorted((a, b) => b.score - a.score || b.n - a.n).slice(0, limit);

/** The least room that a table begins with, in rows. */
const FIRST = 16;
/**
 * Bytes of rows from which on a table has a kernel of its own. A search copies fewer into the shared one: that cannot be measured for
 * 1,000 of 256, and takes half as long as the search for 20,000.
 */
const OWN = 256 * 1024;
/** Bytes of a row beside its numbers: its scale, its document and its place. */
const ROW_BYTES = 100;
/** The first pass quantises the query. It takes more rows than wanted, which the second pass scores exactly. */
const SPARE = 32;

/**
 * Quantised vectors of one model in one growing memory: plain, or a kernel's where they are many. A search scores every row by
 * int8, and the best again by the query's own numbers.
 */
export class VectorTable extends RowTable {
  readonly #dimensions: number;
  readonly #stride: number;
  readonly #shared: Kernel;
  #own: Kernel | null = null;
  #rows: Int8Array;
  #scales: Float32Array;
  readonly #rowOf = new Map<number, number>();

  /** `shared`: the kernel of the isolate. All calls are synchronous, so none finds the rows of another table there. */
  constructor(dimensions: number, capacity: number, shared: Kernel) {
    super(capacity, FIRST);
    this.#dimensions = dimensions;
    this.#stride = strideOf(dimensions);
    this.#shared = shared;
    this.#rows = new Int8Array(this.room * this.#stride);
    this.#scales = new Float32Array(this.room);
  }

  /** Bytes of a table with room for so many vectors. */
  static bytesOf(dimensions: number, room: number): number {
    const bytes = room * strideOf(dimensions);
    return (bytes < OWN ? bytes : Kernel.bytesOf(bytes)) + room * ROW_BYTES;
  }

  protected bytesFor(room: number): number {
    return VectorTable.bytesOf(this.#dimensions, room);
  }

  protected rowOf(n: number): number | undefined {
    return this.#rowOf.get(n);
  }

  protected write(row: number, { data, scale }: Quantised): void {
    this.#rowOf.set(this.ids[row] ?? 0, row);
    this.#rows.set(data, row * this.#stride);
    this.#scales[row] = scale;
  }

  protected move(from: number, to: number): void {
    this.#rowOf.set(this.ids[from] ?? 0, to);
    this.#rows.copyWithin(to * this.#stride, from * this.#stride, (from + 1) * this.#stride);
    this.#scales[to] = this.#scales[from] ?? 0;
  }

  override delete(n: number): void {
    super.delete(n);
    this.#rowOf.delete(n);
  }

  /** The `limit` allowed documents with the highest cosine to the unit vector `query`, best first. */
  nearest(query: Float32Array, limit: number, allowed: (n: number) => boolean): Scored[] {
    const best = new Best(limit + SPARE);
    const scales = this.#scales;
    const kernel = this.#own ?? this.#shared;
    const used = this.size * this.#stride;
    if (this.#own === null) kernel.rows(used).set(this.#rows.subarray(0, used));
    for (const { first, products } of kernel.products(quantise(query).data, this.size))
      for (let i = 0; i < products.length; i++) {
        const score = (products[i] ?? 0) * (scales[first + i] ?? 0);
        if (score > best.least && allowed(this.ids[first + i] ?? 0)) best.add(first + i, score);
      }
    const scored = best.rows.map((row) => ({ n: this.ids[row] ?? 0, score: this.#dot(query, row) }));
    return nearestOf(scored, limit);
  }

  /** The cosine of document `n` with `query`, or undefined if it has no vector. */
  score(n: number, query: Float32Array): number | undefined {
    const row = this.#rowOf.get(n);
    return row === undefined ? undefined : this.#dot(query, row);
  }

  #dot(query: Float32Array, row: number): number {
    const data = this.#rows.subarray(row * this.#stride, (row + 1) * this.#stride);
    return dotWith({ data, scale: this.#scales[row] ?? 0 }, query);
  }

  clear(): void {
    this.ids = [];
    this.#rowOf.clear();
  }

  protected resize(room: number): void {
    const bytes = room * this.#stride;
    const [before, grows] = [this.#rows, this.#own !== null];
    const own = this.#own ?? (bytes >= OWN ? new Kernel() : null);
    this.#rows = own?.rows(bytes) ?? new Int8Array(bytes);
    // Behind what may have no room.
    this.#own = own;
    if (!grows) this.#rows.set(before);
    const scales = new Float32Array(room);
    scales.set(this.#scales);
    this.#scales = scales;
  }
}
