import { LAST_SEQ, type PositionRange, positionsOf, seqOf, threadNumberOf } from "../core/position.ts";
import type { HiddenMessages } from "./hidden-messages.ts";
import type { Lineage } from "./lineage.ts";
import type { MessageStore } from "./message-store.ts";
import type { StoredThread } from "./thread-row.ts";
import type { ThreadForks } from "./thread-forks.ts";
import type { ThreadStore } from "./thread-store.ts";

type Stores = {
  threads: ThreadStore;
  forks: ThreadForks;
  messages: MessageStore;
  hidden: HiddenMessages;
  lineage: Lineage;
};

/** Deletes messages and threads, as far as no other thread shares them. */
export class SharedMessages {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** True if a message of this thread is one of a fork or an origin too. */
  isShared({ n }: StoredThread, position: number): boolean {
    return threadNumberOf(position) !== n || (this.#stores.forks.sharedUpTo(n) ?? 0) >= seqOf(position);
  }

  /** Deletes a message from one thread. Returns the positions that no thread shows any more. */
  deleteMessage(thread: StoredThread, position: number): PositionRange[] {
    const { messages, hidden } = this.#stores;
    if (!this.isShared(thread, position)) {
      messages.delete([position, position]);
      return [[position, position]];
    }
    hidden.add([thread.n], position);
    return this.#releaseUnseen([position]);
  }

  /** Hides a message of a thread's own, also in its forks that show it. Returns the numbers of these threads. */
  hideWithForks({ n }: Pick<StoredThread, "n">, position: number): number[] {
    const { threads, forks, hidden } = this.#stores;
    const showing = forks.showing(n, seqOf(position));
    threads.lengthen(showing, -1);
    hidden.add(showing, position);
    return showing;
  }

  /**
   * Deletes messages of one thread's own from all threads that show them. Returns the numbers of these threads, and the positions of the
   * messages.
   */
  deleteEverywhere(positions: readonly number[]): { showing: number[]; gone: PositionRange[] } {
    const { threads, forks, messages } = this.#stores;
    const showing = new Set<number>();
    const gone: PositionRange[] = [];
    const shared = new Map<number, number>();
    for (const position of positions) {
      const n = threadNumberOf(position);
      const upTo = shared.get(n) ?? forks.sharedUpTo(n) ?? 0;
      shared.set(n, upTo);
      if (upTo >= seqOf(position)) {
        for (const one of this.hideWithForks({ n }, position)) showing.add(one);
        gone.push(...this.#releaseUnseen([position]));
        continue;
      }
      messages.delete([position, position]);
      threads.lengthen([n], -1);
      showing.add(n);
      gone.push([position, position]);
    }
    return { showing: [...showing], gone };
  }

  /** A message is back at this position: the threads that show it grow, and those that hid it hide it again. */
  cameBack(position: number): void {
    const { threads, forks, hidden } = this.#stores;
    hidden.cameBack(position);
    threads.lengthen(forks.showing(threadNumberOf(position), seqOf(position)), 1);
  }

  /**
   * Deletes a thread, except for what its forks share. Returns the positions that no thread shows any more: `removed` were single
   * messages, `left` is for the caller to remove.
   */
  deleteThread(thread: StoredThread): { removed: PositionRange[]; left: PositionRange[] } {
    const { threads, hidden, lineage } = this.#stores;
    const ranges = Array.from(lineage.segments(thread), positionsOf);
    // This thread may have been the last to show one of these.
    const hiddenElsewhere = hidden.inOthers(thread, ranges);
    hidden.removeAll(thread);
    threads.markDeleted(thread.n);
    const left = this.#collect(thread.n);
    return { left, removed: this.#releaseUnseen(hiddenElsewhere) };
  }

  /** Removes the messages among these that no thread shows any more. */
  #releaseUnseen(positions: readonly number[]): PositionRange[] {
    const { forks, messages, hidden } = this.#stores;
    const unseen = positions.filter((position) => forks.holder(position) === null);
    return unseen.map((position): PositionRange => {
      messages.delete([position, position]);
      hidden.gone(position, threadNumberOf(position));
      return [position, position];
    });
  }

  /** The messages of a deleted thread that no fork shares, and those of deleted threads before it that end with it. */
  #collect(first: number): PositionRange[] {
    const { threads, forks } = this.#stores;
    const gone: PositionRange[] = [];
    for (let n: number | null = first; n !== null;) {
      const thread = threads.deleted(n);
      if (thread === null) break;
      const shared = forks.sharedUpTo(n);
      gone.push(positionsOf({ n, from: (shared ?? 0) + 1, to: LAST_SEQ }));
      if (shared !== null) break;
      threads.remove(n);
      n = thread.parent;
    }
    return gone;
  }
}
