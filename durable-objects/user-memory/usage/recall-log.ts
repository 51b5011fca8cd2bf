import { v7 as uuidv7 } from "uuid";
import { fail, invalidField, ok, type Result } from "../../../src/domain/errors.ts";
import { isUsedLikely, wordHashes } from "../../../src/domain/usage/used-likely.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { searchedText } from "../../../src/domain/memory/search-text.ts";
import type { MemoryUsage, Outcome, OutcomeBody } from "../../../src/domain/schema/usage.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { Chore } from "../../storage/chores.ts";
import type { Transactions } from "../core/transactions.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { Counts, ServedRecall, UsageStore } from "./usage-store.ts";

type RecallLogDependencies = {
  store: UsageStore;
  table: Pick<MemoryTable, "versions">;
  transactions: Transactions;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Recalls are stored together after this time. A crash before loses their counts. */
const STORE_AFTER_MS = 5_000;
/** Recalls in memory at most: many more are stored at once. */
const MOST = 100;
/** The time that an outcome can be told; then the recall is a number in the counters of its memories. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Counts which memories recalls and contexts show, and which of them were used. A recall writes nothing while it is answered. */
export class RecallLog implements Chore {
  readonly #deps: RecallLogDependencies;
  readonly #served = new Map<string, ServedRecall>();

  constructor(deps: RecallLogDependencies) {
    this.#deps = deps;
  }

  /** Notes the memories that an answer shows. Returns the id of the recall; undefined if there are none. */
  note(
    owner: UserHash,
    { memories, injected, query }: { memories: readonly string[]; injected: boolean; query: string },
  ): string | undefined {
    if (memories.length === 0) return undefined;
    const { alarms, now } = this.#deps;
    const at = now();
    const id = `${owner}.${uuidv7({ msecs: at })}`;
    const ids = [...new Set(memories)];
    this.#served.set(id, { id, at, memories: ids, injected, query: wordHashes(query) });
    // After the answer: an alarm is a write, which would hold it up.
    setTimeout(() => {
      if (this.#served.size >= MOST) this.#store();
      else if (this.#served.size > 0) alarms.scheduleBy(at + STORE_AFTER_MS);
    });
    return id;
  }

  /** Counts what was used of a recall, once. Memories that were forgotten since count no more. */
  outcome(id: string, { used, answer = "" }: OutcomeBody): Result<Outcome> {
    const { store, transactions, now } = this.#deps;
    const recall = this.#served.get(id) ?? store.find(id, timeOf(id));
    if (recall === null || recall.at < now() - KEPT_MS) return fail("not_found");
    const unknown = used?.findIndex((one) => !recall.memories.includes(one)) ?? -1;
    if (unknown >= 0) return invalidField(`body.used[${unknown}]`, "is no memory of this recall");
    const outcome: Outcome =
      used === undefined
        ? {
            used: [],
            usedLikely: recall.memories.filter((one) => this.#isUsedLikely(one, answer, recall.query)),
          }
        : { used: [...new Set(used)], usedLikely: [] };
    if (recall.done === true) return ok(outcome);
    transactions.atomically(() => {
      this.#store();
      const usedAt = now();
      const counts = new Map<string, Counts>();
      for (const one of outcome.used) counts.set(one, { used: 1, usedAt });
      for (const one of outcome.usedLikely) counts.set(one, { usedLikely: 1, usedAt });
      store.count(counts);
      store.markDone(recall);
    });
    return ok(outcome);
  }

  /** The counters of memories, in the order of their ids. */
  list({ after, limit, unusedDays }: { after?: string; limit: number; unusedDays?: number }): MemoryUsage[] {
    const { store, transactions, now } = this.#deps;
    transactions.atomically(() => this.#store());
    const until = now();
    const page = { after: after ?? "", limit };
    return unusedDays === undefined
      ? store.list(page)
      : store.unused({ ...page, since: until - unusedDays * DAY_MS, now: until });
  }

  /** Stores the recalls in memory. */
  run(): void {
    this.#deps.transactions.atomically(() => this.#store());
  }

  nextDue(now: number): number | null {
    return this.#served.size > 0 ? now + STORE_AFTER_MS : null;
  }

  /** An erasure has removed all of it. */
  erased(): void {
    this.#served.clear();
  }

  /** Adds recalls of a day ago to the counters at the same time, so that no alarm is needed for that. */
  #store(): void {
    if (this.#served.size === 0) return;
    const { store, now } = this.#deps;
    store.fold(now() - KEPT_MS);
    store.add([...this.#served.values()]);
    this.#served.clear();
  }

  #isUsedLikely(id: string, answer: string, query: readonly number[]): boolean {
    const current = this.#deps.table.versions(id).findLast(({ correctedAt }) => correctedAt === null);
    return current !== undefined && isUsedLikely(searchedText(current), answer, query);
  }
}

/** The time in an id: its uuid begins with the milliseconds since the epoch. */
const timeOf = (id: string): number =>
  Number.parseInt(
    id
      .slice(id.indexOf(".") + 1)
      .replace("-", "")
      .slice(0, 12),
    16,
  );
