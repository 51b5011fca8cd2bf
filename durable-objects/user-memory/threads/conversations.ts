import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import type { ThreadCatalogue } from "../../../src/platform/d1/thread-catalogue.ts";
import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import type { ThreadOwner } from "../../../src/domain/memory/record.ts";
import type { UnlistedThreads } from "../../../src/platform/unlisted-threads.ts";
import type {
  CreateThreadBody,
  ForkBody,
  PatchThreadBody,
  Thread,
} from "../../../src/domain/schema/thread.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { Failures } from "../../storage/failures.ts";
import type { IdempotencyStore } from "../../storage/idempotency-store.ts";
import { CatalogueAttempts } from "./catalogue-attempts.ts";
import { CatalogueWriter } from "./catalogue-writer.ts";
import type { MessagePurger } from "./message-purger.ts";
import { LAST_SEQ, type PositionRange, positionsOf } from "../core/position.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import { CATALOGUE_WITHIN_MS, type OwnerRecord } from "../core/owner-record.ts";
import { GRACE_MS, type RetentionStore } from "../core/retention-store.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import { ThreadAnnouncements } from "./thread-announcements.ts";
import { DEFAULT_TITLE, type StoredThread, type ThreadLine } from "./thread-row.ts";
import { changeThread, missing, type ThreadStores } from "./thread-stores.ts";
import type { Transactions } from "../core/transactions.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import type { ListedThreads, Resumed, ThreadPage } from "../../../src/contract/user-memory.ts";

/** The rows removed with a thread at once, the messages that other threads still show (`kept`), and the ranges of gone messages. */
type Removed = {
  erased: { threads: number; messages: number; compactions: number };
  kept: number;
  gone: PositionRange[];
};
/** A thread that is to begin. `refusal`: why it may not. */
type Beginning = { row: ThreadRow; once?: IdempotencyKey | undefined; refusal?: () => Failure | null };
type ConversationsDependencies = {
  storage: DurableObjectStorage;
  stores: ThreadStores;
  purger: MessagePurger;
  answers: Pick<IdempotencyStore, "forgetAbout" | "replay">;
  transactions: Transactions;
  index: SearchIndex;
  catalogue: ThreadCatalogue;
  unlisted: UnlistedThreads;
  quota: QuotaGuard;
  /** True if messages are found by their meaning at all. */
  byMeaning: boolean;
  owner: OwnerRecord;
  retention: Pick<RetentionStore, "changed">;
  erasureEpoch: Pick<ErasureEpoch, "current" | "lastErasure" | "reach">;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Creates, changes, forks and deletes a user's threads, and keeps the search index and the catalogue in step. */
export class Conversations {
  readonly #deps: ConversationsDependencies;
  readonly #stores: ThreadStores;
  readonly #catalogue: CatalogueWriter;
  readonly #attempts: CatalogueAttempts;
  readonly #announcements: ThreadAnnouncements;

  constructor(deps: ConversationsDependencies) {
    this.#deps = deps;
    this.#stores = deps.stores;
    const { sql } = deps.storage;
    const rowOf = (id: string) => this.#catalogueRow(id);
    const { catalogue, unlisted, owner, erasureEpoch, alarms, now } = deps;
    const attempts = new CatalogueAttempts({ sql, now });
    const failures = new Failures(sql);
    const writer = new CatalogueWriter({
      sql,
      catalogue,
      rowOf,
      erasureEpoch,
      owner,
      attempts,
      failures,
      alarms,
      now,
    });
    this.#attempts = attempts;
    this.#catalogue = writer;
    this.#announcements = new ThreadAnnouncements({
      sql,
      catalogue,
      unlisted,
      writer,
      attempts,
      failures,
      owner,
      erasureEpoch,
      alarms,
      now,
    });
  }

  create(
    owner: ThreadOwner,
    id: string,
    { fields, once }: { fields: CreateThreadBody; once?: IdempotencyKey },
  ): Promise<Result<Thread>> {
    const { transactions, now } = this.#deps;
    const at = now();
    return this.#begin({ row: this.#newRow(owner, id, { fields, at }), once }, () =>
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
    return this.#begin({ row: this.#newRow(owner, id, { fields, at }), once }, () =>
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
    return this.#begin<Resumed>({ row: this.#newRow(owner, id, { fields, at }) }, () =>
      transactions.run<Resumed>(undefined, () => {
        // Another call may have begun one meanwhile.
        const latest = resumed();
        if (latest !== null) return latest;
        const made = this.#created(owner, id, { fields, at });
        return made.ok ? ok({ thread: made.value, created: true }) : made;
      }),
    );
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
    return this.#catalogued(
      id,
      changeThread(this.#deps, { id }, (thread) => {
        const patched = this.#stores.threads.patch(thread, fields, this.#deps.now());
        if (patched.indexing !== thread.indexing) this.#index(patched);
        if (patched.retention !== thread.retention) this.#retain(patched);
        this.#catalogue.enqueue(id);
        return ok(this.#view(patched));
      }),
    );
  }

  async delete(id: string): Promise<Result<null>> {
    return this.#catalogued(
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
    const [had, before] = [[...lineage.segments(thread)], messages.deleted];
    const { compactions, gone } = this.#remove(thread, erasure);
    const erased = { threads: 1, messages: messages.deleted - before, compactions };
    // All messages that are left are shown by other threads.
    const left = had.map((segment) => messages.count(positionsOf(segment)));
    return { erased, kept: left.reduce((sum, one) => sum + one, 0), gone };
  }

  /** Lets the alarm write the user and all threads into the catalogue again. */
  rewriteCatalogue(): void {
    const { owner, alarms, now } = this.#deps;
    this.#catalogue.enqueueAll();
    owner.catalogueAgain(now());
    alarms.scheduleBy(now());
  }

  /** Lets the alarm write or remove one thread in the catalogue. */
  catalogueAgain(id: string): void {
    const { alarms, now } = this.#deps;
    this.#catalogue.enqueue(id);
    alarms.scheduleBy(now());
  }

  /** A thread was imported (null: one that is there for its forks only): the catalogue hears of it from the alarm. */
  imported(owner: ThreadOwner, id: string | null): void {
    this.#noteOwner(owner);
    const thread = id === null ? null : this.#stores.threads.get(id);
    if (thread !== null) this.#retain(thread);
    if (id !== null) this.#announcements.confirm(id, false);
    // At once: to look for the first of all that is due would read them all, for each thread of an import.
    this.#deps.alarms.scheduleBy(this.#deps.now());
  }

  #remove(thread: StoredThread, erasure: string | null): { compactions: number; gone: PositionRange[] } {
    const { index, purger, answers, alarms, now } = this.#deps;
    const compactions = this.#stores.compactions.deleteAll(thread);
    this.#stores.threads.noteDeletion(thread);
    const { removed, left } = this.#stores.shared.deleteThread(thread);
    index.removeRanges(removed);
    purger.purge(left, erasure);
    answers.forgetAbout(thread.id);
    this.#catalogue.enqueue(thread.id);
    alarms.scheduleBy(now());
    return { compactions, gone: [...left, ...removed] };
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
    const row = this.#newRow({ hash: hashOf(id), id: null }, forkId, {
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
          this.#retain(fork);
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

  /** Messages were added or deleted: the catalogue follows within an hour. */
  messagesChanged(id: string): void {
    this.#deps.alarms.scheduleBy(this.#catalogue.enqueueLater(id));
  }

  /** Removes a deleted thread from the catalogue. `again`: also if D1 confirmed it. Returns false while D1 has not. */
  async removeFromCatalogue(id: string, { again = false } = {}): Promise<boolean> {
    if (again || this.#catalogue.isPending(id)) this.#catalogue.enqueue(id);
    await this.#catalogue.drain(id);
    // A thread that an import has brought back stays listed.
    return !this.#catalogue.isPending(id) || this.get(id).ok;
  }

  /** The time up to which a row of the thread may come into the catalogue by a write that began earlier; 0 if none may. */
  landsUntil(id: string): number {
    return this.#attempts.landsUntil(id);
  }

  /** Writes what is due in the catalogue, for the alarm. */
  run(): Promise<void> {
    return this.#announcements.settle();
  }

  nextDue(): number | null {
    const [change, announced] = [this.#catalogue.nextDue(), this.#announcements.nextDue()];
    return change === null || announced === null ? (change ?? announced) : Math.min(change, announced);
  }

  /** Announces the threads that an import is about to begin, and then lets it take them in: see `imported`. */
  async importing<T>(
    owner: ThreadOwner,
    lines: readonly ThreadLine[],
    take: () => Result<T>,
  ): Promise<Result<T>> {
    const { current: epoch } = this.#deps.erasureEpoch;
    const rows = lines
      .filter(({ id, deleted }) => deleted !== true && this.#stores.threads.any(id) === null)
      .map((line) => catalogueRow(line, owner, epoch));
    return rows.length === 0 ? take() : this.#announcements.announceAndBegin(rows, take);
  }

  /**
   * Announces a thread to the catalogue, then begins it. A call that is known to fail announces nothing; what one announces that
   * fails later is taken back.
   */
  async #begin<T>({ row, once, refusal }: Beginning, act: () => Result<T>): Promise<Result<T>> {
    const { answers, quota, now } = this.#deps;
    const known = answers.replay<T>(once, now()) ?? refusal?.() ?? quota.threadFailure();
    if (known !== null) return known;
    const { id } = row;
    let isRefused = false;
    const begun = await this.#announcements.announceAndBegin([row], () =>
      this.#deps.transactions.run(undefined, () => {
        const result = act();
        isRefused = !result.ok;
        if (result.ok) this.#announcements.confirm(id, same(this.#catalogueRow(id), row));
        return result;
      }),
    );
    if (isRefused) await this.removeFromCatalogue(id, { again: true });
    this.#deps.alarms.scheduleBy(this.nextDue());
    if (begun.ok && !this.#announcements.isMarked(id)) await this.#catalogue.drain(id);
    return begun;
  }

  /** The row of a thread that is to begin. */
  #newRow(
    { hash, id: userId }: ThreadOwner,
    id: string,
    { fields, at }: { fields: CreateThreadBody; at: number },
  ): ThreadRow {
    const { owner, erasureEpoch } = this.#deps;
    return catalogueRow(
      { title: DEFAULT_TITLE, ...fields, id, createdAt: at, updatedAt: at },
      { hash, id: userId ?? owner.id() },
      erasureEpoch.current,
    );
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
      this.#retain(thread);
      return this.#view(thread);
    });
  }

  #withinQuota(create: () => Thread): Result<Thread> {
    return this.#deps.quota.withinQuota(["threads", "bytes"], () => ok(create()));
  }

  /** Updates the catalogue before the caller gets its answer. */
  async #catalogued<T>(id: string, result: Result<T>): Promise<Result<T>> {
    this.#deps.alarms.scheduleBy(this.#catalogue.nextDue());
    if (result.ok) await this.#catalogue.drain(id);
    return result;
  }

  /** A thread's own rule is new: a round that comes within the hour leaves it out. */
  #retain(thread: StoredThread): void {
    if (thread.retention === undefined) return;
    const { retention: rules, alarms, now } = this.#deps;
    const at = now();
    this.#stores.threads.setRuleTime(thread, at + GRACE_MS);
    alarms.scheduleBy(rules.changed(at));
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

  #catalogueRow(id: string): ThreadRow | null {
    const { owner, erasureEpoch } = this.#deps;
    const thread = this.#stores.threads.get(id);
    if (thread === null) return null;
    return catalogueRow(thread, { hash: hashOf(id), id: owner.id() }, erasureEpoch.current);
  }

  #noteOwner({ hash, id }: ThreadOwner): void {
    if (id !== null)
      this.#deps.alarms.scheduleBy(
        this.#deps.owner.note({ hash, id }, this.#deps.now() + CATALOGUE_WITHIN_MS.thread),
      );
  }

  #view(stored: StoredThread): Thread {
    const {
      n: _n,
      lastSeq: _lastSeq,
      parent: _parent,
      forkSeq: _forkSeq,
      importing: _importing,
      speakers,
      ...thread
    } = stored;
    const userId = this.#deps.owner.id();
    const owners = speakers?.owners ?? null;
    return {
      ...thread,
      ...(owners !== null && { owners: [...owners] }),
      ...(userId !== null && { userId }),
    };
  }
}

const hashOf = (threadId: string): string => threadId.slice(0, threadId.indexOf("."));

function catalogueRow(
  thread: Pick<ThreadLine, "id" | "title" | "createdAt" | "updatedAt"> & CreateThreadBody,
  { hash: userHash, id: userId }: { hash: string; id: string | null },
  epoch: number,
): ThreadRow {
  const { id, title, agent = null, resourceSlug = null, recordId = null, metadata = null } = thread;
  const { createdAt, updatedAt } = thread;
  return {
    id,
    userHash,
    userId,
    title,
    agent,
    resourceSlug,
    recordId,
    metadata,
    createdAt,
    updatedAt,
    epoch,
  };
}

const same = (a: ThreadRow | null, b: ThreadRow): boolean => JSON.stringify(a) === JSON.stringify(b);
