import { columnOf } from "../core/sql-condition.ts";
import { type PositionRange, positionOf, SLOTS, threadNumberOf } from "../core/position.ts";
import { notTombstoned } from "../core/tombstone-ranges.ts";
import { hides } from "./hidden-messages.ts";

/** Before all times: no rule for all threads. */
const NEVER = -8.64e15;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A thread that is older than ?1, or at the time ?2 than its own rule, as `30d`. */
const AGED = `deleted = 0 AND last_seq > 0
  AND updated_at < MAX(?1, ifnull(?2 - CAST(retention AS INTEGER) * ${DAY_MS}, ?1))`;
/** The same, once the rule is an hour old. */
const AGED_NOW = AGED.replace("retention", "IIF(rule_at <= ?2, retention, NULL)");
/** All messages, by time: recall reads the index of those with words. */
const MESSAGES = [
  "messages INDEXED BY messages_by_time WHERE role IS NOT NULL",
  "messages INDEXED BY messages_without_words WHERE role IS NULL",
];
/** The place of a rule among those of threads. */
type RulePlace = { after: number; now: number; limit: number };
const ALL: RulePlace = { after: 0, now: Number.MAX_SAFE_INTEGER, limit: -1 };

/** Finds the threads and messages that are past a time. Reads `threads` and `messages`. */
export class AgedMessages {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Live threads with messages that nobody changed since `before` (null: only those with a rule of their own, since that), but these.
   * Looks at each thread.
   */
  threads(
    { before, now }: { before: number | null; now: number },
    { but, limit }: { but: readonly number[]; limit: number },
  ): string[] {
    return columnOf(
      this.#sql,
      `SELECT id FROM threads WHERE ${AGED_NOW} AND n NOT IN (SELECT value FROM json_each(?3)) LIMIT ?4`,
      before ?? NEVER,
      now,
      JSON.stringify(but),
      limit,
    );
  }

  countThreads({ before, now }: { before: number | null; now: number }): number {
    const count = `SELECT COUNT(*) AS n FROM threads WHERE ${AGED}`;
    return this.#sql.exec<{ n: number }>(count, before ?? NEVER, now).one().n;
  }

  /** Live threads with a rule of their own that holds `now`, in their order: after the thread with a number. */
  withOwnRule({ after, now, limit } = ALL): { n: number; id: string; retention: string }[] {
    return this.#sql
      .exec<{ n: number; id: string; retention: string }>(
        `SELECT n, id, retention FROM threads INDEXED BY threads_by_rule
         WHERE retention IS NOT NULL AND n > ? AND rule_at <= ? AND deleted = 0 ORDER BY n LIMIT ?`,
        after,
        now,
        limit,
      )
      .toArray();
  }

  /** The time of the oldest message; null if there is none. */
  oldest(): number | null {
    return this.#oldest(Number.MAX_SAFE_INTEGER, [])?.at ?? null;
  }

  /** Counts the messages before a time. */
  count(before: number): number {
    const counts = MESSAGES.flatMap((messages) =>
      columnOf<number>(this.#sql, `SELECT COUNT(*) FROM ${messages} AND created_at < ?`, before),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  #oldest(before: number, but: readonly number[]): { position: number; at: number } | null {
    const oldest = MESSAGES.flatMap((messages) =>
      this.#sql
        .exec<{ position: number; at: number }>(
          `SELECT position, created_at AS at FROM ${messages} AND created_at < ?
             AND position / ${SLOTS} NOT IN (SELECT value FROM json_each(?)) AND ${notTombstoned("position")}
           ORDER BY created_at LIMIT 1`,
          before,
          JSON.stringify(but),
        )
        .toArray(),
    );
    return oldest.toSorted((a, b) => a.at - b.at)[0] ?? null;
  }

  /** Messages of one thread before a time: the oldest, and those behind it. Not of the threads with these numbers. */
  some(before: number, { but, limit }: { but: readonly number[]; limit: number }): number[] {
    const first = this.#oldest(before, but)?.position;
    if (first === undefined) return [];
    return columnOf(
      this.#sql,
      `SELECT position FROM (SELECT position, created_at FROM messages WHERE position BETWEEN ? AND ?
         ORDER BY position LIMIT ?) WHERE created_at < ? AND ${notTombstoned("position")}`,
      first,
      positionOf(threadNumberOf(first) + 1, 0) - 1,
      limit,
      before,
    );
  }

  /** Counts the messages of a range, from one time to before another, that a thread does not hide. Looks at each. */
  countWithin(
    [first, last]: PositionRange,
    { thread, from, before }: { thread: number; from: number; before: number },
  ): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT COUNT(*) AS n FROM messages WHERE position BETWEEN ? AND ?
           AND created_at >= ? AND created_at < ? AND NOT ${hides("?", `messages.position % ${SLOTS}`)}
           AND ${notTombstoned("position")}`,
        first,
        last,
        from,
        before,
        thread,
      )
      .one().n;
  }

  /** The messages of a range before a time that a thread does not hide. Looks at each. */
  within(
    [from, to]: PositionRange,
    { thread, before, limit }: { thread: number; before: number; limit: number },
  ): number[] {
    return columnOf(
      this.#sql,
      `SELECT position FROM messages WHERE position BETWEEN ? AND ? AND created_at < ?
         AND NOT ${hides("?", `messages.position % ${SLOTS}`)} AND ${notTombstoned("position")} ORDER BY position LIMIT ?`,
      from,
      to,
      before,
      thread,
      limit,
    );
  }
}
