import { type Segment, type SeqRange, seqOf, threadNumberOf } from "../core/position.ts";
import { hides } from "./hidden-messages.ts";
import type { Row } from "./thread-row.ts";

/**
 * The thread ?1, of which messages up to seq ?3 are shared, and those before it that share messages from seq ?2 on,
 * each with the last seq shared of it.
 */
const CHAIN = `
  WITH RECURSIVE chain (n, parent, fork_seq, last) AS (
    SELECT n, parent, fork_seq, ?3 FROM threads WHERE n = ?1
    UNION ALL
    -- Never more than the threads between share: a fork of a thread that was emptied shares nothing.
    SELECT threads.n, threads.parent, threads.fork_seq, MIN(last, chain.fork_seq)
    FROM chain CROSS JOIN threads ON threads.n = chain.parent WHERE MIN(last, chain.fork_seq) >= ?2
  )`;
/** Links of a chain that one statement reads: a page of the last messages needs the last links. */
const LINKS = 8;

/** The thread ?1 and its forks, and theirs, that share its message with seq ?2. */
const FAMILY = `
  WITH RECURSIVE family (n) AS (
    SELECT ?1
    UNION ALL
    SELECT threads.n FROM family CROSS JOIN threads ON parent = family.n AND fork_seq >= ?2
  )`;

/** The lines of threads: which share the messages of which. Reads `threads`. */
export class ThreadForks {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The stretches that a thread and those before it share between two seqs, the last first, read some at a time. */
  *chain(thread: number, [from, upTo]: SeqRange): Generator<Segment, void> {
    for (let [next, last]: [number | null, number] = [thread, upTo]; next !== null && last >= from;) {
      const links = this.#sql
        .exec<Pick<Row, "n" | "parent" | "fork_seq"> & { last: number }>(
          `${CHAIN} SELECT * FROM chain LIMIT ${LINKS}`,
          next,
          from,
          last,
        )
        .toArray();
      for (const link of links)
        if (link.fork_seq < link.last) yield { n: link.n, from: link.fork_seq + 1, to: link.last };
      const end = links.at(-1);
      next = end?.parent ?? null;
      last = Math.min(end?.last ?? 0, end?.fork_seq ?? 0);
    }
  }

  /** The forks among these threads, and the forks before them. */
  forks(threads: readonly number[]): Map<number, { parent: number; forkSeq: number }> {
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

  /** The numbers of a thread and its forks that show its message with this seq. */
  showing(n: number, seq: number): number[] {
    return this.#sql
      .exec<{ n: number }>(`${FAMILY} SELECT n FROM family WHERE NOT ${hides("family.n", "?2")}`, n, seq)
      .toArray()
      .map((row) => row.n);
  }

  /** The id of a live thread that has the message at this position, or null. */
  holder(position: number): string | null {
    const [holder] = this.#sql
      .exec<{ id: string }>(
        `${FAMILY} SELECT id FROM family CROSS JOIN threads ON threads.n = family.n
         WHERE deleted = 0 AND NOT ${hides("family.n", "?2")} LIMIT 1`,
        threadNumberOf(position),
        seqOf(position),
      )
      .toArray();
    return holder?.id ?? null;
  }

  /** The ids of the live threads among these, by their numbers. */
  liveAmong(threads: readonly number[]): Map<number, string> {
    const rows = this.#sql.exec<{ n: number; id: string }>(
      "SELECT n, id FROM threads WHERE deleted = 0 AND n IN (SELECT value FROM json_each(?))",
      JSON.stringify(threads),
    );
    return new Map(Array.from(rows, ({ n, id }) => [n, id]));
  }

  /** The last seq of a thread's own that a fork shares; null if there is no fork. */
  sharedUpTo(n: number): number | null {
    return this.#sql
      .exec<{ last: number | null }>("SELECT MAX(fork_seq) AS last FROM threads WHERE parent = ?", n)
      .one().last;
  }
}
