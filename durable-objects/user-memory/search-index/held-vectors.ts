import type { Quantised } from "../../../src/platform/vectors/int8.ts";
import type { DroppableVectors } from "../../../src/platform/vectors/vector-budget.ts";
import { VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { FIRST_POSITION } from "../core/position.ts";

/** What makes room, as a share of all that is held: to look for the last of them costs a look at each. */
const MADE_AT_ONCE = 0.02;
/** A table that has become this much smaller than its room can take in what there was no room for. */
const ROOMY = 0.9;

/** Says of memories and of messages whether vectors of some are left out. */
export type Missing = { memories: boolean; messages: boolean };

/** The vectors of one model that memory has room for: memories first, then messages, the newest of each. */
export class HeldVectors implements DroppableVectors {
  readonly missing: Missing;
  #table: VectorTable | null;

  constructor(table: VectorTable, missing: Missing) {
    this.#table = table;
    this.missing = { ...missing };
  }

  /** Null once it was dropped, for the sake of others. */
  get table(): VectorTable | null {
    return this.#table;
  }

  get bytes(): number {
    return this.#table?.bytes ?? 0;
  }

  drop(): void {
    this.#table = null;
  }

  /** Whether all there are may be held, or more of them than are. */
  isStale({ size, capacity }: VectorTable): boolean {
    return (this.missing.memories || this.missing.messages) && size < capacity * ROOMY;
  }

  /** Where there is no room, the last in the order above make it; one that is behind these itself is not held. */
  put(table: VectorTable, n: number, vector: Quantised): void {
    if (table.set(n, vector)) return;
    const last = table.documents.toSorted(inOrder).slice(-Math.ceil(table.capacity * MADE_AT_ONCE));
    if (inOrder(n, last[0] ?? n) > 0) return this.#misses(n);
    for (const one of last) {
      table.delete(one);
      this.#misses(one);
    }
    table.set(n, vector);
  }

  #misses(n: number): void {
    if (n < FIRST_POSITION) this.missing.memories = true;
    else this.missing.messages = true;
  }
}

/** Of two documents, the one that is sooner held comes first. */
export const inOrder = (a: number, b: number): number =>
  Number(a >= FIRST_POSITION) - Number(b >= FIRST_POSITION) || b - a;
