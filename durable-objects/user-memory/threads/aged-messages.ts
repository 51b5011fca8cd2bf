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
const TEXTS = "messages INDEXED BY messages_by_time WHERE role IS NOT NULL";

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
  ): { id: string; length: number }[] {
    return this.#sql
      .exec<{ id: string; length: number }>(
        `SELECT id, length FROM threads WHERE ${AGED} AND n NOT IN (SELECT value FROM json_each(?3)) LIMIT ?4`,
        before ?? NEVER,
        now,
        JSON.stringify(but),
        limit,
      )
      .toArray();
  }

  countThreads({ before, now }: { before: number | null; now: number }): number {
    const count = `SELECT COUNT(*) AS n FROM threads WHERE ${AGED}`;
    return this.#sql.exec<{ n: number }>(count, before ?? NEVER, now).one().n;
  }

  /** Live threads with a rule of their own. */
  withOwnRule(): { id: string; retention: string }[] {
    return this.#sql
      .exec<{ id: string; retention: string }>(
        "SELECT id, retention FROM threads INDEXED BY threads_by_rule WHERE retention IS NOT NULL AND deleted = 0",
      )
      .toArray();
  }

  /** The time of the oldest message with a text; null if there is none. */
  oldest(): number | null {
    return this.#sql.exec<{ at: number | null }>(`SELECT MIN(created_at) AS at FROM ${TEXTS}`).one().at;
  }

  /** Counts the messages with a text before a time. */
  count(before: number): number {
    const count = `SELECT COUNT(*) AS n FROM ${TEXTS} AND created_at < ?`;
    return this.#sql.exec<{ n: number }>(count, before).one().n;
  }

  /**
   * Messages of one thread before a time, the oldest first, with those without a text beside them: no index has these. Not of the
   * threads with these numbers.
   */
  some(before: number, { but, limit }: { but: readonly number[]; limit: number }): number[] {
    const [first] = columnOf<number>(
      this.#sql,
      `SELECT position FROM ${TEXTS} AND created_at < ? AND position / ${SLOTS} NOT IN (SELECT value FROM json_each(?))
         AND ${notTombstoned("position")} ORDER BY created_at LIMIT 1`,
      before,
      JSON.stringify(but),
    );
    if (first === undefined) return [];
    const n = threadNumberOf(first);
    const [textBefore = positionOf(n, 0)] = columnOf<number>(
      this.#sql,
      "SELECT position FROM messages WHERE position BETWEEN ? AND ? AND role IS NOT NULL ORDER BY position DESC LIMIT 1",
      positionOf(n, 0),
      first - 1,
    );
    const run = (from: number, to: number): number[] =>
      columnOf(
        this.#sql,
        `SELECT position FROM (SELECT position, created_at FROM messages WHERE position BETWEEN ? AND ?
           ORDER BY position LIMIT ?) WHERE created_at < ? AND ${notTombstoned("position")}`,
        from,
        to,
        limit,
        before,
      );
    return [...run(textBefore + 1, first - 1), ...run(first, positionOf(n + 1, 0) - 1)];
  }

  /** Counts the messages with a text of a range, from one time to before another, that a thread does not hide. Looks at each. */
  countWithin(
    [first, last]: PositionRange,
    { thread, from, before }: { thread: number; from: number; before: number },
  ): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT COUNT(*) AS n FROM messages WHERE position BETWEEN ? AND ? AND role IS NOT NULL
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
