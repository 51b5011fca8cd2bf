import type { Precondition } from "../../../src/domain/conditions.ts";
import { fail, type Result } from "../../../src/domain/errors.ts";
import type { WrittenEntry } from "../../../src/domain/schema/entry.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { type BatchStores, performBatch } from "./entry-batch.ts";
import { entriesJson } from "../../../src/domain/page-json.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Transactions } from "../core/transactions.ts";
import type { Entry, EntryPage, EntryWrite, IdempotencyKey } from "../../../src/contract/storage.ts";
import type { EntryOperation, EntryResult, ListedEntries } from "../../../src/contract/user-memory.ts";

type EntriesDependencies = {
  entries: EntryStore;
  messages: BatchStores["messages"];
  transactions: Transactions;
  quota: QuotaGuard;
  alarms: AlarmScheduler;
  now: () => number;
};

const READ_ONCE = {
  details: [{ path: "header.Idempotency-Key", message: "is not allowed for a batch that reads" }],
};

const ONE_THREAD = {
  details: [
    {
      path: "header.Idempotency-Key",
      message: "is not allowed for a batch that appends to more than one thread",
    },
  ],
};

/** A user's entries, within the quotas; expired ones are swept. */
export class Entries {
  readonly #deps: EntriesDependencies;

  constructor(deps: EntriesDependencies) {
    this.#deps = deps;
  }

  get(key: string): Entry | null {
    return this.#deps.entries.get(key, this.#deps.now());
  }

  set(write: EntryWrite): Result<WrittenEntry> {
    const { entries, transactions, quota, alarms, now } = this.#deps;
    const time = now();
    const set = () => entries.set(write, time);
    const bounded = quota.bounds("entries", "bytes");
    const written = bounded
      ? this.#withinQuota(undefined, set)
      : (quota.storageFailure() ?? transactions.single(set));
    if (written.ok && written.value.expiresAt !== undefined)
      alarms.scheduleBy(entries.expirySweep.nextDue(time));
    return written;
  }

  delete(key: string, condition: Precondition): Result<boolean> {
    const { entries, transactions, now } = this.#deps;
    return transactions.single(() => entries.delete(key, condition, now()));
  }

  /** Returns how many live entries it deleted. */
  deletePrefix(prefix: string): number {
    const { entries, transactions, now } = this.#deps;
    return transactions.single(() => entries.deletePrefix(prefix, now()));
  }

  list(page: EntryPage, count: boolean): ListedEntries {
    const { entries, now } = this.#deps;
    const time = now();
    return {
      ...entriesJson(entries.list(page, time)),
      count: count ? entries.count(page.prefix, time) : null,
    };
  }

  /** All operations in order, or none of them. */
  batch(operations: readonly EntryOperation[], once?: IdempotencyKey): Result<EntryResult[]> {
    const { entries, messages, transactions, alarms, now } = this.#deps;
    const time = now();
    if (once !== undefined && operations.some(({ op }) => op === "get" || op === "messages"))
      return fail("invalid_request", READ_ONCE);
    const threads = new Set(operations.flatMap((one) => (one.op === "append" ? one.threadId : [])));
    if (once !== undefined && threads.size > 1) return fail("invalid_request", ONE_THREAD);
    // The kept answer goes with its thread.
    const [about] = threads;
    const kept = once && about !== undefined ? { ...once, about } : once;
    const perform = () => performBatch({ entries, messages }, operations, time);
    const grows = operations.some(({ op }) => op === "set");
    const done = grows ? this.#withinQuota(kept, perform) : transactions.run(kept, perform);
    alarms.scheduleBy(entries.expirySweep.nextDue(time));
    return done;
  }

  #withinQuota<T>(once: IdempotencyKey | undefined, act: () => Result<T>): Result<T> {
    const { entries, transactions, quota, now } = this.#deps;
    const grow = () => transactions.run(once, () => quota.withinQuota(["entries", "bytes"], act));
    const done = grow();
    if (done.ok || done.code !== "quota_entries") return done;
    // Expired entries count until they are swept.
    entries.expirySweep.sweepNow(now());
    return grow();
  }
}
