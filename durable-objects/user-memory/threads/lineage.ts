import type { MessageStore } from "./message-store.ts";
import { LAST_SEQ, positionOf, seqOf, threadNumberOf } from "../core/position.ts";
import type { StoredThread } from "./thread-store.ts";

/** A stretch of a thread's messages that one thread owns: seqs from one to the other, both included. */
export type Segment = { n: number; from: number; to: number };
/** Seqs from one to the other, both included. */
export type SeqRange = readonly [from: number, to: number];

/**
 * The thread ?1, of which messages up to seq ?3 are shared, and those before it that share messages from seq ?2 on,
 * each with the last seq shared of it. One statement for a whole chain of forks, and read lazily: who needs the last
 * messages reads the last links.
 */
export const CHAIN = `
  WITH RECURSIVE chain (n, parent, fork_seq, last) AS (
    SELECT n, parent, fork_seq, ?3 FROM threads WHERE n = ?1
    UNION ALL
    -- Never more than the threads between share: a fork of a thread that was emptied shares nothing.
    SELECT threads.n, threads.parent, threads.fork_seq, MIN(last, chain.fork_seq)
    FROM chain CROSS JOIN threads ON threads.n = chain.parent WHERE MIN(last, chain.fork_seq) >= ?2
  )`;

/**
 * Which messages a thread has. A fork owns what was appended to it and shares what came before with the thread
 * that owns that (`parent`): no message is copied, and seqs go on from the fork. What of it is hidden, and goes, is
 * for sharing.ts.
 */
export class Lineage {
  readonly #sql: SqlStorage;
  readonly #messages: MessageStore;

  constructor(sql: SqlStorage, messages: MessageStore) {
    this.#sql = sql;
    this.#messages = messages;
  }

  /** The thread's stretches from the last one back to the one that holds the seq `from`, as they are asked for. */
  *segments({ n, parent, forkSeq }: StoredThread, from = 1): Generator<Segment, void> {
    // Most threads are no forks, and most reads of a fork end in what is its own: neither asks anything.
    yield { n, from: forkSeq + 1, to: LAST_SEQ };
    if (parent === null || forkSeq < from) return;
    yield* this.#sql.exec<Segment>(
      `${CHAIN} SELECT n, fork_seq + 1 AS "from", last AS "to" FROM chain WHERE fork_seq < last`,
      parent,
      from,
      forkSeq,
    );
  }

  /** The position of the thread's message with this seq, or null if it has none. */
  position(thread: StoredThread, seq: number): number | null {
    const owner = this.#ownerOf(thread, seq);
    if (owner === null) return null;
    const position = positionOf(owner, seq);
    return this.shows(thread, position) && this.#messages.has(position) ? position : null;
  }

  /** Whether anything is hidden in the thread: to look at each message for it doubles what a page costs. */
  hidesAny({ n }: Pick<StoredThread, "n">): boolean {
    return (
      this.#sql.exec("SELECT 1 FROM hidden_messages WHERE thread = ? AND position > 0 LIMIT 1", n).toArray()
        .length > 0
    );
  }

  /** Whether the thread shows the message at this position, given that it is there. */
  shows({ n }: Pick<StoredThread, "n">, position: number): boolean {
    const seq = seqOf(position);
    return (
      this.#sql.exec("SELECT 1 FROM hidden_messages WHERE thread = ? AND seq = ?", n, seq).toArray()
        .length === 0
    );
  }

  /**
   * Where the message stands that comes so many places after one of these, or before it: in the thread, if one is given;
   * else in the thread that owns it, whose first ones come after what it shares. It may not be there.
   */
  besides(
    positions: readonly number[],
    thread: StoredThread | null,
  ): (position: number, step: number) => number | null {
    if (thread !== null) {
      const segments = [...this.segments(thread)];
      return (position, step) => {
        const seq = seqOf(position) + step;
        const segment = segments.find(({ from, to }) => seq >= from && seq <= to);
        return segment === undefined ? null : positionOf(segment.n, seq);
      };
    }
    const forks = this.#forks([...new Set(positions.map(threadNumberOf))]);
    return (position, step) => {
      const seq = seqOf(position) + step;
      let n = threadNumberOf(position);
      for (let fork = forks.get(n); fork !== undefined && seq <= fork.forkSeq; fork = forks.get(n))
        n = fork.parent;
      return seq < 1 ? null : positionOf(n, seq);
    };
  }

  /** Those of these threads that are forks, and the forks before them. */
  #forks(threads: readonly number[]): Map<number, { parent: number; forkSeq: number }> {
    const rows = this.#sql.exec<{ n: number; parent: number; fork_seq: number }>(
      `WITH RECURSIVE line (n) AS (
         SELECT value FROM json_each(?)
         UNION
         SELECT parent FROM line CROSS JOIN threads ON threads.n = line.n WHERE parent IS NOT NULL
       )
       SELECT threads.n, parent, fork_seq FROM line CROSS JOIN threads ON threads.n = line.n WHERE parent IS NOT NULL`,
      JSON.stringify(threads),
    );
    return new Map(Array.from(rows, ({ n, parent, fork_seq: forkSeq }) => [n, { parent, forkSeq }]));
  }

  /** How many messages the thread has up to and with a seq. Counts on the side of it where there are fewer. */
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
    let count = -this.#countHidden(thread, [first, last]);
    for (const { n, from, to } of this.segments(thread, first))
      count += this.#messages.count([
        positionOf(n, Math.max(from, first)),
        positionOf(n, Math.min(to, last)),
      ]);
    return count;
  }

  /** Those of these positions that some thread does not show any more. */
  hiddenSomewhere(positions: readonly number[]): number[] {
    return this.#sql
      .exec<{ position: number }>(
        "SELECT DISTINCT position FROM hidden_messages WHERE position IN (SELECT value FROM json_each(?))",
        JSON.stringify(positions),
      )
      .toArray()
      .map(({ position }) => position);
  }

  #countHidden({ n }: StoredThread, [first, last]: SeqRange): number {
    return this.#sql
      .exec<{ n: number }>(
        "SELECT COUNT(*) AS n FROM hidden_messages WHERE thread = ? AND seq BETWEEN ? AND ? AND position > 0",
        n,
        first,
        last,
      )
      .one().n;
  }
}
