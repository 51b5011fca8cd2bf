import type { CodeTable } from "../../../src/platform/vectors/code-table.ts";
import { dotWith } from "../../../src/platform/vectors/int8.ts";
import { nearestOf, type Scored, type VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import type { VectorRows } from "./vector-rows.ts";

/** Vectors that are read for a search, for each document that is wanted, and at least: `npm run bench -- --codes`. */
const READ_PER_WANTED = 8;
const LEAST_READ = 2_048;
/** Vectors that one statement reads. */
const SLICE = 512;

/** The vectors that a query is compared with: cached, or read from storage by each search, all or the likely ones. */
export type SearchedVectors = Pick<VectorTable, "has" | "nearest">;

/** The vectors of one model whose codes are in memory. A search reads the vectors of those that are likely the nearest. */
export const codedVectors = (rows: VectorRows, model: string, codes: CodeTable): SearchedVectors => ({
  has: (n) => codes.has(n),
  nearest: (query, limit, allowed) => {
    const read = Math.max(LEAST_READ, READ_PER_WANTED * limit);
    const likely = codes.likely(query, read, allowed).toSorted((a, b) => a - b);
    const scored: Scored[] = [];
    for (let start = 0; start < likely.length; start += SLICE)
      for (const { n, vector } of rows.read(model, likely.slice(start, start + SLICE)))
        scored.push({ n, score: dotWith(vector, query) });
    return nearestOf(scored, limit);
  },
});
