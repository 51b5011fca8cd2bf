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

/** The fields of a thread that is to begin, once for an idempotency key. */
type New<Fields = CreateThreadBody> = { fields: Fields; once?: IdempotencyKey };
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

  create(owner: ThreadOwner, id: string, made: New): Promise<Result<Thread>> {
    return this.beginWith(owner, id, made, (begin) => {
      const thread = begin();
      return thread.ok ? ok(this.#view(thread.value)) : thread;
    });
  }

  /**
   * Runs `act` in one transaction, which may begin the thread: all or nothing is stored. For a thread that begins with its first
   * messages.
   */
  beginWith<T>(
    owner: ThreadOwner,
    id: string,
    { fields, once }: New,
    act: (begin: () => Result<StoredThread>) => Result<T>,
  ): Promise<Result<T>> {
    const { transactions, listing, now } = this.#deps;
    const at = now();
    const begin = () => {
      this.#noteOwner(owner);
      return this.#withinQuota(() => this.#stores.threads.create(id, fields, { now: at }));
    };
    return this.#announce({ row: listing.newRow(owner, id, { fields, at }), once }, () =>
      transactions.run(once && { ...once, about: id }, () => act(begin)),
    );
  }

  /** The agent's latest thread, or a new one, in one step: many first calls at once make one thread. */
  resume(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Result<Resumed>> {
    const latest = () => this.#stores.lists.latest(fields.agent ?? null);
    const resumed = (thread: StoredThread, created: boolean) => ok({ thread: this.#view(thread), created });
    const known = latest();
    if (known !== null) return Promise.resolve(resumed(known, false));
    return this.beginWith<Resumed>(owner, id, { fields }, (begin) => {
      // Another call may have begun one meanwhile.
      const other = latest();
      if (other !== null) return resumed(other, false);
      const thread = begin();
      return thread.ok ? resumed(thread.value, true) : thread;
    });
  }

  /** A new thread that shares the messages up to one of this thread's. */
  fork(id: string, forkId: string, { fields, once }: New<ForkBody>): Promise<Result<Thread>> {
    const { answers, listing, now } = this.#deps;
    const beganAt = now();
    const from = this.#stores.threads.get(id);
    // The fork is a thread of its own: the answer that a key holds outlives the thread.
    if (from === null) return Promise.resolve(answers.replay<Thread>(once, beganAt) ?? fail("not_found"));
    const { at: _at, ...own } = fields;
    const row = listing.newRow({ hash: hashOf(id), id: null }, forkId, {
      fields: { ...from, ...own },
      at: beganAt,
    });
    return this.#announce({ row, once, refusal: () => this.#forkRefusal(from, fields) }, () =>
      changeThread(this.#deps, { id, once: once && { ...once, about: forkId } }, (origin) => {
        const refusal = this.#forkRefusal(origin, fields);
        if (refusal !== null) return refusal;
        const fork = this.#withinQuota(() => this.#fork(origin, { ...fields, id: forkId, now: beganAt }));
        return fork.ok ? ok(this.#view(fork.value)) : fork;
      }),
    );
  }

  #fork(origin: StoredThread, { at, id, now, ...own }: ForkBody & { id: string; now: number }): StoredThread {
    const { threads, reader, lineage, hidden, compactions } = this.#stores;
    const forkSeq = at ?? reader.lastSeq(origin);
    const fork = {
      parent: lineage.owner(origin, forkSeq),
      forkSeq,
      forkedFrom: origin.id,
      length: lineage.count(origin, forkSeq),
      speakers: origin.speakers,
    };
    const made = threads.create(id, { ...origin, ...own }, { now, fork });
    hidden.inherit(made, origin);
    compactions.inherit(made, origin);
    return made;
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

  /** Announces a thread, and then begins it. A call that is known to fail (`refusal`) announces nothing. */
  async #announce<T>(
    { row, once, refusal }: { row: ThreadRow; once: New["once"]; refusal?: () => Failure | null },
    begin: () => Result<T>,
  ): Promise<Result<T>> {
    const { answers, quota, listing, now } = this.#deps;
    const known = answers.replay<T>(once, now()) ?? refusal?.() ?? quota.threadFailure();
    return known ?? listing.begin(row, begin);
  }

  /** In the caller's transaction. */
  #withinQuota(create: () => StoredThread): Result<StoredThread> {
    return this.#deps.quota.withinQuota(["threads", "bytes"], () => {
      const thread = create();
      retain(this.#deps, thread);
      return ok(thread);
    });
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
