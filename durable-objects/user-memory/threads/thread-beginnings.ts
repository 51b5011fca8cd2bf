import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type { Resumed } from "../../../src/contract/user-memory.ts";
import type { ThreadOwner } from "../../../src/domain/memory/record.ts";
import type { CreateThreadBody, ForkBody, Thread } from "../../../src/domain/schema/thread.ts";
import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IdempotencyStore } from "../../storage/idempotency-store.ts";
import { CATALOGUE_WITHIN_MS, type OwnerRecord } from "../core/owner-record.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { RetentionStore } from "../core/retention-store.ts";
import type { Transactions } from "../core/transactions.ts";
import { hashOf, type ThreadListing } from "./thread-listing.ts";
import { type StoredThread, viewOf } from "./thread-row.ts";
import { changeThread, missing, retain, type ThreadStores } from "./thread-stores.ts";

/** A thread that is to begin. `refusal`: why it may not. */
type Beginning = { row: ThreadRow; once?: IdempotencyKey | undefined; refusal?: () => Failure | null };
type ThreadBeginningsDependencies = {
  stores: ThreadStores;
  answers: Pick<IdempotencyStore, "replay">;
  transactions: Transactions;
  listing: ThreadListing;
  quota: QuotaGuard;
  owner: OwnerRecord;
  retention: Pick<RetentionStore, "changed">;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Begins a user's threads: new ones, forks of others, and those that an import brings. */
export class ThreadBeginnings {
  readonly #deps: ThreadBeginningsDependencies;
  readonly #stores: ThreadStores;

  constructor(deps: ThreadBeginningsDependencies) {
    this.#deps = deps;
    this.#stores = deps.stores;
  }

  create(
    owner: ThreadOwner,
    id: string,
    { fields, once }: { fields: CreateThreadBody; once?: IdempotencyKey },
  ): Promise<Result<Thread>> {
    const { transactions, now } = this.#deps;
    const at = now();
    return this.#begin({ row: this.#deps.listing.newRow(owner, id, { fields, at }), once }, () =>
      transactions.run(once && { ...once, about: id }, () => this.#created(owner, id, { fields, at })),
    );
  }

  /**
   * Runs `act` in one transaction, which may begin the thread: all or nothing is stored. For a thread that begins with its first
   * messages.
   */
  beginWith<T>(
    owner: ThreadOwner,
    id: string,
    { fields, once }: { fields: CreateThreadBody; once?: IdempotencyKey },
    act: (begin: () => Result<StoredThread>) => Result<T>,
  ): Promise<Result<T>> {
    const at = this.#deps.now();
    const begin = (): Result<StoredThread> => {
      const created = this.#created(owner, id, { fields, at });
      if (!created.ok) return created;
      const thread = this.#stores.threads.get(id);
      return thread === null ? fail("internal") : ok(thread);
    };
    return this.#begin({ row: this.#deps.listing.newRow(owner, id, { fields, at }), once }, () =>
      this.#deps.transactions.run(once && { ...once, about: id }, () => act(begin)),
    );
  }

  /** The agent's latest thread, or a new one, in one step: many first calls at once make one thread. */
  resume(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Result<Resumed>> {
    const { transactions, now } = this.#deps;
    const at = now();
    const resumed = (): Result<Resumed> | null => {
      const latest = this.#stores.lists.latest(fields.agent ?? null);
      return latest && ok({ thread: this.#view(latest), created: false });
    };
    const known = resumed();
    if (known !== null) return Promise.resolve(known);
    return this.#begin<Resumed>({ row: this.#deps.listing.newRow(owner, id, { fields, at }) }, () =>
      transactions.run<Resumed>(undefined, () => {
        // Another call may have begun one meanwhile.
        const latest = resumed();
        if (latest !== null) return latest;
        const made = this.#created(owner, id, { fields, at });
        return made.ok ? ok({ thread: made.value, created: true }) : made;
      }),
    );
  }

  /** A new thread that shares the messages up to one of this thread's. */
  fork(
    id: string,
    forkId: string,
    { fields, once }: { fields: ForkBody; once?: IdempotencyKey },
  ): Promise<Result<Thread>> {
    const beganAt = this.#deps.now();
    const from = this.#stores.threads.get(id);
    // The fork is a thread of its own: the answer that a key holds outlives the thread.
    if (from === null)
      return Promise.resolve(this.#deps.answers.replay<Thread>(once, beganAt) ?? fail("not_found"));
    const { at: _at, ...own } = fields;
    const row = this.#deps.listing.newRow({ hash: hashOf(id), id: null }, forkId, {
      fields: { ...from, ...own },
      at: beganAt,
    });
    return this.#begin({ row, once, refusal: () => this.#forkRefusal(from, fields) }, () =>
      changeThread(this.#deps, { id, once: once && { ...once, about: forkId } }, (origin) => {
        const { at = this.#stores.reader.lastSeq(origin), ...given } = fields;
        const refusal = this.#forkRefusal(origin, fields);
        if (refusal !== null) return refusal;
        const length = this.#stores.lineage.count(origin, at);
        const shared = {
          parent: this.#stores.lineage.owner(origin, at),
          forkSeq: at,
          forkedFrom: id,
          length,
          speakers: origin.speakers,
        };
        return this.#withinQuota(() => {
          const fork = this.#stores.threads.create(
            forkId,
            { ...origin, ...given },
            { now: beganAt, fork: shared },
          );
          retain(this.#deps, fork);
          this.#stores.hidden.inherit(fork, origin);
          this.#stores.compactions.inherit(fork, origin);
          return this.#view(fork);
        });
      }),
    );
  }

  #forkRefusal(origin: StoredThread, { at = 0 }: ForkBody): Failure | null {
    return at > 0 && this.#stores.lineage.position(origin, at) === null ? missing("body.at") : null;
  }

  /** A thread was imported (null: one that is there for its forks only): the catalogue hears of it from the alarm. */
  imported(owner: ThreadOwner, id: string | null): void {
    this.#noteOwner(owner);
    const thread = id === null ? null : this.#stores.threads.get(id);
    if (thread !== null) retain(this.#deps, thread);
    if (id !== null) this.#deps.listing.imported(id);
    // At once: to look for the first of all that is due would read them all, for each thread of an import.
    this.#deps.alarms.scheduleBy(this.#deps.now());
  }

  /** A call that is known to fail announces nothing. */
  async #begin<T>({ row, once, refusal }: Beginning, act: () => Result<T>): Promise<Result<T>> {
    const { answers, quota, listing, now } = this.#deps;
    const known = answers.replay<T>(once, now()) ?? refusal?.() ?? quota.threadFailure();
    return known ?? listing.begin(row, act);
  }

  /** In the caller's transaction. */
  #created(
    owner: ThreadOwner,
    id: string,
    { fields, at }: { fields: CreateThreadBody; at: number },
  ): Result<Thread> {
    this.#noteOwner(owner);
    return this.#withinQuota(() => {
      const thread = this.#stores.threads.create(id, fields, { now: at });
      retain(this.#deps, thread);
      return this.#view(thread);
    });
  }

  #withinQuota(create: () => Thread): Result<Thread> {
    return this.#deps.quota.withinQuota(["threads", "bytes"], () => ok(create()));
  }

  #noteOwner({ hash, id }: ThreadOwner): void {
    if (id !== null)
      this.#deps.alarms.scheduleBy(
        this.#deps.owner.note({ hash, id }, this.#deps.now() + CATALOGUE_WITHIN_MS.thread),
      );
  }

  #view(stored: StoredThread): Thread {
    return viewOf(stored, this.#deps.owner.id());
  }
}
