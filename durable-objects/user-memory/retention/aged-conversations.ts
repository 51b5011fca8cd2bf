import { msOf } from "../../../src/domain/retention.ts";
import { LAST_SEQ, type PositionRange, positionsOf, seqOf, type SeqRange } from "../core/position.ts";
import type { RetentionStore } from "../core/retention-store.ts";
import type { Transactions } from "../core/transactions.ts";
import type { IngestStore } from "../ingest/ingest-store.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { AgedMessages } from "../threads/aged-messages.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { ThreadListing } from "../threads/thread-listing.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";

type AgedConversationsDependencies = {
  stores: ThreadStores;
  aged: AgedMessages;
  index: SearchIndex;
  ingestStore: IngestStore;
  listing: ThreadListing;
  conversations: Conversations;
  transactions: Transactions;
  /** Notes each deletion, in its transaction. */
  retention: Pick<RetentionStore, "note">;
  now: () => number;
};
/** The time before which messages go: null if only threads with a rule of their own lose some. */
type Bounds = { before: number | null; now: number };

/** Messages that one transaction deletes one by one, and threads that it deletes as a whole. */
const [SLICE, THREADS] = [250, 20];

/** Deletes what is past its time in threads, a slice at a time. A thread under an ingest waits, with those that it forks. */
export class AgedConversations {
  readonly #deps: AgedConversationsDependencies;
  /** The last thread whose own rule the round of this time has applied. */
  #place = { now: 0, after: 0 };

  constructor(deps: AgedConversationsDependencies) {
    this.#deps = deps;
  }

  /** Deletes a slice. Returns false if nothing is left to delete. */
  deleteSome(bounds: Bounds): boolean {
    const busy = this.#busy();
    return (
      this.#deleteThreads(bounds, busy) ||
      this.#deleteOfAll(bounds, busy) ||
      this.#deleteByOwnRule(bounds, busy)
    );
  }

  #deleteThreads(bounds: Bounds, but: readonly number[]): boolean {
    const { aged, conversations, retention, transactions, now } = this.#deps;
    const found = aged.threads(bounds, { but, limit: THREADS });
    if (found.length === 0) return false;
    transactions.atomically(() => {
      const messages = found.reduce((sum, id) => sum + conversations.removeAged(id), 0);
      retention.note({ threads: found.length, messages }, now());
    });
    return true;
  }

  /** By the rules that hold for all threads: so a message goes from each thread that shows it. */
  #deleteOfAll({ before }: Bounds, but: readonly number[]): boolean {
    const { aged, stores, transactions } = this.#deps;
    const positions = before === null ? [] : aged.some(before, { but, limit: SLICE });
    const [first] = positions;
    if (before === null || first === undefined) return false;
    transactions.atomically(() => {
      const { showing, gone } = stores.shared.deleteEverywhere(positions);
      this.#follow(showing, { gone, positions });
    });
    return true;
  }

  /** In the next threads with a rule of their own. A round reads the messages of each once. */
  #deleteByOwnRule({ now }: Bounds, but: readonly number[]): boolean {
    if (this.#place.now !== now) this.#place = { now, after: 0 };
    const found = this.#deps.aged.withOwnRule({ ...this.#place, limit: THREADS });
    let room = SLICE;
    for (const { n, id, retention } of found) {
      const thread = this.#deps.stores.threads.get(id);
      if (thread !== null && !but.includes(n))
        room -= this.#deleteOf(thread, { before: now - msOf(retention), limit: room });
      // This thread may have more.
      if (room === 0) return true;
      this.#place.after = n;
    }
    return found.length > 0;
  }

  /** Returns how many messages of the thread it deleted. */
  #deleteOf(thread: StoredThread, { before, limit }: { before: number; limit: number }): number {
    const { stores, transactions } = this.#deps;
    const positions = this.#shown(thread, [1, LAST_SEQ], { before, limit });
    if (positions.length === 0) return 0;
    transactions.atomically(() => {
      const gone = positions.flatMap((position) => stores.shared.deleteMessage(thread, position));
      stores.threads.lengthen([thread.n], -positions.length);
      this.#follow([thread.n], { gone, positions });
    });
    return positions.length;
  }

  /** Messages before a time that a thread shows between two seqs. */
  #shown(
    thread: StoredThread,
    [first, last]: SeqRange,
    { before, limit }: { before: number; limit: number },
  ) {
    const found: number[] = [];
    for (const { n, from, to } of this.#deps.stores.lineage.segments(thread, first)) {
      const range = positionsOf({ n, from: Math.max(from, first), to: Math.min(to, last) });
      const room = { thread: thread.n, before, limit: limit - found.length };
      found.push(...this.#deps.aged.within(range, room));
      if (found.length === limit) break;
    }
    return found;
  }

  /** Deletes all else that goes with messages, as where one is deleted by hand; and summaries whose messages are all gone. */
  #follow(
    threads: readonly number[],
    { gone, positions }: { gone: readonly PositionRange[]; positions: readonly number[] },
  ): void {
    const { stores, index, ingestStore, listing, retention, now } = this.#deps;
    index.removeRanges([...gone]);
    const seqs = positions.map(seqOf);
    for (const n of threads) {
      for (const seq of seqs) ingestStore.forgetMessage(n, seq);
      stores.threads.endImport({ n });
      const thread = this.#live(n);
      if (thread === null) continue;
      this.#deleteSummaries(thread, [Math.min(...seqs), Math.max(...seqs)]);
      listing.messagesChanged(thread.id);
    }
    retention.note({ messages: positions.length }, now());
  }

  #deleteSummaries(thread: StoredThread, seqs: SeqRange): void {
    const { compactions } = this.#deps.stores;
    for (const { id, from, to } of compactions.touching(thread, seqs))
      if (this.#shown(thread, [from, to], { before: Number.MAX_SAFE_INTEGER, limit: 1 }).length === 0)
        compactions.delete(thread, id);
  }

  /** The numbers of the threads under an ingest, and of those whose messages they share. */
  #busy(): number[] {
    const { ingestStore, stores } = this.#deps;
    return ingestStore.busyThreads().flatMap((busy) => {
      const thread = this.#live(busy);
      return thread === null ? [] : Array.from(stores.lineage.segments(thread), ({ n }) => n);
    });
  }

  #live(n: number): StoredThread | null {
    const { threads } = this.#deps.stores;
    const id = threads.idOf(n);
    return id === null ? null : threads.get(id);
  }
}
