import { part, raw, SqlStore, type SqlPart } from "../../storage/sql.ts";
import { type PositionRange, positionOf, SLOTS, threadNumberOf } from "../core/position.ts";
import { notTombstoned } from "../core/tombstone-ranges.ts";
import { hides } from "./hidden-messages.ts";

/** Before all times: no rule for all threads. */
const NEVER = -8.64e15;
const DAY_MS = 24 * 60 * 60 * 1000;
/** All messages, by time: recall reads the index of those with words. */
const MESSAGES = [
  raw("messages INDEXED BY messages_by_time WHERE role IS NOT NULL"),
  raw("messages INDEXED BY messages_without_words WHERE role IS NULL"),
];
/** Of a row of `messages`: its thread, its seq, and that no tombstone covers it. */
const THREAD = raw(`position / ${SLOTS}`);
const SEQ = raw(`messages.position % ${SLOTS}`);
const STAYS = raw(notTombstoned("position"));
/** The time before which the rule for all threads lets none stay; null without one. */
type Bounds = { before: number | null; now: number };
/** The place of a rule among those of threads. */
type RulePlace = { after: number; now: number; limit: number };
const ALL: RulePlace = { after: 0, now: Number.MAX_SAFE_INTEGER, limit: -1 };

/** A thread with messages that is older than the time, or than its own rule, as `30d`. */
const aged = ({ before, now }: Bounds, rule: SqlPart = raw("retention")) => part`
  deleted = 0 AND last_seq > 0 AND updated_at <
    MAX(${before ?? NEVER}, ifnull(${now} - CAST(${rule} AS INTEGER) * ${DAY_MS}, ${before ?? NEVER}))`;

/** Finds the threads and messages that are past a time. Reads `threads` and `messages`. */
export class AgedMessages extends SqlStore {
  /**
   * Live threads with messages that nobody changed since `before` (null: only those with a rule of their own, since that), but these.
   * A rule of a thread's own counts once it is an hour old. Looks at each thread.
   */
  threads(bounds: Bounds, { but, limit }: { but: readonly number[]; limit: number }): string[] {
    return this.sql.column`
      SELECT id FROM threads WHERE ${aged(bounds, part`IIF(rule_at <= ${bounds.now}, retention, NULL)`)}
        AND n NOT IN (SELECT value FROM json_each(${JSON.stringify(but)})) LIMIT ${limit}`;
  }

  countThreads(bounds: Bounds): number {
    return this.sql.value`SELECT COUNT(*) FROM threads WHERE ${aged(bounds)}`;
  }

  /** Live threads with a rule of their own that holds `now`, in their order: after the thread with a number. */
  withOwnRule({ after, now, limit } = ALL): { n: number; id: string; retention: string }[] {
    return this.sql.rows`
      SELECT n, id, retention FROM threads INDEXED BY threads_by_rule
      WHERE retention IS NOT NULL AND n > ${after} AND rule_at <= ${now} AND deleted = 0 ORDER BY n LIMIT ${limit}`;
  }

  /** The time of the oldest message; null if there is none. */
  oldest(): number | null {
    return this.#oldest(Number.MAX_SAFE_INTEGER, [])?.at ?? null;
  }

  /** Counts the messages before a time. */
  count(before: number): number {
    const counts = MESSAGES.map(
      (messages) => this.sql.value<number>`SELECT COUNT(*) FROM ${messages} AND created_at < ${before}`,
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  #oldest(before: number, but: readonly number[]): { position: number; at: number } | undefined {
    const oldest = MESSAGES.flatMap(
      (messages) =>
        this.sql.rows<{ position: number; at: number }>`
        SELECT position, created_at AS at FROM ${messages} AND created_at < ${before} AND ${STAYS}
          AND ${THREAD} NOT IN (SELECT value FROM json_each(${JSON.stringify(but)}))
        ORDER BY created_at LIMIT 1`,
    );
    return oldest.toSorted((a, b) => a.at - b.at)[0];
  }

  /** Messages of one thread before a time: the oldest, and those behind it. Not of the threads with these numbers. */
  some(before: number, { but, limit }: { but: readonly number[]; limit: number }): number[] {
    const first = this.#oldest(before, but)?.position;
    if (first === undefined) return [];
    const last = positionOf(threadNumberOf(first) + 1, 0) - 1;
    return this.sql.column`
      SELECT position FROM (
        SELECT position, created_at FROM messages WHERE position BETWEEN ${first} AND ${last} ORDER BY position LIMIT ${limit}
      ) WHERE created_at < ${before} AND ${STAYS}`;
  }

  /** Counts the messages of a range, from one time to before another, that a thread does not hide. Looks at each. */
  countWithin(
    [first, last]: PositionRange,
    { thread, from, before }: { thread: number; from: number; before: number },
  ): number {
    return this.sql.value`
      SELECT COUNT(*) FROM messages WHERE position BETWEEN ${first} AND ${last}
        AND created_at >= ${from} AND created_at < ${before} AND NOT ${hides(thread, SEQ)} AND ${STAYS}`;
  }

  /** The messages of a range before a time that a thread does not hide. Looks at each. */
  within(
    [from, to]: PositionRange,
    { thread, before, limit }: { thread: number; before: number; limit: number },
  ): number[] {
    return this.sql.column`
      SELECT position FROM messages WHERE position BETWEEN ${from} AND ${to} AND created_at < ${before}
        AND NOT ${hides(thread, SEQ)} AND ${STAYS} ORDER BY position LIMIT ${limit}`;
  }
}
