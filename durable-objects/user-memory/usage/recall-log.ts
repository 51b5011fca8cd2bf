import type { Erasable, ErasedData } from "../core/erasable.ts";
import { v7 as uuidv7 } from "uuid";
import { fail, invalidField, ok, type Result } from "../../../src/domain/errors.ts";
import { packed, unpacked } from "../../../src/domain/usage/shown-memories.ts";
import { usedLikelyBy, wordHashes } from "../../../src/domain/usage/used-likely.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { searchedText } from "../../../src/domain/memory/search-text.ts";
import type { MemoryUsage, Outcome, OutcomeBody } from "../../../src/domain/schema/usage.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { Joined, Transactions } from "../core/transactions.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import { type Counts, OUTCOME_MS, type ServedRecall, timeOf, type UsageStore } from "./usage-store.ts";

type RecallLogDependencies = {
  store: UsageStore;
  table: Pick<MemoryTable, "versions" | "numbered" | "has">;
  erasureEpoch: Pick<ErasureEpoch, "erasedUpTo">;
  transactions: Transactions;
  now: () => number;
};
/** The form of a memory's id. */
const isMemoryId = (id: string): boolean => /^[\w-]{16,64}$/.test(id);

/** Recalls in memory at most: the next one stores them, or drops the oldest if nothing can be written. */
const MOST = 100;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Counts which memories recalls and contexts show, and which of them were used. A recall sets no alarm and writes no row: the next
 * append takes it along in its thread's row, and another write stores it in the log; behind 100 without one, the next recall does.
 * Its id carries what it showed, so an outcome counts after an eviction too.
 */
export class RecallLog implements Erasable {
  readonly #deps: RecallLogDependencies;
  #served = new Map<string, ServedRecall>();

  constructor(deps: RecallLogDependencies) {
    this.#deps = deps;
  }

  /** Notes the memories that an answer shows. Returns the id of the recall; undefined if there are none. */
  note(
    owner: UserHash,
    {
      memories,
      injected,
      query,
    }: { memories: readonly { id: string; version: number }[]; injected: boolean; query: string },
  ): string | undefined {
    if (memories.length === 0) return undefined;
    const versions = [...new Map(memories.map(({ id, version }) => [id, version])).values()];
    const id = uuidv7({ msecs: this.#deps.now() });
    if (this.#served.size >= MOST) this.#makeRoom();
    this.#served.set(id, { id, versions, ...(injected && { injected }) });
    return `${owner}.${id}.${packed({ versions, injected, query: wordHashes(query) })}`;
  }

  /**
   * Counts what was used of a recall, once; and the recall itself, if the object was evicted before it was stored. Memories that
   * were forgotten since count no more. `recallId`: as `note` returned it.
   */
  outcome(recallId: string, { used, answer = "" }: OutcomeBody): Result<Outcome> {
    const { store, table, erasureEpoch, now } = this.#deps;
    const [, id = "", carried = ""] = recallId.split(".");
    const [shown, recalledAt] = [unpacked(carried), timeOf(id)];
    const { erasedUpTo } = erasureEpoch;
    if (
      shown === null ||
      recalledAt < now() - OUTCOME_MS ||
      shown.versions.every((version) => version <= erasedUpTo)
    )
      return fail("not_found");
    const rows = table.numbered(shown.versions).toSorted((a, b) => a.version - b.version);
    const memories = [...new Set(rows.map((row) => row.id))];
    // The ids of forgotten memories are not in the recall's any more: there may be so many others.
    const others = [...new Set(used)].filter((one) => !memories.includes(one));
    const isForgotten = (one: string) =>
      others.indexOf(one) < shown.versions.length - memories.length && isMemoryId(one) && !table.has(one);
    const unknown = used?.findIndex((one) => !memories.includes(one) && !isForgotten(one)) ?? -1;
    if (unknown >= 0) return invalidField(`body.used[${unknown}]`, "is no memory of this recall");
    const outcome: Outcome =
      used === undefined
        ? { used: [], usedLikely: this.#usedLikely(memories, usedLikelyBy(answer, shown.query)) }
        : { used: [...new Set(used)], usedLikely: [] };
    const waiting = this.#served.get(id);
    const stored = waiting === undefined ? store.has(id) : false;
    if (stored === "done") return ok(outcome);
    const at = now();
    const counts = new Map<string, Counts>([
      ...outcome.used
        .filter((one) => memories.includes(one))
        .map((one) => [one, [0, 0, 1, 0, 0, at]] as const),
      ...outcome.usedLikely.map((one) => [one, [0, 0, 0, 1, 0, at]] as const),
    ]);
    // A stored recall is counted already: its second entry only says that it is done.
    const versions = stored ? [] : shown.versions;
    const injected = shown.injected && ({ injected: true } as const);
    const done = { ...(waiting ?? { id, versions, ...injected }), done: true } as const;
    this.#deps.transactions.atomically(() => this.#store(new Map(this.#served).set(id, done), counts));
    return ok(outcome);
  }

  /** The counters of memories, in the order of their ids. */
  list({ after, limit, unusedDays }: { after?: string; limit: number; unusedDays?: number }): MemoryUsage[] {
    const { store, now } = this.#deps;
    const until = now();
    const unused =
      unusedDays === undefined ? {} : { unused: { since: until - unusedDays * DAY_MS, now: until } };
    return store.list({ after: after ?? "", limit, ...unused }, [...this.#served.values()]);
  }

  /** The log of a thread's row that is about to be written, with the recalls that wait; null if it stays as it is. */
  intoThread(thread: number): string | null {
    const { store, now } = this.#deps;
    if (this.#served.size === 0) return null;
    const log = store.withinThread(thread, [...this.#served.values()], now());
    // A new one, as the transaction may be undone.
    if (log !== null) this.#served = new Map();
    return log;
  }

  /** At the beginning of a transaction. The recalls in memory are stored at its end, if it writes anything. */
  joins(): Joined | null {
    if (this.#served.size === 0) return null;
    const { store } = this.#deps;
    const [served, before] = [this.#served, store.changes()];
    return {
      end: () => {
        if (store.changes() > before) this.#store();
      },
      undone: () => {
        this.#served = served;
      },
    };
  }

  /** An erasure of the user has removed all of it. */
  erase({ what }: ErasedData): void {
    if (what === "user") this.#served = new Map();
  }

  /** Reading goes on where nothing can be written: an answer does not depend on its own count. */
  #makeRoom(): void {
    try {
      this.#deps.transactions.atomically(() => this.#store());
    } catch (error) {
      console.error({ message: "recalls were not stored", error: String(error) });
      const oldest = this.#served.keys().next().value;
      if (oldest !== undefined) this.#served.delete(oldest);
    }
  }

  #store(served = this.#served, counts?: ReadonlyMap<string, Counts>): void {
    if (served.size === 0) return;
    const { store, now } = this.#deps;
    store.add({ recalls: [...served.values()], ...(counts && { counts }) }, now());
    // A new one, as the transaction may be undone.
    this.#served = new Map();
  }

  #usedLikely(memories: readonly string[], isUsed: (memory: string) => boolean): string[] {
    return memories.filter((id) => {
      const current = this.#deps.table.versions(id).findLast(({ correctedAt }) => correctedAt === null);
      return current !== undefined && isUsed(searchedText(current));
    });
  }
}
