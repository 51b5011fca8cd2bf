import { backOff } from "./back-off.ts";

export const failuresSchema = `
  -- Work that failed since its last success, by its name.
  CREATE TABLE failures (name TEXT PRIMARY KEY, failures INTEGER NOT NULL, retry_at INTEGER NOT NULL) WITHOUT ROWID;
`;

type Row = { failures: number; retry_at: number };

/**
 * Counts failures of work since its last success. Stored, as an object that sleeps between two attempts would begin anew with the
 * shortest wait, for ever. Owns the SQL of `failures`.
 */
export class Failures {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Notes a failure. Returns the time of the next attempt, after `last` at most. Failures before that time are one. */
  failed(name: string, { now, last }: { now: number; last: number }): number {
    const known = this.#of(name);
    if (known !== null && now < known.retry_at) return known.retry_at;
    const failures = (known?.failures ?? 0) + 1;
    const retryAt = now + backOff(failures, last);
    try {
      this.#sql.exec(
        `INSERT INTO failures (name, failures, retry_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET failures = ?2, retry_at = ?3`,
        name,
        failures,
        retryAt,
      );
    } catch {
      // A full database takes no row: the longest wait then.
      return now + last;
    }
    return retryAt;
  }

  /** Returns true if it had failed. */
  succeeded(name: string): boolean {
    if (this.#of(name) === null) return false;
    this.#sql.exec("DELETE FROM failures WHERE name = ?", name);
    return true;
  }

  #of(name: string): Row | null {
    const rows = this.#sql.exec<Row>("SELECT failures, retry_at FROM failures WHERE name = ?", name);
    return rows.toArray()[0] ?? null;
  }
}
