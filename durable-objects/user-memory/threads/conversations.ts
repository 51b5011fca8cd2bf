import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import type { ThreadCatalogue } from "../../../src/platform/d1/thread-catalogue.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import type { ThreadOwner } from "../../../src/domain/memory/record.ts";
import type { UnlistedThreads } from "../../../src/platform/unlisted-threads.ts";
import type {
  CreateThreadBody,
  ForkBody,
  PatchThreadBody,
  Thread,
} from "../../../src/domain/schema/thread.ts";
import type { WakeUp } from "../../storage/wake-up.ts";
import type { Answers } from "../../storage/answers.ts";
import { CatalogueWriter } from "./catalogue-writer.ts";
import type { Emptying } from "./emptying.ts";
import { LAST_SEQ, positionOf, type PositionRange } from "../core/position.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Generation } from "../core/generation.ts";
import { CATALOGUE_WITHIN_MS, type OwnerNote } from "../core/owner-note.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import { ThreadAnnouncements } from "./thread-announcements.ts";
import type { StoredThread, ThreadLine } from "./thread-store.ts";
import { missing, type ThreadStores } from "./thread-stores.ts";
import type { Transactions } from "../core/transactions.ts";
import type { Once } from "../../storage/contract.ts";
import type { ListedThreads, Resumed, ThreadPage } from "../contract.ts";

/**
 * What went with a thread at once, what of its messages stays, since others show them, and where messages are gone. Those
 * there that did not go at once are for `Emptying`.
 */
export type Removed = {
  erased: { threads: number; messages: number; compactions: number };
  kept: number;
  gone: PositionRange[];
};
type Parts = {
  storage: DurableObjectStorage;
  stores: ThreadStores;
  emptying: Emptying;
  answers: Pick<Answers, "forgetAbout">;
  transactions: Transactions;
  index: SearchIndex;
  catalogue: ThreadCatalogue;
  unlisted: UnlistedThreads;
  quota: QuotaGuard;
  /** Whether messages are found by their meaning at all. */
  byMeaning: boolean;
  owner: OwnerNote;
  generation: Pick<Generation, "epoch" | "lastErasure" | "reach">;
  wakeUp: WakeUp;
  now: () => number;
};

/** A user's threads, from their beginning to their end, with the search index and the catalogue in step. */
export class Conversations {
  readonly #parts: Parts;
  readonly #stores: ThreadStores;
  readonly #catalogue: CatalogueWriter;
  readonly #announcements: ThreadAnnouncements;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#stores = parts.stores;
    const { sql } = parts.storage;
    const rowOf = (id: string) => this.#catalogueRow(id);
    const { catalogue, unlisted, owner, generation, wakeUp, now } = parts;
    const writer = new CatalogueWriter({ sql, catalogue, rowOf, generation, owner, now });
    this.#catalogue = writer;
    this.#announcements = new ThreadAnnouncements({
      sql,
      catalogue,
      unlisted,
      writer,
      owner,
      generation,
      wakeUp,
      now,
    });
  }

  create(
    owner: ThreadOwner,
    id: string,
    { fields, once }: { fields: CreateThreadBody; once?: Once },
  ): Promise<Result<Thread>> {
    const { transactions, now } = this.#parts;
    const at = now();
    return this.#begin(id, () =>
      transactions.run(once && { ...once, about: id }, () => this.#created(owner, id, { fields, at })),
    );
  }

  /** The agent's latest thread, or a new one, in one step: many first calls at once make one thread. */
  resume(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Result<Resumed>> {
    const { transactions, now } = this.#parts;
    const at = now();
    return this.#begin<Resumed>(id, () =>
      transactions.run<Resumed>(undefined, () => {
        const latest = this.#stores.threads.latest(fields.agent ?? null);
        if (latest !== null) return ok({ thread: this.#view(latest), created: false });
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
    const stored = this.#stores.threads.list({ ...page, limit: page.limit + 1 });
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
      this.#with(id, undefined, (thread) => {
        const patched = this.#stores.threads.patch(thread, fields, this.#parts.now());
        if (patched.indexing !== thread.indexing) this.#index(patched);
        return ok(this.#changed(patched));
      }),
    );
  }

  async delete(id: string): Promise<Result<null>> {
    return this.#catalogued(
      id,
      this.#with(id, undefined, (thread) => {
        this.#remove(thread, null);
        return ok(null);
      }),
    );
  }

  /** The same in the caller's transaction, for an erasure; null if there is no such thread. */
  remove(id: string, erasure: string): Removed | null {
    const { threads, messages, lineage } = this.#stores;
    const thread = threads.get(id);
    if (thread === null) return null;
    const [had, before] = [[...lineage.segments(thread)], messages.deleted];
    const { compactions, gone } = this.#remove(thread, erasure);
    const erased = { threads: 1, messages: messages.deleted - before, compactions };
    // What nobody shows is gone: all that is left of what it had, others show.
    const left = had.map(({ n, from, to }) => messages.count([positionOf(n, from), positionOf(n, to)]));
    return { erased, kept: left.reduce((sum, one) => sum + one, 0), gone };
  }

  /** The catalogue may show what is gone: it is to be as the thread is now, or to be taken out once more. */
  writeAgain(id: string): void {
    this.#catalogue.changed(id);
  }

  /** Writes the user and all threads into the catalogue once more, from the alarm. */
  catalogueAnew(): void {
    const { owner, wakeUp, now } = this.#parts;
    this.#catalogue.allChanged();
    owner.catalogueAgain(now());
    wakeUp.by(now());
  }

  /** A thread was imported (null: one that is there for its forks only): the catalogue hears of it from the alarm. */
  imported(owner: ThreadOwner, id: string | null): void {
    this.#noteOwner(owner);
    if (id !== null) this.#announcements.begun(id, false);
    // At once: to look for the first of all that is due would read them all, for each thread of an import.
    this.#parts.wakeUp.by(this.#parts.now());
  }

  #remove(thread: StoredThread, erasure: string | null): { compactions: number; gone: PositionRange[] } {
    const { index, emptying, answers, wakeUp, now } = this.#parts;
    const compactions = this.#stores.compactions.deleteAll(thread);
    const { removed, left } = this.#stores.sharing.deleteThread(thread);
    index.removeRanges(removed);
    emptying.begin(left, erasure);
    answers.forgetAbout(thread.id);
    this.#catalogue.changed(thread.id);
    wakeUp.by(now());
    return { compactions, gone: [...left, ...removed] };
  }

  /** A new thread that shares the messages up to one of this thread's. */
  fork(
    id: string,
    forkId: string,
    { fields, once }: { fields: ForkBody; once?: Once },
  ): Promise<Result<Thread>> {
    const beganAt = this.#parts.now();
    return this.#begin(forkId, () =>
      this.#with(id, once && { ...once, about: forkId }, (origin) => {
        const { at = this.#lastSeq(origin), ...given } = fields;
        if (at > 0 && this.#stores.lineage.position(origin, at) === null) return missing("body.at");
        const length = this.#stores.lineage.count(origin, at);
        const shared = {
          parent: this.#stores.lineage.owner(origin, at),
          forkSeq: at,
          forkedFrom: id,
          length,
        };
        return this.#begun(() => {
          const fork = this.#stores.threads.create(
            forkId,
            { ...origin, ...given },
            { now: beganAt, fork: shared },
          );
          this.#stores.hidden.inherit(fork, origin);
          this.#stores.compactions.inherit(fork, origin);
          return this.#view(fork);
        });
      }),
    );
  }

  /** Messages of a thread have come or gone: the catalogue hears of it within a minute. */
  touched(id: string): void {
    this.#parts.wakeUp.by(this.#catalogue.touched(id));
  }

  /** Takes a thread that is gone out of the catalogue; false while D1 has not confirmed that. */
  async takeOut(id: string): Promise<boolean> {
    this.#catalogue.hurry(id);
    await this.#catalogue.drain(id);
    // One that an import has brought back is listed as it is now.
    return !this.#catalogue.owes(id) || this.get(id).ok;
  }

  /** Writes what is due in the catalogue, for the alarm. */
  catalogueDue(): Promise<void> {
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
    const { epoch } = this.#parts.generation;
    const rows = lines
      .filter(({ id, deleted }) => deleted !== true && this.#stores.threads.any(id) === null)
      .map((line) => announcedRow(line, owner, epoch));
    return rows.length === 0 ? take() : this.#announcements.before(rows, take);
  }

  /**
   * Begins a thread that the catalogue has heard of before. Which one, and whether any, is known of a first try in a
   * transaction that is undone.
   */
  async #begin<T>(id: string, act: () => Result<T>): Promise<Result<T>> {
    const { result: tried, row } = this.#tried(id, act);
    if (row === null) return tried;
    const begun = await this.#announcements.before([row], () =>
      this.#parts.transactions.run(undefined, () => {
        const result = act();
        if (result.ok) this.#announcements.begun(id, same(this.#catalogueRow(id), row));
        return result;
      }),
    );
    this.#parts.wakeUp.by(this.nextDue());
    if (begun.ok && !this.#announcements.isMarked(id)) await this.#catalogue.drain(id);
    return begun;
  }

  #tried<T>(id: string, act: () => Result<T>): { result: Result<T>; row: ThreadRow | null } {
    const tried: { result: Result<T>; row: ThreadRow | null }[] = [];
    const undone = new Error("a first try is undone");
    try {
      this.#parts.transactions.atomically(() => {
        const result = act();
        tried.push({ result, row: result.ok ? this.#catalogueRow(id) : null });
        throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    const [one] = tried;
    if (one === undefined) throw new Error("a try has a result");
    return one;
  }

  /** In the caller's transaction, if the user may hold one more. */
  #created(
    owner: ThreadOwner,
    id: string,
    { fields, at }: { fields: CreateThreadBody; at: number },
  ): Result<Thread> {
    this.#noteOwner(owner);
    return this.#begun(() => this.#view(this.#stores.threads.create(id, fields, { now: at })));
  }

  #with<T>(id: string, once: Once | undefined, act: (thread: StoredThread) => Result<T>): Result<T> {
    return this.#stores.change(id, act, { transactions: this.#parts.transactions, once });
  }

  /** Begins a thread, if the user may hold one more. */
  #begun(begin: () => Thread): Result<Thread> {
    return this.#parts.quota.growing(["threads", "bytes"], () => ok(begin()));
  }

  /** Brings the catalogue up to date before the caller hears of the change. */
  async #catalogued<T>(id: string, result: Result<T>): Promise<Result<T>> {
    this.#parts.wakeUp.by(this.#catalogue.nextDue());
    if (result.ok) await this.#catalogue.drain(id);
    return result;
  }

  #changed(thread: StoredThread): Thread {
    this.#catalogue.changed(thread.id);
    return this.#view(thread);
  }

  /** Lets what the thread owns be found as it says now. */
  #index({ n, indexing }: StoredThread): void {
    const { index, byMeaning, wakeUp, now } = this.#parts;
    const own: PositionRange = [positionOf(n, 1), positionOf(n, LAST_SEQ)];
    if (indexing === "lexical") index.onlyWords(own);
    else if (byMeaning) {
      index.byMeaning(own);
      wakeUp.by(now());
    }
  }

  #lastSeq(thread: StoredThread): number {
    const [last] = this.#stores.reader.walk(thread, { order: "newest", view: "raw", slice: 1 }).take(1);
    return last?.seq ?? 0;
  }

  #catalogueRow(id: string): ThreadRow | null {
    const thread = this.#stores.threads.get(id);
    if (thread === null) return null;
    const {
      userId = null,
      agent = null,
      resourceSlug = null,
      recordId = null,
      metadata = null,
    } = this.#view(thread);
    const { title, createdAt, updatedAt } = thread;
    const userHash = id.slice(0, id.indexOf("."));
    const { epoch } = this.#parts.generation;
    const said = { title, agent, resourceSlug, recordId, metadata };
    return { id, userHash, userId, ...said, createdAt, updatedAt, epoch };
  }

  #noteOwner({ hash, id }: ThreadOwner): void {
    if (id !== null)
      this.#parts.wakeUp.by(
        this.#parts.owner.note({ hash, id }, this.#parts.now() + CATALOGUE_WITHIN_MS.thread),
      );
  }

  #view(stored: StoredThread): Thread {
    const {
      n: _n,
      lastSeq: _lastSeq,
      parent: _parent,
      forkSeq: _forkSeq,
      importing: _importing,
      ...thread
    } = stored;
    const userId = this.#parts.owner.id();
    return { ...thread, ...(userId !== null && { userId }) };
  }
}

const announcedRow = (line: ThreadLine, { hash, id: userId }: ThreadOwner, epoch: number): ThreadRow => {
  const { id, title, agent = null, resourceSlug = null, recordId = null, metadata = null } = line;
  const { createdAt, updatedAt } = line;
  const said = { title, agent, resourceSlug, recordId, metadata };
  return { id, userHash: hash, userId, ...said, createdAt, updatedAt, epoch };
};

const same = (a: ThreadRow | null, b: ThreadRow): boolean => JSON.stringify(a) === JSON.stringify(b);
