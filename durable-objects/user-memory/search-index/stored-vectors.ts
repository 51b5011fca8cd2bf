import type { CodeTable } from "../../../src/platform/vectors/code-table.ts";
import { dotWith } from "../../../src/platform/vectors/int8.ts";
import type { Kernel } from "../../../src/platform/vectors/kernel/kernel.ts";
import { nearestOf, type Scored, VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { isMessage, MEMORIES, MESSAGES } from "../core/position.ts";
import type { Missing } from "./vector-cache.ts";
import type { StoredVector, VectorRows } from "./vector-rows.ts";

/** Vectors that one statement reads, and room of the table that a search fills again and again. */
const SLICE = 512;

/** Vectors that are read for a search, for each document that is wanted, and at least: `npm run bench -- --codes`. */
const READ_PER_WANTED = 8;
const LEAST_READ = 2_048;

/** The vectors that a query is compared with: cached, or read from storage by each search, all or the likely ones. */
export type SearchedVectors = Pick<VectorTable, "has" | "nearest">;

type Space = { model: string; dimensions: number; kernel: Kernel };

/**
 * The vectors of one model in storage, up to the cache's capacity and in its order: memories first, then messages, the newest
 * of each. A search reads them all, a slice at a time. Valid until a vector changes.
 */
export class StoredVectors implements SearchedVectors {
  readonly missing: Missing;
  readonly #rows: VectorRows;
  readonly #space: Space;
  /** The greatest memory, and the greatest message, beyond the capacity. */
  readonly #beyond: { memories: number; messages: number };

  constructor(rows: VectorRows, space: Space, capacity: number) {
    this.#rows = rows;
    this.#space = space;
    const memories = rows.greatest(space.model, MEMORIES, capacity + 1);
    const room = Math.max(0, capacity - memories.count);
    const messages = rows.greatest(space.model, MESSAGES, room + 1);
    this.missing = { memories: memories.count > capacity, messages: messages.count > room };
    this.#beyond = {
      memories: this.missing.memories ? memories.last : -1,
      messages: this.missing.messages ? messages.last : -1,
    };
  }

  has(n: number): boolean {
    return n > this.#beyond[isMessage(n) ? "messages" : "memories"];
  }

  /** The `limit` documents of the highest cosine with the unit vector `query`, best first, of those allowed. */
  nearest(query: Float32Array, limit: number, allowed: (n: number) => boolean): Scored[] {
    const slice = new VectorTable(this.#space.dimensions, SLICE, this.#space.kernel);
    let best: Scored[] = [];
    for (const vectors of this.#slices()) {
      slice.clear();
      for (const { n, vector } of vectors) slice.set(n, vector);
      best = nearestOf([...best, ...slice.nearest(query, limit, allowed)], limit);
    }
    return best;
  }

  *#slices(): Generator<StoredVector[]> {
    for (const range of [MEMORIES, MESSAGES])
      for (const { vectors } of this.#rows.blocks(range, this.#space.model)) {
        const within = vectors.filter(({ n }) => this.has(n));
        if (within.length > 0) yield within;
        if (within.length < vectors.length) return;
      }
  }
}

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
