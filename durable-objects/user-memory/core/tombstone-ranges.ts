import { type PositionRange, positionOf, threadNumberOf } from "./position.ts";
import { SqlStore } from "../../storage/sql.ts";

/** An SQL condition: no tombstone covers the document with this number, an SQL expression. */
export const notTombstoned = (n: string): string =>
  `NOT EXISTS (SELECT 1 FROM tombstones WHERE ${n} BETWEEN first AND last)`;

type Row = { first: number; last: number; erasure: string | null };
type Tombstone = { range: PositionRange; erasure: string | null };

/**
 * Ranges of deleted messages whose rows are still to be removed; no read shows them. Ranges do not overlap, and those of one thread
 * reach from the first of them to its last seq. Owns the SQL of `tombstones`.
 */
export class TombstoneRanges extends SqlStore {
  /** Adds a range without the part that has a tombstone already. Returns the added range; null if nothing is left of it. */
  add(range: PositionRange, erasure: string | null): PositionRange | null {
    const [first, last] = this.staying(range);
    if (first > last) return null;
    this.sql.run`INSERT INTO tombstones (first, last, erasure) VALUES (${first}, ${last}, ${erasure})`;
    return [first, last];
  }

  /** The part of a range, within one thread, without a tombstone. Its end is before its beginning if there is none. */
  staying([from, to]: PositionRange): PositionRange {
    const begin = positionOf(threadNumberOf(from), 0);
    const first = this.sql.value<number | null>`
      SELECT MIN(first) FROM tombstones WHERE first BETWEEN ${begin} AND ${to}`;
    return first === null ? [from, to] : [from, first - 1];
  }

  /** The least of all; null if there is none. */
  next(): Tombstone | null {
    const [row] = this.sql.rows<Row>`SELECT * FROM tombstones LIMIT 1`;
    return row === undefined ? null : { range: [row.first, row.last], erasure: row.erasure };
  }

  all(): PositionRange[] {
    return this.sql.rows<Row>`SELECT * FROM tombstones`.map(({ first, last }) => [first, last]);
  }

  isAwaitedBy(erasure: string): boolean {
    return this.sql.has`SELECT 1 FROM tombstones WHERE erasure = ${erasure} LIMIT 1`;
  }

  remove([first]: PositionRange): void {
    this.sql.run`DELETE FROM tombstones WHERE first = ${first}`;
  }
}
