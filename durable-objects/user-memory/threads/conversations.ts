import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import type { ThreadOwner } from "../../../src/domain/memory/record.ts";
import type {
  CreateThreadBody,
  ForkBody,
  PatchThreadBody,
  Thread,
} from "../../../src/domain/schema/thread.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type { ListedThreads, Resumed, ThreadPage } from "../../../src/contract/user-memory.ts";
import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IdempotencyStore } from "../../storage/idempotency-store.ts";
import { CATALOGUE_WITHIN_MS, type OwnerRecord } from "../core/owner-record.ts";
import { LAST_SEQ, type PositionRange, positionsOf } from "../core/position.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import { GRACE_MS, type RetentionStore } from "../core/retention-store.ts";
import type { Transactions } from "../core/transactions.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { MessagePurger } from "./message-purger.ts";
import { hashOf, type ThreadListing } from "./thread-listing.ts";
import { type StoredThread, viewOf } from "./thread-row.ts";
import { changeThread, missing, type ThreadStores } from "./thread-stores.ts";

/** The fields of a thread that is to begin, once for an idempotency key. */
type New<Fields = CreateThreadBody> = { fields: Fields; once?: IdempotencyKey };
/** The rows removed with a thread at once, the messages that other threads still show (`kept`), and the ranges of gone messages. */
type Removed = {
  erased: { threads: number; messages: number; compactions: number };
  kept: number;
  gone: PositionRange[];
};
type ConversationsDependencies = {
  stores: ThreadStores;
  purger: MessagePurger;
  answers: Pick<IdempotencyStore, "forgetAbout" | "replay">;
  transactions: Transactions;
  index: SearchIndex;
  listing: ThreadListing;
  quota: QuotaGuard;
  /** True if messages are found by their meaning at all. */
  byMeaning: boolean;
  owner: OwnerRecord;
  retention: Pick<RetentionStore, "changed">;
  alarms: AlarmScheduler;
  now: () => number;
};

/**
 * Begins a user's threads (new ones, forks, those of an import), shows, changes and deletes them, and keeps the search index and the
 * catalogue in step.
 */
export class Conversations {
  readonly #deps: ConversationsDependencies;
  readonly #stores: ThreadStores;

  constructor(deps: ConversationsDependencies) {
    this.#deps = deps;
    this.#stores = deps.stores;
  }

  get(id: string): Result<Thread> {
    const thread = this.#stores.threads.get(id);
    return thread === null ? fail("not_found") : ok(this.#view(thread));
  }

  list(page: ThreadPage): ListedThreads {
    const stored = this.#stores.lists.list({ ...page, limit: page.limit + 1 });
    const shown = stored.slice(0, page.limit);
    const last = shown.at(-1);
    const threads = shown.map((thread) => this.#view(thread));
    return stored.length > shown.length && last
      ? { threads, next: [page.order === "updated" ? last.updatedAt : last.createdAt, last.n] }
      : { threads };
  }

  async patch(id: string, fields: PatchThreadBody): Promise<Result<Thread>> {
    return this.#deps.listing.written(
      id,
      changeThread(this.#deps, { id }, (thread) => {
        const patched = this.#stores.threads.patch(thread, fields, this.#deps.now());
        if (patched.indexing !== thread.indexing) this.#index(patched);
        if (patched.retention !== thread.retention) this.#retain(patched);
        this.#deps.listing.enqueue(id);
        return ok(this.#view(patched));
      }),
    );
  }

  async delete(id: string): Promise<Result<null>> {
    return this.#deps.listing.written(
      id,
      changeThread(this.#deps, { id }, (thread) => {
        this.#remove(thread, null);
        return ok(null);
      }),
    );
  }

  /** The same in the caller's transaction, for a thread that is past its time. */
  removeAged(id: string): number {
    const { threads, messages } = this.#stores;
    const thread = threads.get(id);
    if (thread === null) return 0;
    const before = messages.deleted;
    const { gone } = this.#remove(thread, null);
    const left = gone.map((range) => messages.rows(range));
    return left.reduce((sum, one) => sum + one, messages.deleted - before);
  }

  /** The same in the caller's transaction, for an erasure; null if there is no such thread. */
  remove(id: string, erasure: string): Removed | null {
    const { threads, messages, lineage } = this.#stores;
    const thread = threads.get(id);
    if (thread === null) return null;
    const [segments, before] = [[...lineage.segments(thread)], messages.deleted];
    const { compactions, gone } = this.#remove(thread, erasure);
    const erased = { threads: 1, messages: messages.deleted - before, compactions };
    // All messages that are left are shown by other threads.
    const left = segments.map((segment) => messages.count(positionsOf(segment)));
    return { erased, kept: left.reduce((sum, one) => sum + one, 0), gone };
  }

  #remove(thread: StoredThread, erasure: string | null): { compactions: number; gone: PositionRange[] } {
    const { index, purger, answers, alarms, now } = this.#deps;
    const compactions = this.#stores.compactions.deleteAll(thread);
    this.#stores.threads.noteDeletion(thread);
    const { removed, left } = this.#stores.shared.deleteThread(thread);
    index.removeRanges(removed);
    purger.purge(left, erasure);
    answers.forgetAbout(thread.id);
    this.#deps.listing.enqueue(thread.id);
    alarms.scheduleBy(now());
    return { compactions, gone: [...left, ...removed] };
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
    if (thread !== null) this.#retain(thread);
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
      this.#retain(thread);
      return ok(thread);
    });
  }

  #noteOwner({ hash, id }: ThreadOwner): void {
    if (id !== null)
      this.#deps.alarms.scheduleBy(
        this.#deps.owner.note({ hash, id }, this.#deps.now() + CATALOGUE_WITHIN_MS.thread),
      );
  }

  /** A thread's own rule is new: a round that comes within the hour leaves it out. */
  #retain(thread: StoredThread): void {
    if (thread.retention === undefined) return;
    const { retention, alarms, now } = this.#deps;
    const at = now();
    this.#stores.threads.setRuleTime(thread, at + GRACE_MS);
    alarms.scheduleBy(retention.changed(at));
  }

  /** Applies the thread's `indexing` to its own messages. */
  #index({ n, indexing }: StoredThread): void {
    const { index, byMeaning, alarms, now } = this.#deps;
    const own = positionsOf({ n, from: 1, to: LAST_SEQ });
    if (indexing === "lexical") index.onlyWords(own);
    else if (byMeaning) {
      index.byMeaning(own);
      alarms.scheduleBy(now());
    }
  }

  #view(stored: StoredThread): Thread {
    return viewOf(stored, this.#deps.owner.id());
  }
}
