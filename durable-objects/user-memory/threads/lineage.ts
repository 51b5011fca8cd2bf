import {
  LAST_SEQ,
  type Segment,
  type SeqRange,
  positionOf,
  positionsOf,
  seqOf,
  threadNumberOf,
} from "../core/position.ts";
import type { HiddenMessages } from "./hidden-messages.ts";
import type { MessageStore } from "./message-store.ts";
import type { StoredThread } from "./thread-row.ts";
import type { ThreadForks } from "./thread-forks.ts";

/** The position `step` places after a message; null outside of its thread. */
export type Neighbour = (position: number, step: number) => number | null;

/**
 * Finds the messages of a thread. A fork owns what was appended to it and shares what came before with the thread
 * that owns that (`parent`): no message is copied, and seqs go on from the fork.
 */
export class Lineage {
  readonly #stores: { forks: ThreadForks; messages: MessageStore; hidden: HiddenMessages };

  constructor(stores: { forks: ThreadForks; messages: MessageStore; hidden: HiddenMessages }) {
    this.#stores = stores;
  }

  /** The thread's stretches from the last one back to the one that holds the seq `from`, read as they are asked for. */
  *segments({ n, parent, forkSeq }: StoredThread, from = 1): Generator<Segment, void> {
    // Most threads are no forks, and most reads of a fork end in its own messages: neither reads a row.
    yield { n, from: forkSeq + 1, to: LAST_SEQ };
    if (parent !== null && forkSeq >= from) yield* this.#stores.forks.chain(parent, [from, forkSeq]);
  }

  /** The position of the thread's message with this seq, or null if it has none. */
  position(thread: StoredThread, seq: number): number | null {
    const owner = this.#ownerOf(thread, seq);
    if (owner === null) return null;
    const position = positionOf(owner, seq);
    const { hidden, messages } = this.#stores;
    return !hidden.has(thread, position) && messages.has(position) ? position : null;
  }

  /**
   * Returns a function that finds the position `step` places after a message, in the given thread, else in the thread that owns
   * the message. The message there may be deleted.
   */
  besides(positions: readonly number[], thread: StoredThread | null): Neighbour {
    if (thread !== null) {
      const segments = [...this.segments(thread)];
      return (position, step) => {
        const seq = seqOf(position) + step;
        const segment = segments.find(({ from, to }) => seq >= from && seq <= to);
        return segment === undefined ? null : positionOf(segment.n, seq);
      };
    }
    const forks = this.#stores.forks.forks([...new Set(positions.map(threadNumberOf))]);
    return (position, step) => {
      const seq = seqOf(position) + step;
      let n = threadNumberOf(position);
      for (let fork = forks.get(n); fork !== undefined && seq <= fork.forkSeq; fork = forks.get(n))
        n = fork.parent;
      return seq < 1 ? null : positionOf(n, seq);
    };
  }

  /** The number of messages up to a seq, which is included. Counts the shorter side of it. */
  count(thread: StoredThread, upTo: number): number {
    return upTo < thread.lastSeq / 2
      ? this.#countIn(thread, [1, upTo])
      : thread.length - this.#countIn(thread, [upTo + 1, thread.lastSeq]);
  }

  /** The number of the thread that owns the message at this seq: the parent of a fork made there. */
  owner(thread: StoredThread, seq: number): number {
    return this.#ownerOf(thread, seq) ?? thread.n;
  }

  #ownerOf(thread: StoredThread, seq: number): number | null {
    for (const { n, from, to } of this.segments(thread, seq)) if (seq >= from && seq <= to) return n;
    return null;
  }

  #countIn(thread: StoredThread, [first, last]: SeqRange): number {
    if (first > last) return 0;
    let count = -this.#stores.hidden.count(thread, [first, last]);
    for (const { n, from, to } of this.segments(thread, first))
      count += this.#stores.messages.count(
        positionsOf({ n, from: Math.max(from, first), to: Math.min(to, last) }),
      );
    return count;
  }
}
