import type { Kernel } from "../../../src/platform/vectors/kernel/kernel.ts";
import { type Scored, VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { inOrder, type Missing } from "./vector-cache.ts";
import { MEMORIES, MESSAGES } from "../core/position.ts";
import type { StoredVector, VectorRows } from "./vector-rows.ts";

/** Room of the table that a search fills again and again. */
const SLICE = 512;

type Space = { model: string; dimensions: number; kernel: Kernel };

/**
 * The vectors of one model in storage, up to the cache's capacity and in its order: memories first, then messages, the newest
 * of each. A search reads them all, a slice at a time. Valid until a vector changes.
 */
export class StoredVectors {
  readonly size: number;
  readonly missing: Missing;
  readonly #rows: VectorRows;
  readonly #space: Space;
  /** The last document within the capacity; null if all are. */
  readonly #last: number | null;

  constructor(rows: VectorRows, space: Space, capacity: number) {
    this.#rows = rows;
    this.#space = space;
    const memories = rows.count(space.model, MEMORIES, capacity + 1);
    const room = Math.max(0, capacity - memories);
    const messages = rows.count(space.model, MESSAGES, room + 1);
    this.size = Math.min(capacity, memories + messages);
    this.missing = { memories: memories > capacity, messages: messages > room };
    if (this.missing.memories) this.#last = rows.nth(space.model, MEMORIES, capacity);
    // 0 comes after all memories and before all messages.
    else if (this.missing.messages) this.#last = room === 0 ? 0 : rows.nth(space.model, MESSAGES, room);
    else this.#last = null;
  }

  has(n: number): boolean {
    return this.#last === null || inOrder(n, this.#last) <= 0;
  }

  /** The `limit` documents of the highest cosine with the unit vector `query`, best first, of those allowed. */
  nearest(query: Float32Array, limit: number, allowed: (n: number) => boolean): Scored[] {
    const slice = new VectorTable(this.#space.dimensions, SLICE, this.#space.kernel);
    let best: Scored[] = [];
    for (const vectors of this.#slices()) {
      slice.clear();
      for (const { n, vector } of vectors) slice.set(n, vector);
      best = [...best, ...slice.nearest(query, limit, allowed)]
        .toSorted((a, b) => b.score - a.score || b.n - a.n)
        .slice(0, limit);
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
