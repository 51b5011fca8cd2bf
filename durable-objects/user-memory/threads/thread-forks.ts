import { part, raw, SqlStore } from "../../storage/sql.ts";
import { type Segment, type SeqRange, seqOf, threadNumberOf } from "../core/position.ts";
import { hides } from "./hidden-messages.ts";

type Link = { n: number; parent: number | null; fork_seq: number; last: number };
/** Links of a chain that one statement reads: a page of the last messages needs the last links. */
const LINKS = 8;

/** The common table `family`: a thread and its forks, and theirs, that share its message with this seq. */
const family = (n: number, seq: number) => part`
  WITH RECURSIVE family (n) AS (
    SELECT ${n}
    UNION ALL
    SELECT threads.n FROM family CROSS JOIN threads ON parent = family.n AND fork_seq >= ${seq}
  )`;
const HERE = raw("family.n");

/** The lines of threads: which share the messages of which. Reads `threads`. */
export class ThreadForks extends SqlStore {
  /** The stretches that a thread and those before it share between two seqs, the last first, read some at a time. */
  *chain(thread: number, [from, upTo]: SeqRange): Generator<Segment, void> {
    for (let [next, last]: [number | null, number] = [thread, upTo]; next !== null && last >= from;) {
      const links: Link[] = this.sql.rows<Link>`
        WITH RECURSIVE chain (n, parent, fork_seq, last) AS (
          SELECT n, parent, fork_seq, ${last} FROM threads WHERE n = ${next}
          UNION ALL
          -- Never more than the threads between share: a fork of a thread that was emptied shares nothing.
          SELECT threads.n, threads.parent, threads.fork_seq, MIN(last, chain.fork_seq)
          FROM chain CROSS JOIN threads ON threads.n = chain.parent WHERE MIN(last, chain.fork_seq) >= ${from}
        ) SELECT * FROM chain LIMIT ${LINKS}`;
      for (const link of links)
        if (link.fork_seq < link.last) yield { n: link.n, from: link.fork_seq + 1, to: link.last };
      const end = links.at(-1);
      next = end?.parent ?? null;
      last = Math.min(end?.last ?? 0, end?.fork_seq ?? 0);
    }
  }

  /** The forks among these threads, and the forks before them. */
  forks(threads: readonly number[]): Map<number, { parent: number; forkSeq: number }> {
    const forks = this.sql.rows<{ n: number; parent: number; forkSeq: number }>`
      WITH RECURSIVE line (n) AS (
        SELECT value FROM json_each(${JSON.stringify(threads)})
        UNION
        SELECT parent FROM line CROSS JOIN threads ON threads.n = line.n WHERE parent IS NOT NULL
      )
      SELECT threads.n, parent, fork_seq AS "forkSeq"
      FROM line CROSS JOIN threads ON threads.n = line.n WHERE parent IS NOT NULL`;
    return new Map(forks.map((fork) => [fork.n, fork]));
  }

  /** The numbers of a thread and its forks that show its message with this seq. */
  showing(n: number, seq: number): number[] {
    return this.sql.column`${family(n, seq)} SELECT n FROM family WHERE NOT ${hides(HERE, seq)}`;
  }

  /** The id of a live thread that has the message at this position, or null. */
  holder(position: number): string | null {
    const [n, seq] = [threadNumberOf(position), seqOf(position)];
    const [id] = this.sql.column<string>`
      ${family(n, seq)} SELECT id FROM family CROSS JOIN threads ON threads.n = family.n
      WHERE deleted = 0 AND NOT ${hides(HERE, seq)} LIMIT 1`;
    return id ?? null;
  }

  /** The ids of the live threads among these, by their numbers. */
  liveAmong(threads: readonly number[]): Map<number, string> {
    return new Map(
      this.sql.lists<[number, string]>`
        SELECT n, id FROM threads
        WHERE deleted = 0 AND n IN (SELECT value FROM json_each(${JSON.stringify(threads)}))`,
    );
  }

  /** The last seq of a thread's own that a fork shares; null if there is no fork. */
  sharedUpTo(n: number): number | null {
    return this.sql.value`SELECT MAX(fork_seq) FROM threads WHERE parent = ${n}`;
  }
}
