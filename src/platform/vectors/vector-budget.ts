/** Vectors in memory that are in storage too: they can be dropped at any moment. */
export interface DroppableVectors {
  readonly bytes: number;
  drop(): void;
}

/** Vectors that were used within this time stay, so that large users who take turns do not load theirs each time. */
const KEEP_MS = 60_000;

/**
 * What the vectors of all objects of an isolate take in memory, and the most that they may. The least recently used are
 * dropped first. Vectors of an object that is gone count until they are dropped: nothing tells when they are collected.
 */
export class VectorBudget {
  readonly bytes: number;
  /** The least recently used first. */
  readonly #held = new Map<DroppableVectors, { owner: string; usedAt: number }>();

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  get heldBytes(): number {
    return sumOf(this.#held.keys());
  }

  /** Drops others to make room for so many bytes more. False, and drops nothing, where that is not to be had. */
  makeRoom(bytes: number, now: number): boolean {
    const missing = this.heldBytes + bytes - this.bytes;
    if (missing <= 0) return true;
    // By the distance: clocks are set back.
    const idle = [...this.#held].filter(([, { usedAt }]) => Math.abs(now - usedAt) >= KEEP_MS);
    if (sumOf(idle.map(([vectors]) => vectors)) < missing) return false;
    let freed = 0;
    for (const [vectors] of idle) {
      if (freed >= missing) break;
      freed += vectors.bytes;
      this.release(vectors);
    }
    return true;
  }

  /** Counts vectors of an object, for which there is room, as the most recently used. */
  hold(vectors: DroppableVectors, { owner, now }: { owner: string; now: number }): void {
    this.#held.delete(vectors);
    this.#held.set(vectors, { owner, usedAt: now });
  }

  release(vectors: DroppableVectors): void {
    if (this.#held.delete(vectors)) vectors.drop();
  }

  /** Drops all vectors of an object: those of the one before, when it begins anew. */
  releaseAll(owner: string): void {
    for (const [vectors, held] of this.#held) if (held.owner === owner) this.release(vectors);
  }
}

function sumOf(all: Iterable<DroppableVectors>): number {
  let sum = 0;
  for (const { bytes } of all) sum += bytes;
  return sum;
}
