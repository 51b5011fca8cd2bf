import { shortest } from "../../../src/domain/retention.ts";
import { type PositionRange, positionsOf, seqOf } from "../core/position.ts";
import type { Transactions } from "../core/transactions.ts";
import type { IngestStore } from "../ingest/ingest-store.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { AgedMessages } from "../threads/aged-messages.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";

export type AgedConversationsDependencies = {
  stores: ThreadStores;
  aged: AgedMessages;
  index: SearchIndex;
  ingestStore: IngestStore;
  conversations: Conversations;
  transactions: Transactions;
  /** Called in the transaction of each deletion. */
  noted: (counts: { threads?: number; messages?: number }) => void;
};
/** The time before which messages go: null if only threads with a rule of their own lose some. */
type Bounds = { before: number | null; now: number };

/** Messages that one transaction deletes one by one, and threads that it deletes as a whole. */
const [SLICE, THREADS] = [250, 20];

/** Deletes what is past its time in threads, a slice at a time. A thread under an ingest waits, with those that it forks. */
export class AgedConversations {
  readonly #deps: AgedConversationsDependencies;

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
    const { aged, conversations, transactions, noted } = this.#deps;
    const found = aged.threads(bounds, { but, limit: THREADS });
    if (found.length === 0) return false;
    transactions.atomically(() => {
      for (const { id } of found) conversations.removeAged(id);
      const messages = found.reduce((sum, { length }) => sum + length, 0);
      noted({ threads: found.length, messages });
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
      this.#follow(showing, { before, gone, positions });
    });
    return true;
  }

  #deleteByOwnRule({ now }: Bounds, but: readonly number[]): boolean {
    const { aged, stores, transactions } = this.#deps;
    for (const { id, retention } of aged.withOwnRule()) {
      const thread = stores.threads.get(id);
      if (thread === null || but.includes(thread.n)) continue;
      const before = now - (shortest([retention]) ?? 0);
      const positions = this.#agedIn(thread, before);
      if (positions.length === 0) continue;
      transactions.atomically(() => {
        const gone = positions.flatMap((position) => stores.shared.deleteMessage(thread, position));
        stores.threads.lengthen([thread.n], -positions.length);
        this.#follow([thread.n], { before, gone, positions });
      });
      return true;
    }
    return false;
  }

  #agedIn(thread: StoredThread, before: number): number[] {
    for (const segment of this.#deps.stores.lineage.segments(thread)) {
      const found = this.#deps.aged.within(positionsOf(segment), { thread: thread.n, before, limit: SLICE });
      if (found.length > 0) return found;
    }
    return [];
  }

  /** Whatever else goes with messages, as where one is deleted by hand; and summaries of them that are as old. */
  #follow(
    threads: readonly number[],
    {
      before,
      gone,
      positions,
    }: { before: number; gone: readonly PositionRange[]; positions: readonly number[] },
  ): void {
    const { stores, index, ingestStore, conversations, noted } = this.#deps;
    index.removeRanges([...gone]);
    const seqs = positions.map(seqOf);
    for (const n of threads) {
      for (const seq of seqs) ingestStore.forgetMessage(n, seq);
      stores.compactions.deleteAged({ n }, { upTo: Math.max(...seqs), before });
      stores.threads.endImport({ n });
      const id = stores.threads.idOf(n);
      if (id !== null && stores.threads.get(id) !== null) conversations.messagesChanged(id);
    }
    noted({ messages: positions.length });
  }

  /** The numbers of the threads under an ingest, and of those whose messages they share. */
  #busy(): number[] {
    const { ingestStore, stores } = this.#deps;
    return ingestStore.busyThreads().flatMap((n) => {
      const id = stores.threads.idOf(n);
      const thread = id === null ? null : stores.threads.get(id);
      return thread === null ? [] : Array.from(stores.lineage.segments(thread), (segment) => segment.n);
    });
  }
}
