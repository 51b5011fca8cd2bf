import type { Quantised } from "../../../src/platform/vectors/int8.ts";
import type { DroppableVectors } from "../../../src/platform/vectors/vector-budget.ts";
import type { CodeTable } from "../../../src/platform/vectors/code-table.ts";
import type { VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { isMessage } from "../core/position.ts";

/** Share of the vectors that is evicted at once, as finding the last ones sorts them all. */
const EVICTED_AT_ONCE = 0.02;
/** A cache that is incomplete is loaded again once it has shrunk to this share of its capacity. */
const ROOMY = 0.9;

/** True if vectors of some memories, and of some messages, are left out. */
export type Missing = { memories: boolean; messages: boolean };

/** The vectors of one model, or their codes where the budget has no room for more. */
export type CachedTable = VectorTable | CodeTable;

/** The vectors, or the codes, of one model in memory, up to a capacity: memories first, then messages, the newest of each. */
export class VectorCache implements DroppableVectors {
  readonly missing: Missing = { memories: false, messages: false };
  readonly table: CachedTable;
  readonly drop: () => void;

  /** `drop`: forgets the cache, for the budget. */
  constructor(table: CachedTable, drop: () => void) {
    this.table = table;
    this.drop = drop;
  }

  get bytes(): number {
    return this.table.bytes;
  }

  get isComplete(): boolean {
    return !this.missing.memories && !this.missing.messages;
  }

  /** True if loading again would cache more. */
  get isStale(): boolean {
    return !this.isComplete && this.table.size < this.table.capacity * ROOMY;
  }

  /** A full table evicts the last in the order above; a vector that comes after these itself is left out. */
  put(n: number, vector: Quantised): void {
    const { table } = this;
    if (table.set(n, vector)) return;
    const last = [...table.documents].toSorted(inOrder).slice(-Math.ceil(table.capacity * EVICTED_AT_ONCE));
    if (inOrder(n, last[0] ?? n) > 0) return this.leaveOut(n);
    for (const one of last) {
      table.delete(one);
      this.leaveOut(one);
    }
    table.set(n, vector);
  }

  /** Notes that the vector of a document is not cached. */
  leaveOut(n: number): void {
    this.missing[isMessage(n) ? "messages" : "memories"] = true;
  }
}

/** Compares two documents: the one that is cached first comes first. */
const inOrder = (a: number, b: number): number => Number(isMessage(a)) - Number(isMessage(b)) || b - a;
