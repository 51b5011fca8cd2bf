import type { Quantised } from "../../src/vectors/int8.ts";
import { VectorTable } from "../../src/vectors/vector-table.ts";
import { FIRST_POSITION } from "./position.ts";

/** What makes room, as a share of all that is held: to look for the last of them costs a look at each. */
const MADE_AT_ONCE = 0.02;
/** A table that has become this much smaller than its room can take in what there was no room for. */
const ROOMY = 0.9;

/** The vectors of one model that memory has room for: memories first, then messages, the newest of each. */
export class HeldVectors {
  readonly table: VectorTable;
  /** Whether there are memories, and messages, whose vectors are not held. */
  readonly missing = { memories: false, messages: false };

  /** `bytes`: what the vectors may take. */
  constructor(dimensions: number, bytes: number) {
    this.table = new VectorTable(dimensions, Math.max(1, Math.floor(bytes / dimensions)));
  }

  /** Whether all there are may be held, or more of them than are. */
  get isStale(): boolean {
    const { missing, table } = this;
    return (missing.memories || missing.messages) && table.size < table.capacity * ROOMY;
  }

  /** Where there is no room, the last in the order above make it; one that is behind these itself is not held. */
  put(n: number, vector: Quantised): void {
    const { table } = this;
    if (table.set(n, vector)) return;
    const last = table.documents.toSorted(order).slice(-Math.ceil(table.capacity * MADE_AT_ONCE));
    if (order(n, last[0] ?? n) > 0) return this.#misses(n);
    for (const one of last) {
      table.delete(one);
      this.#misses(one);
    }
    table.set(n, vector);
  }

  /** Takes in rows in their order, as far as there is room. Answers whether there was for all. */
  fill(rows: Iterable<{ n: number; vector: Quantised }>): boolean {
    for (const { n, vector } of rows)
      if (!this.table.set(n, vector)) {
        this.#misses(n);
        return false;
      }
    return true;
  }

  #misses(n: number): void {
    if (n < FIRST_POSITION) this.missing.memories = true;
    else this.missing.messages = true;
  }
}

/** Of two documents, the one that is sooner held comes first. */
const order = (a: number, b: number): number =>
  Number(a >= FIRST_POSITION) - Number(b >= FIRST_POSITION) || b - a;
