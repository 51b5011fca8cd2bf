import { backOff } from "./back-off.ts";
import { SqlStore } from "./sql.ts";

export const failuresSchema = `
  -- Work that failed since its last success, by its name.
  CREATE TABLE failures (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, retry_at INTEGER NOT NULL) WITHOUT ROWID;
`;

type Row = { failures: number; retryAt: number };

/**
 * Counts failures of work since its last success. Stored, as an object that sleeps between two attempts would begin anew with the
 * shortest wait, for ever. Owns the SQL of `failures`.
 */
export class Failures extends SqlStore {
  /** Notes a failure. Returns the time of the next attempt, after `last` at most. Failures before that time are one. */
  failed(name: string, { now, last }: { now: number; last: number }): number {
    const known = this.#of(name);
    if (known !== undefined && now < known.retryAt) return known.retryAt;
    const failures = (known?.failures ?? 0) + 1;
    const retryAt = now + backOff(failures, last);
    try {
      this.sql.run`
        INSERT INTO failures (name, failures, retry_at) VALUES (${name}, ${failures}, ${retryAt})
        ON CONFLICT (name) DO UPDATE SET failures = excluded.failures, retry_at = excluded.retry_at`;
    } catch {
      // A full database takes no row: the longest wait then.
      return now + last;
    }
    return retryAt;
  }

  /** Returns true if it had failed. */
  succeeded(name: string): boolean {
    if (this.#of(name) === undefined) return false;
    this.sql.run`DELETE FROM failures WHERE name = ${name}`;
    return true;
  }

  #of(name: string): Row | undefined {
    return this.sql.rows<Row>`SELECT failures, retry_at AS "retryAt" FROM failures WHERE name = ${name}`[0];
  }
}
