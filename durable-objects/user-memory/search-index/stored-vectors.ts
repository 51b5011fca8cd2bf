import type { Quantised } from "../../../src/platform/vectors/int8.ts";
import { type Scored, VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { inOrder, type Missing } from "./vector-cache.ts";
import { MEMORIES, MESSAGES, type PositionRange } from "../core/position.ts";

export type StoredVector = { n: number; vector: Quantised };
export type VectorRow = { n: number; scale: number; data: ArrayBuffer };

/** Vectors that one statement reads: 0.5 MB of 1,024 dimensions. */
const SLICE = 512;

/**
 * The vectors of one model in storage, up to the cache's capacity and in its order: memories first, then messages, the newest
 * of each. A search reads them all, a slice at a time. Valid until a vector changes.
 */
export class StoredVectors {
  readonly size: number;
  readonly missing: Missing;
  readonly #sql: SqlStorage;
  readonly #space: { model: string; dimensions: number };
  /** The last document within the capacity; null if all are. */
  readonly #last: number | null;

  constructor(sql: SqlStorage, space: { model: string; dimensions: number }, capacity: number) {
    this.#sql = sql;
    this.#space = space;
    const memories = this.#count(MEMORIES, capacity + 1);
    const room = Math.max(0, capacity - memories);
    const messages = this.#count(MESSAGES, room + 1);
    this.size = Math.min(capacity, memories + messages);
    this.missing = { memories: memories > capacity, messages: messages > room };
    if (this.missing.memories) this.#last = this.#nth(MEMORIES, capacity);
    // 0 comes after all memories and before all messages.
    else if (this.missing.messages) this.#last = room === 0 ? 0 : this.#nth(MESSAGES, room);
    else this.#last = null;
  }

  has(n: number): boolean {
    return this.#last === null || inOrder(n, this.#last) <= 0;
  }

  /** The `limit` documents of the highest cosine with the unit vector `query`, best first, of those allowed. */
  nearest(query: Float32Array, limit: number, allowed: (n: number) => boolean): Scored[] {
    const slice = new VectorTable(this.#space.dimensions, SLICE, SLICE);
    let best: Scored[] = [];
    for (const vectors of this.slices()) {
      slice.clear();
      for (const { n, vector } of vectors) slice.set(n, vector);
      best = [...best, ...slice.nearest(query, limit, allowed)]
        .toSorted((a, b) => b.score - a.score || b.n - a.n)
        .slice(0, limit);
    }
    return best;
  }

  /** Reads each statement to its end, so that none is open when a table is renamed. */
  *slices(): Generator<StoredVector[]> {
    let left = this.size;
    for (const [from, to] of [MEMORIES, MESSAGES])
      for (let last = to + 1; left > 0;) {
        const rows = this.#sql
          .exec<VectorRow>(
            `SELECT n, scale, data FROM vectors INDEXED BY vectors_by_model
             WHERE model = ? AND n >= ? AND n < ? ORDER BY n DESC LIMIT ?`,
            this.#space.model,
            from,
            last,
            Math.min(SLICE, left),
          )
          .toArray();
        const [final] = rows.slice(-1);
        if (final === undefined) break;
        yield rows.map(({ n, scale, data }) => ({ n, vector: { data: new Int8Array(data), scale } }));
        left -= rows.length;
        last = final.n;
      }
  }

  #count([from, to]: PositionRange, most: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT COUNT(*) AS n FROM (SELECT 1 FROM vectors INDEXED BY vectors_by_model
         WHERE model = ? AND n BETWEEN ? AND ? LIMIT ?)`,
        this.#space.model,
        from,
        to,
        most,
      )
      .one().n;
  }

  #nth([from, to]: PositionRange, nth: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT n FROM vectors INDEXED BY vectors_by_model
         WHERE model = ? AND n BETWEEN ? AND ? ORDER BY n DESC LIMIT 1 OFFSET ?`,
        this.#space.model,
        from,
        to,
        nth - 1,
      )
      .one().n;
  }
}
