/** Rows that one alarm removes from one table. */
const SWEEP = 1000;
/** Rounds the times of alarms, so that a thousand rows do not set a thousand alarms. */
const SWEEP_EVERY_MS = 60_000;

/** Deletes rows whose `expires_at` has passed, a bounded number a call. The column needs an index. */
export class Expired {
  readonly #sql: SqlStorage;
  readonly #table: string;

  constructor(sql: SqlStorage, table: "entries" | "answers" | "leases" | "warm_prefixes" | "usage") {
    this.#sql = sql;
    this.#table = table;
  }

  sweep(now: number): void {
    this.#sql.exec(
      `DELETE FROM ${this.#table} WHERE rowid IN (SELECT rowid FROM ${this.#table} WHERE expires_at < ? LIMIT ?)`,
      now,
      SWEEP,
    );
  }

  /** When to sweep next, or null. An expired row is invisible already. */
  next(now: number): number | null {
    const { first } = this.#sql
      .exec<{
        first: number | null;
      }>(`SELECT MIN(expires_at) AS first FROM ${this.#table} WHERE expires_at IS NOT NULL`)
      .one();
    if (first === null) return null;
    return first < now ? now : Math.ceil((first + 1) / SWEEP_EVERY_MS) * SWEEP_EVERY_MS;
  }
}
