/** Vectors in memory that storage has too, so they can be dropped at any time. */
export interface DroppableVectors {
  readonly bytes: number;
  drop(): void;
}

/** Vectors used within this time stay, so that large users in turn do not load theirs each time. */
const KEEP_MS = 60_000;

/**
 * The bytes of the vectors of all objects of an isolate, and their limit. The least recently used are dropped first.
 * Vectors of a deleted object count until they are dropped: nothing reports their collection.
 */
export class VectorBudget {
  #bytes: number;
  /** The least recently used first. */
  readonly #holders = new Map<DroppableVectors, { owner: string; usedAt: number }>();

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** For good. Vectors beyond the new limit are dropped as room for others is made. */
  lowerTo(bytes: number): void {
    this.#bytes = Math.min(this.#bytes, bytes);
  }

  get heldBytes(): number {
    return sumOf(this.#holders.keys());
  }

  /** True if `makeRoom` would succeed. */
  hasRoom(bytes: number, now: number): boolean {
    return this.heldBytes + bytes - this.bytes <= sumOf(this.#idle(now));
  }

  /** Drops others to make room for so many more bytes. Returns false, and drops nothing, if that is impossible. */
  makeRoom(bytes: number, now: number): boolean {
    const missing = this.heldBytes + bytes - this.bytes;
    if (missing <= 0) return true;
    if (!this.hasRoom(bytes, now)) return false;
    let freed = 0;
    for (const vectors of this.#idle(now)) {
      if (freed >= missing) break;
      freed += vectors.bytes;
      this.release(vectors);
    }
    return true;
  }

  #idle(now: number): DroppableVectors[] {
    // The absolute distance, as clocks may be set back.
    return [...this.#holders].flatMap(([vectors, { usedAt }]) =>
      Math.abs(now - usedAt) >= KEEP_MS ? [vectors] : [],
    );
  }

  /** Counts vectors of an object, which must fit, as the most recently used. */
  hold(vectors: DroppableVectors, { owner, now }: { owner: string; now: number }): void {
    this.#holders.delete(vectors);
    this.#holders.set(vectors, { owner, usedAt: now });
  }

  release(vectors: DroppableVectors): void {
    if (this.#holders.delete(vectors)) vectors.drop();
  }

  /** Drops all vectors of an object, those of its former instance too. */
  releaseAll(owner: string): void {
    for (const [vectors, holder] of this.#holders) if (holder.owner === owner) this.release(vectors);
  }
}

function sumOf(all: Iterable<DroppableVectors>): number {
  let sum = 0;
  for (const { bytes } of all) sum += bytes;
  return sum;
}
