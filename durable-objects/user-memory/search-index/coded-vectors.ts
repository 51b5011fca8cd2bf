import type { CodeTable } from "../../../src/platform/vectors/code-table.ts";
import { dotWith } from "../../../src/platform/vectors/int8.ts";
import type { Scored } from "../../../src/platform/vectors/vector-table.ts";
import type { VectorRows } from "./vector-rows.ts";

/** Vectors that are read for a search, for each document that is wanted, and at least: `npm run bench -- --codes`. */
const READ_PER_WANTED = 8;
const LEAST_READ = 2_048;
/** Vectors that one statement reads. */
const SLICE = 512;

/** The vectors of one model whose codes are in memory. A search reads the vectors of those that are likely the nearest. */
export class CodedVectors {
  readonly #rows: Pick<VectorRows, "read">;
  readonly #model: string;
  readonly #codes: CodeTable;

  constructor(rows: Pick<VectorRows, "read">, model: string, codes: CodeTable) {
    this.#rows = rows;
    this.#model = model;
    this.#codes = codes;
  }

  get size(): number {
    return this.#codes.size;
  }

  has(n: number): boolean {
    return this.#codes.has(n);
  }

  /** The `limit` documents of the highest cosine with the unit vector `query`, best first, of those allowed. */
  nearest(query: Float32Array, limit: number, allowed: (n: number) => boolean): Scored[] {
    const read = Math.max(LEAST_READ, READ_PER_WANTED * limit);
    const likely = this.#codes.likely(query, read, allowed).toSorted((a, b) => a - b);
    const scored: Scored[] = [];
    for (let start = 0; start < likely.length; start += SLICE)
      for (const { n, vector } of this.#rows.read(this.#model, likely.slice(start, start + SLICE)))
        scored.push({ n, score: dotWith(vector, query) });
    return scored.toSorted((a, b) => b.score - a.score || b.n - a.n).slice(0, limit);
  }
}
