import { type PositionRange, type SeqRange, seqOf } from "../core/position.ts";

type Numbered = { n: number };

/** Rows that one statement of an export reads. */
const SLICE = 1000;

/** An SQL condition: the thread hides its message with this seq. Both are SQL expressions. */
export const hides = (thread: string, seq: string): string =>
  `EXISTS (SELECT 1 FROM hidden_messages WHERE thread = ${thread} AND seq = ${seq})`;

/**
 * Messages deleted from some of the threads that share them. Once no thread shows one, its position is stored negative, for
 * exports in progress. Owns the SQL
 * of `hidden_messages`.
 */
export class HiddenMessages {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** True if the thread hides any message: to look for each one doubles the cost of a page. */
  hasAny({ n }: Numbered): boolean {
    const any = "SELECT 1 FROM hidden_messages WHERE thread = ? AND position > 0 LIMIT 1";
    return this.#sql.exec(any, n).toArray().length > 0;
  }

  has({ n }: Numbered, position: number): boolean {
    return this.#sql.exec(`SELECT 1 WHERE ${hides("?", "?")}`, n, seqOf(position)).toArray().length > 0;
  }

  count({ n }: Numbered, [first, last]: SeqRange): number {
    return this.#sql
      .exec<{ n: number }>(
        "SELECT COUNT(*) AS n FROM hidden_messages WHERE thread = ? AND seq BETWEEN ? AND ? AND position > 0",
        n,
        first,
        last,
      )
      .one().n;
  }

  /** The seqs that a thread hides, also of messages that are gone: greater than one, up to another. */
  *seqs({ n }: Numbered, [after, upTo]: SeqRange): Generator<number> {
    for (let last = after; ;) {
      const rows = this.#sql
        .exec<{ seq: number }>(
          "SELECT seq FROM hidden_messages WHERE thread = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
          n,
          last,
          upTo,
          SLICE,
        )
        .toArray();
      for (const { seq } of rows) yield (last = seq);
      if (rows.length < SLICE) return;
    }
  }

  /** The positions among these that some thread hides. */
  among(positions: readonly number[]): number[] {
    return this.#sql
      .exec<{ position: number }>(
        // Most users hide none: then this reads one row, and not one for each position.
        `SELECT DISTINCT position FROM hidden_messages
         WHERE EXISTS (SELECT 1 FROM hidden_messages) AND position IN (SELECT value FROM json_each(?))`,
        JSON.stringify(positions),
      )
      .toArray()
      .map(({ position }) => position);
  }

  /** The positions in these ranges that other threads hide. */
  inOthers({ n }: Numbered, ranges: readonly PositionRange[]): number[] {
    return this.#sql
      .exec<{ position: number }>(
        `SELECT DISTINCT position FROM json_each(?) AS own CROSS JOIN hidden_messages
           ON position BETWEEN own.value ->> 0 AND own.value ->> 1
         WHERE thread <> ?`,
        JSON.stringify(ranges),
        n,
      )
      .toArray()
      .map(({ position }) => position);
  }

  /** Notes that these threads do not show a message that others show, or showed (`gone`). */
  add(threads: readonly number[], position: number, gone: "gone" | null = null): void {
    this.#sql.exec(
      "INSERT INTO hidden_messages (thread, seq, position) SELECT value, ?, ? FROM json_each(?)",
      seqOf(position),
      gone === null ? position : -position,
      JSON.stringify(threads),
    );
  }

  /** Lets a fork begin with the rows of its origin. */
  inherit(fork: Numbered & { forkSeq: number }, origin: Numbered): void {
    this.#sql.exec(
      `INSERT INTO hidden_messages (thread, seq, position)
       SELECT ?, seq, position FROM hidden_messages WHERE thread = ? AND seq <= ? AND position > 0`,
      fork.n,
      origin.n,
      fork.forkSeq,
    );
  }

  removeAll({ n }: Numbered): void {
    this.#sql.exec("DELETE FROM hidden_messages WHERE thread = ?", n);
  }

  /** The message is gone for all. Its owner needs no row; the forks' rows stay. */
  gone(position: number, owner: number): void {
    this.#sql.exec("DELETE FROM hidden_messages WHERE position = ? AND thread = ?", position, owner);
    this.#sql.exec("UPDATE hidden_messages SET position = -position WHERE position = ?", position);
  }

  /** A message that was gone has come back: the forks that hid it hide it again. */
  cameBack(position: number): void {
    this.#sql.exec("UPDATE hidden_messages SET position = -position WHERE position = ?", -position);
  }
}
