import { type PositionRange, positionOf, threadNumberOf } from "./position.ts";

/** For `schema.ts`. `erasure`: which one waits for it; null where a thread was only deleted. */
export const leavingSchema = `
  CREATE TABLE leaving (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    erasure TEXT
  );
  CREATE INDEX leaving_by_erasure ON leaving (erasure) WHERE erasure IS NOT NULL;
`;

/** That a document, whose number `n` is, is not among them: a condition on any table that has such a column. */
export const notLeaving = (n: string): string =>
  `NOT EXISTS (SELECT 1 FROM leaving WHERE ${n} BETWEEN first AND last)`;

export type Leaving = { range: PositionRange; erasure: string | null };

/**
 * Where messages are gone for all, and their rows are still to be removed: no read sees them. None overlaps another, and
 * those of one thread reach from the first of them to its last seq. Owns the SQL of `leaving`.
 */
export class LeavingRanges {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Notes a range, but for what of it is leaving already. Answers what it noted; null if nothing. */
  add(range: PositionRange, erasure: string | null): PositionRange | null {
    const [first, last] = this.staying(range);
    if (first > last) return null;
    this.#sql.exec("INSERT INTO leaving (first, last, erasure) VALUES (?, ?, ?)", first, last, erasure);
    return [first, last];
  }

  /** What of a range within one thread is not leaving; its end comes before its beginning if nothing is. */
  staying([from, to]: PositionRange): PositionRange {
    const { first } = this.#sql
      .exec<{ first: number | null }>(
        "SELECT MIN(first) AS first FROM leaving WHERE first BETWEEN ? AND ?",
        positionOf(threadNumberOf(from), 0),
        to,
      )
      .one();
    return first === null ? [from, to] : [from, first - 1];
  }

  /** The one that came first of all threads; null if there is none. */
  next(): Leaving | null {
    const [row] = this.#sql
      .exec<{ first: number; last: number; erasure: string | null }>("SELECT * FROM leaving LIMIT 1")
      .toArray();
    return row === undefined ? null : { range: [row.first, row.last], erasure: row.erasure };
  }

  all(): PositionRange[] {
    return this.#sql
      .exec<{ first: number; last: number }>("SELECT first, last FROM leaving")
      .toArray()
      .map(({ first, last }) => [first, last]);
  }

  /** Whether an erasure waits for any. */
  isAwaitedBy(erasure: string): boolean {
    return this.#sql.exec("SELECT 1 FROM leaving WHERE erasure = ? LIMIT 1", erasure).toArray().length > 0;
  }

  /** Nothing of it is there any more. */
  remove([first]: PositionRange): void {
    this.#sql.exec("DELETE FROM leaving WHERE first = ?", first);
  }
}
