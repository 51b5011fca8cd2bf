import { inSlices, part, SqlStore, type SqlPart } from "../../storage/sql.ts";
import { type PositionRange, type SeqRange, seqOf } from "../core/position.ts";

type Numbered = { n: number };

/** Rows that one statement of an export reads. */
const SLICE = 1000;

/** An SQL condition: the thread hides its message with this seq. */
export const hides = (thread: number | SqlPart, seq: number | SqlPart): SqlPart =>
  part`EXISTS (SELECT 1 FROM hidden_messages WHERE thread = ${thread} AND seq = ${seq})`;

/**
 * Messages deleted from some of the threads that share them. Once no thread shows one, its position is stored negative, for
 * exports in progress. Owns the SQL of `hidden_messages`.
 */
export class HiddenMessages extends SqlStore {
  /** True if the thread hides any message: to look for each one doubles the cost of a page. */
  hasAny({ n }: Numbered): boolean {
    return this.sql.has`SELECT 1 FROM hidden_messages WHERE thread = ${n} AND position > 0 LIMIT 1`;
  }

  has({ n }: Numbered, position: number): boolean {
    return this.sql.has`SELECT 1 WHERE ${hides(n, seqOf(position))}`;
  }

  count({ n }: Numbered, [first, last]: SeqRange): number {
    return this.sql.value`
      SELECT COUNT(*) FROM hidden_messages
      WHERE thread = ${n} AND seq BETWEEN ${first} AND ${last} AND position > 0`;
  }

  /** The seqs that a thread hides, also of messages that are gone: greater than one, up to another. */
  seqs({ n }: Numbered, [after, upTo]: SeqRange): Iterable<number> {
    return inSlices(
      SLICE,
      (last = after) => this.sql.column<number>`
        SELECT seq FROM hidden_messages WHERE thread = ${n} AND seq > ${last} AND seq <= ${upTo}
        ORDER BY seq LIMIT ${SLICE}`,
    );
  }

  /** The positions among these that some thread hides. */
  among(positions: readonly number[]): number[] {
    // Most users hide none: then this reads one row, and not one for each position.
    return this.sql.column`
      SELECT DISTINCT position FROM hidden_messages
      WHERE EXISTS (SELECT 1 FROM hidden_messages)
        AND position IN (SELECT value FROM json_each(${JSON.stringify(positions)}))`;
  }

  /** The positions in these ranges that other threads hide. */
  inOthers({ n }: Numbered, ranges: readonly PositionRange[]): number[] {
    return this.sql.column`
      SELECT DISTINCT position FROM json_each(${JSON.stringify(ranges)}) AS own CROSS JOIN hidden_messages
        ON position BETWEEN own.value ->> 0 AND own.value ->> 1
      WHERE thread <> ${n}`;
  }

  /** Notes that these threads do not show a message that others show, or showed (`gone`). */
  add(threads: readonly number[], position: number, gone: "gone" | null = null): void {
    this.sql.run`
      INSERT INTO hidden_messages (thread, seq, position)
      SELECT value, ${seqOf(position)}, ${gone === null ? position : -position}
      FROM json_each(${JSON.stringify(threads)})`;
  }

  /** Lets a fork begin with the rows of its origin. */
  inherit(fork: Numbered & { forkSeq: number }, origin: Numbered): void {
    this.sql.run`
      INSERT INTO hidden_messages (thread, seq, position)
      SELECT ${fork.n}, seq, position FROM hidden_messages
      WHERE thread = ${origin.n} AND seq <= ${fork.forkSeq} AND position > 0`;
  }

  removeAll({ n }: Numbered): void {
    this.sql.run`DELETE FROM hidden_messages WHERE thread = ${n}`;
  }

  /** The message is gone for all. Its owner needs no row; the forks' rows stay. */
  gone(position: number, owner: number): void {
    this.sql.run`DELETE FROM hidden_messages WHERE position = ${position} AND thread = ${owner}`;
    this.#turn(position);
  }

  /** A message that was gone has come back: the forks that hid it hide it again. */
  cameBack(position: number): void {
    this.#turn(-position);
  }

  #turn(position: number): void {
    this.sql.run`UPDATE hidden_messages SET position = -position WHERE position = ${position}`;
  }
}
