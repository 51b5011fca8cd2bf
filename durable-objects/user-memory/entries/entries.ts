import type { Precondition } from "../../../src/domain/conditions.ts";
import { type Detail, fail, ok, type Result } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { WrittenEntry } from "../../../src/domain/schema/entry.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { entriesJson } from "../../../src/domain/page-json.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Transactions } from "../core/transactions.ts";
import { embeddedAtOnce, type ThreadMessages } from "../threads/thread-messages.ts";
import type { Entry, EntryPage, EntryWrite, IdempotencyKey } from "../../../src/contract/storage.ts";
import type { EntryOperation, EntryResult, ListedEntries } from "../../../src/contract/user-memory.ts";

type EntriesDependencies = {
  entries: EntryStore;
  messages: Pick<ThreadMessages, "append" | "last">;
  transactions: Transactions;
  quota: QuotaGuard;
  alarms: AlarmScheduler;
  now: () => number;
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
    const { entries, transactions, alarms, now } = this.#deps;
    const time = now();
    const threads = new Set(operations.flatMap((one) => (one.op === "append" ? one.threadId : [])));
    if (once !== undefined && operations.some(({ op }) => op === "get" || op === "messages"))
      return noKey("that reads");
    if (once !== undefined && threads.size > 1) return noKey("that appends to more than one thread");
    // The stored answer goes with its thread.
    const [about] = threads;
    const key = once && about !== undefined ? { ...once, about } : once;
    const perform = () => this.#performAll(operations, time);
    const grows = operations.some(({ op }) => op === "set");
    const done = grows ? this.#withinQuota(key, perform) : transactions.run(key, perform);
    alarms.scheduleBy(entries.expirySweep.nextDue(time));
    return done;
  }

  /** A failure names its operation; the caller then rolls all of them back. */
  #performAll(operations: readonly EntryOperation[], now: number): Result<EntryResult[]> {
    const atOnce = embeddedAtOnce();
    const results: EntryResult[] = [];
    let bytes = 0;
    for (const [i, operation] of operations.entries()) {
      const at = (message: string): Detail[] => [{ path: `body.operations[${i}]`, message }];
      const result = this.#perform(operation, now, atOnce);
      if (!result.ok) return { ...result, details: at("failed; no operation of the batch was performed") };
      bytes += bytesOf(result.value);
      if (bytes > limits.batchBytes)
        return fail("batch_too_large", { details: at("is the first whose answer did not fit") });
      results.push(result.value);
    }
    return ok(results);
  }

  #perform(operation: EntryOperation, now: number, atOnce: { characters: number }): Result<EntryResult> {
    const { entries, messages } = this.#deps;
    switch (operation.op) {
      case "messages":
        return ok({ last: messages.last(operation.threadId, operation.limit) });
      case "append": {
        const { op: _op, threadId, ...append } = operation;
        const appended = messages.append(threadId, append, undefined, atOnce);
        return appended.ok ? ok({ appended: appended.value }) : appended;
      }
      case "get":
        return ok({ entry: entries.get(operation.key, now) });
      case "set":
        return entries.set(operation, now);
      default: {
        const deleted = entries.delete(operation.key, operation.condition, now);
        return deleted.ok ? ok({ deleted: deleted.value }) : deleted;
      }
    }
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

function bytesOf(result: EntryResult): number {
  if ("entry" in result) return result.entry?.value.byteLength ?? 0;
  return "last" in result ? (result.last?.json.byteLength ?? 0) : 0;
}

const noKey = (of: string) =>
  fail("invalid_request", {
    details: [{ path: "header.Idempotency-Key", message: `is not allowed for a batch ${of}` }],
  });
