import { TombstoneRanges } from "../core/tombstone-ranges.ts";
import type { MessageStore } from "./message-store.ts";
import type { PositionRange } from "../core/position.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { Transactions } from "../core/transactions.ts";
import { turn } from "../../../src/platform/turn.ts";

/** Counts what an erasure has removed. */
type Counter = { count(erasure: string, store: "object", erased: { messages: number }): void };
type MessagePurgerDependencies = {
  sql: SqlStorage;
  messages: MessageStore;
  index: SearchIndex;
  transactions: Transactions;
  erasures: Counter;
};

/** Messages that one transaction removes, with all that is kept of each: some 40 ms, for which other calls wait. */
const SLICE = 1000;
/** Slices that one alarm takes. */
const SLICES = 10;

/**
 * Removes the messages of deleted threads with their documents, vectors and words, some at a time: a million at once would
 * hold up the user's next call for half a minute, and take more memory than an isolate has. Tombstones hide them meanwhile.
 */
export class MessagePurger {
  readonly #deps: MessagePurgerDependencies;
  readonly #tombstones: TombstoneRanges;

  constructor(deps: MessagePurgerDependencies) {
    this.#deps = deps;
    this.#tombstones = new TombstoneRanges(deps.sql);
  }

  /** Hides these, and removes one slice of them: most threads have no more. Call it in a transaction. */
  purge(ranges: readonly PositionRange[], erasure: string | null): void {
    let room = SLICE;
    for (const range of ranges) {
      const noted = this.#tombstones.add(range, erasure);
      if (noted !== null && room > 0) room -= this.#removeSome(noted, room);
    }
  }

  /** Begins no transaction if there is nothing to remove: each sets the alarm again for a webhook that lacks a change. */
  async run(): Promise<void> {
    for (let slice = 0; slice < SLICES; slice++) {
      const next = this.#tombstones.next();
      if (next === null) return;
      this.#deps.transactions.atomically(() => this.#slice(next));
      await turn();
    }
  }

  nextDue(now: number): number | null {
    return this.#tombstones.next() === null ? null : now;
  }

  /** True if all messages that an erasure hid are removed, and read back as gone. */
  isDone(erasure: string): boolean {
    return !this.#tombstones.isAwaitedBy(erasure);
  }

  #slice({ range, erasure }: NonNullable<ReturnType<TombstoneRanges["next"]>>): void {
    const messages = this.#removeSome(range, SLICE);
    if (erasure !== null) this.#deps.erasures.count(erasure, "object", { messages });
  }

  /** Returns how many messages it removed. Drops the tombstone of a range that reads as empty. */
  #removeSome([first, last]: PositionRange, most: number): number {
    const { messages, index } = this.#deps;
    const before = messages.deleted;
    const some: PositionRange = [first, messages.nth(most, [first, last]) ?? last];
    messages.delete(some);
    index.removeRanges([some]);
    if (!messages.holds([first, last]) && !index.holds([first, last])) this.#tombstones.remove([first, last]);
    return messages.deleted - before;
  }
}
