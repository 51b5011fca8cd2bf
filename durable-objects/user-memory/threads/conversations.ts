import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import type { PatchThreadBody, Thread } from "../../../src/domain/schema/thread.ts";
import type { ListedThreads, ThreadPage } from "../../../src/contract/user-memory.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IdempotencyStore } from "../../storage/idempotency-store.ts";
import type { OwnerRecord } from "../core/owner-record.ts";
import { LAST_SEQ, type PositionRange, positionsOf } from "../core/position.ts";
import type { RetentionStore } from "../core/retention-store.ts";
import type { Transactions } from "../core/transactions.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { MessagePurger } from "./message-purger.ts";
import type { ThreadListing } from "./thread-listing.ts";
import { type StoredThread, viewOf } from "./thread-row.ts";
import { changeThread, retain, type ThreadStores } from "./thread-stores.ts";

/** The rows removed with a thread at once, the messages that other threads still show (`kept`), and the ranges of gone messages. */
type Removed = {
  erased: { threads: number; messages: number; compactions: number };
  kept: number;
  gone: PositionRange[];
};
type ConversationsDependencies = {
  stores: ThreadStores;
  purger: MessagePurger;
  answers: Pick<IdempotencyStore, "forgetAbout">;
  transactions: Transactions;
  index: SearchIndex;
  listing: Pick<ThreadListing, "enqueue" | "written">;
  /** True if messages are found by their meaning at all. */
  byMeaning: boolean;
  owner: OwnerRecord;
  retention: Pick<RetentionStore, "changed">;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Shows, changes and deletes a user's threads, and keeps the search index and the catalogue in step. */
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
        if (patched.retention !== thread.retention) retain(this.#deps, patched);
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
