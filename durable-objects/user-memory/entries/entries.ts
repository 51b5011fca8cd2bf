import type { Condition } from "../../../src/domain/conditions.ts";
import { fail, type Result } from "../../../src/domain/errors.ts";
import type { WrittenEntry } from "../../../src/domain/schema/entry.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { WakeUp } from "../../storage/wake-up.ts";
import { performBatch } from "./entry-batch.ts";
import { entriesJson } from "../../../src/domain/page-json.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Transactions } from "../core/transactions.ts";
import type { Entry, EntryPage, EntryWrite, Once } from "../../storage/contract.ts";
import type { EntryOperation, EntryResult, ListedEntries } from "../contract.ts";

type Parts = {
  entries: EntryStore;
  transactions: Transactions;
  quota: QuotaGuard;
  wakeUp: WakeUp;
  now: () => number;
};

const READ_ONCE = {
  details: [{ path: "header.Idempotency-Key", message: "goes with a batch that only sets and deletes" }],
};

/** A user's entries, as many as the user may hold, gone when their time is over. */
export class Entries {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get(key: string): Entry | null {
    return this.#parts.entries.get(key, this.#parts.now());
  }

  set(write: EntryWrite): Result<WrittenEntry> {
    const { entries, quota, wakeUp, now } = this.#parts;
    const time = now();
    const set = () => entries.set(write, time);
    const bounded = quota.bounds("entries", "bytes");
    const written = bounded ? this.#growing(undefined, set) : (quota.refusesGrowth() ?? set());
    if (written.ok && written.value.expiresAt !== undefined) wakeUp.by(entries.nextSweep(time));
    return written;
  }

  delete(key: string, condition: Condition): Result<boolean> {
    return this.#parts.entries.delete(key, condition, this.#parts.now());
  }

  /** Answers how many live entries are gone. */
  deletePrefix(prefix: string): number {
    return this.#parts.entries.deletePrefix(prefix, this.#parts.now());
  }

  list(page: EntryPage, count: boolean): ListedEntries {
    const { entries, now } = this.#parts;
    const time = now();
    return {
      ...entriesJson(entries.list(page, time)),
      count: count ? entries.count(page.prefix, time) : null,
    };
  }

  /** All operations in order, or none of them. */
  batch(operations: readonly EntryOperation[], once?: Once): Result<EntryResult[]> {
    const { entries, transactions, wakeUp, now } = this.#parts;
    const time = now();
    if (once !== undefined && operations.some(({ op }) => op === "get"))
      return fail("invalid_request", READ_ONCE);
    const perform = () => performBatch(entries, operations, time);
    const grows = operations.some(({ op }) => op === "set");
    const done = grows ? this.#growing(once, perform) : transactions.run(once, perform);
    wakeUp.by(entries.nextSweep(time));
    return done;
  }

  /** Drops some of what has expired. */
  sweep(): void {
    this.#parts.entries.sweep(this.#parts.now());
  }

  /** When to sweep next, or null. */
  nextSweep(): number | null {
    return this.#parts.entries.nextSweep(this.#parts.now());
  }

  #growing<T>(once: Once | undefined, act: () => Result<T>): Result<T> {
    const { transactions, quota } = this.#parts;
    const grow = () => transactions.run(once, () => quota.growing(["entries", "bytes"], act));
    const done = grow();
    if (done.ok || done.code !== "quota_entries") return done;
    // What has expired counts until it is swept.
    this.sweep();
    return grow();
  }
}
