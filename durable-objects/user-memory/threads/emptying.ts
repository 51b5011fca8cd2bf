import { LeavingRanges } from "../core/leaving-ranges.ts";
import type { MessageStore } from "./message-store.ts";
import type { PositionRange } from "../core/position.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { Transactions } from "../core/transactions.ts";

/** Counts what an erasure has removed. */
type Counter = { count(erasure: string, store: "object", erased: { messages: number }): void };
type Parts = {
  sql: SqlStorage;
  messages: MessageStore;
  index: SearchIndex;
  transactions: Transactions;
  erasures: Counter;
  now: () => number;
};

/** Messages that one transaction removes, with all that is kept of each: some 40 ms. */
const SLICE = 1000;
/** Slices that one alarm takes. */
const SLICES = 10;
const RETRY_AFTER_MS = 5_000;

/**
 * Removes the messages of threads that are gone, with their documents, vectors and words, some at a time: a million at once
 * would hold up the user's next call for half a minute, and take more memory than an isolate has. Nothing of them is read
 * meanwhile (leaving-ranges.ts).
 */
export class Emptying {
  readonly #parts: Parts;
  readonly #leaving: LeavingRanges;
  #retryAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#leaving = new LeavingRanges(parts.sql);
  }

  /** Takes these out of sight, and removes as many as a slice holds: most threads are gone with that. In a transaction. */
  begin(ranges: readonly PositionRange[], erasure: string | null): void {
    let room = SLICE;
    for (const range of ranges) {
      const noted = this.#leaving.add(range, erasure);
      if (noted !== null && room > 0) room -= this.#removeSome(noted, room);
    }
  }

  /** Goes on, for the alarm. */
  alarm(): void {
    try {
      for (let slice = 0; slice < SLICES; slice++)
        if (!this.#parts.transactions.atomically(() => this.#slice())) break;
      this.#retryAt = 0;
    } catch (error) {
      console.error({ message: "messages of a thread that is gone were not removed", error: String(error) });
      this.#retryAt = this.#parts.now() + RETRY_AFTER_MS;
    }
  }

  /** When there is more to remove; null if there is nothing. */
  nextDue(): number | null {
    return this.#leaving.next() === null ? null : Math.max(this.#parts.now(), this.#retryAt);
  }

  /** Whether all that an erasure took out of sight was removed, and read back as gone. */
  isDone(erasure: string): boolean {
    return !this.#leaving.isAwaitedBy(erasure);
  }

  /** Answers whether there was anything. */
  #slice(): boolean {
    const next = this.#leaving.next();
    if (next === null) return false;
    const messages = this.#removeSome(next.range, SLICE);
    if (next.erasure !== null) this.#parts.erasures.count(next.erasure, "object", { messages });
    return true;
  }

  /** Answers how many messages. What reads as empty leaves no more. */
  #removeSome([first, last]: PositionRange, most: number): number {
    const { messages, index } = this.#parts;
    const before = messages.deleted;
    const some: PositionRange = [first, messages.nth(most, [first, last]) ?? last];
    messages.delete(some);
    index.removeRanges([some]);
    if (!messages.holds([first, last]) && !index.holds([first, last])) this.#leaving.remove([first, last]);
    return messages.deleted - before;
  }
}
