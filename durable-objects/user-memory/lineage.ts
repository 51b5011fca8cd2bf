import type { MessageStore } from "./message-store.ts";
import { LAST_SEQ, positionOf, type PositionRange, seqOf, threadNumberOf } from "./position.ts";
import type { StoredThread, ThreadStore } from "./thread-store.ts";

/** A stretch of a thread's messages that one thread owns: seqs from one to the other, both included. */
export type Segment = { n: number; from: number; to: number };

/**
 * Which messages a thread has. A fork owns what was appended to it and shares what came before with the thread
 * that owns that (`parent`): no message is copied, and seqs go on from the fork. Owns the SQL of `hidden_messages`,
 * which are shared messages that were deleted from some of the threads that share them; from all, and they are gone.
 */
export class Lineage {
  readonly #sql: SqlStorage;
  readonly #threads: ThreadStore;
  readonly #messages: MessageStore;

  constructor(sql: SqlStorage, threads: ThreadStore, messages: MessageStore) {
    this.#sql = sql;
    this.#threads = threads;
    this.#messages = messages;
  }

  /** The thread's stretches, in the order of the conversation. */
  segments(thread: StoredThread): Segment[] {
    const segments: Segment[] = [];
    let to = LAST_SEQ;
    for (let owner: StoredThread | null = thread; owner !== null; owner = this.#parent(owner)) {
      if (owner.forkSeq < to) segments.unshift({ n: owner.n, from: owner.forkSeq + 1, to });
      // Never more than the threads between share: a fork of a thread that was emptied shares nothing.
      to = Math.min(to, owner.forkSeq);
    }
    return segments;
  }

  hidden({ n }: StoredThread): Set<number> {
    const rows = this.#sql
      .exec<{ seq: number }>("SELECT seq FROM hidden_messages WHERE thread = ?", n)
      .toArray();
    return new Set(rows.map(({ seq }) => seq));
  }

  /** The position of the thread's message with this seq, or null if it has none. */
  position(thread: StoredThread, seq: number): number | null {
    const owner = this.segments(thread).find(({ from, to }) => seq >= from && seq <= to);
    if (owner === undefined) return null;
    const position = positionOf(owner.n, seq);
    return this.shows(thread, position) && this.#messages.has(position) ? position : null;
  }

  /** Whether the thread shows the message at this position, given that it is there. */
  shows({ n }: StoredThread, position: number): boolean {
    const seq = seqOf(position);
    return (
      this.#sql.exec("SELECT 1 FROM hidden_messages WHERE thread = ? AND seq = ?", n, seq).toArray()
        .length === 0
    );
  }

  /** How many messages the thread has up to and with a seq. */
  count(thread: StoredThread, upTo: number): number {
    const hidden = [...this.hidden(thread)].filter((seq) => seq <= upTo).length;
    const all = this.segments(thread)
      .filter(({ from }) => from <= upTo)
      .map(({ n, from, to }) =>
        this.#messages.count([positionOf(n, from), positionOf(n, Math.min(to, upTo))]),
      );
    return all.reduce((sum, count) => sum + count, 0) - hidden;
  }

  /** The number of the thread that owns the message at this seq: the parent of a fork made there. */
  owner(thread: StoredThread, seq: number): number {
    return this.segments(thread).find(({ from, to }) => seq >= from && seq <= to)?.n ?? thread.n;
  }

  /** Lets a fork begin with what its origin has hidden. */
  inheritHidden(fork: StoredThread, origin: StoredThread): void {
    this.#sql.exec(
      "INSERT INTO hidden_messages (thread, seq) SELECT ?, seq FROM hidden_messages WHERE thread = ? AND seq <= ?",
      fork.n,
      origin.n,
      fork.forkSeq,
    );
  }

  /** Takes a message out of one thread. Answers the positions that are gone for all. */
  deleteMessage(thread: StoredThread, position: number): PositionRange[] {
    const seq = seqOf(position);
    const own = threadNumberOf(position) === thread.n;
    if (own && !this.#threads.children(thread.n).some(({ forkSeq }) => forkSeq >= seq)) {
      this.#messages.delete([position, position]);
      return [[position, position]];
    }
    this.#sql.exec("INSERT INTO hidden_messages (thread, seq) VALUES (?, ?)", thread.n, seq);
    return this.#releaseUnseen([{ n: threadNumberOf(position), seq }]);
  }

  /** Takes a thread away, except for what its forks share. Answers the positions that are gone for all. */
  deleteThread(thread: StoredThread): PositionRange[] {
    this.#sql.exec("DELETE FROM hidden_messages WHERE thread = ?", thread.n);
    this.#threads.markDeleted(thread.n);
    const collected = this.#collect(thread);
    return [...collected, ...this.#releaseUnseen(this.#hiddenAnywhere())];
  }

  /** A live thread that has the message at this position, or null. */
  holder(position: number): StoredThread | null {
    const seq = seqOf(position);
    const candidates = [this.#threads.byNumber(threadNumberOf(position))];
    for (const thread of candidates) {
      if (thread === null) continue;
      if (!thread.deleted && this.shows(thread, position)) return thread;
      candidates.push(...this.#threads.children(thread.n).filter(({ forkSeq }) => forkSeq >= seq));
    }
    return null;
  }

  /** Messages that are hidden in some thread, by their owner. */
  #hiddenAnywhere(): { n: number; seq: number }[] {
    const rows = this.#sql
      .exec<{ thread: number; seq: number }>("SELECT thread, seq FROM hidden_messages")
      .toArray();
    return rows.flatMap(({ thread, seq }) => {
      const hiding = this.#threads.byNumber(thread);
      return hiding === null ? [] : [{ n: this.owner(hiding, seq), seq }];
    });
  }

  /** Removes the messages among these that no thread shows any more, and what was noted of their being hidden. */
  #releaseUnseen(messages: readonly { n: number; seq: number }[]): PositionRange[] {
    const unseen = messages.filter(({ n, seq }) => this.holder(positionOf(n, seq)) === null);
    return unseen.map(({ n, seq }): PositionRange => {
      const position = positionOf(n, seq);
      this.#messages.delete([position, position]);
      const family = [n];
      for (const member of family) {
        this.#sql.exec("DELETE FROM hidden_messages WHERE thread = ? AND seq = ?", member, seq);
        family.push(
          ...this.#threads
            .children(member)
            .filter(({ forkSeq }) => forkSeq >= seq)
            .map((child) => child.n),
        );
      }
      return [position, position];
    });
  }

  /** Removes what nobody shares of a deleted thread, and then of the deleted threads before it. */
  #collect(thread: StoredThread): PositionRange[] {
    if (this.#threads.byNumber(thread.n)?.deleted !== true) return [];
    const shared = Math.max(0, ...this.#threads.children(thread.n).map(({ forkSeq }) => forkSeq));
    const gone: PositionRange = [positionOf(thread.n, shared + 1), positionOf(thread.n, LAST_SEQ)];
    this.#messages.delete(gone);
    if (this.#threads.children(thread.n).length > 0) return [gone];
    this.#threads.remove(thread.n);
    const parent = this.#parent(thread);
    return parent === null ? [gone] : [gone, ...this.#collect(parent)];
  }

  #parent({ parent }: StoredThread): StoredThread | null {
    return parent === null ? null : this.#threads.byNumber(parent);
  }
}
