/** How many expired rows of one table one alarm removes. */
const SWEEP = 1000;
/** Expired rows wait for each other this long, so that a thousand of them do not ring a thousand alarms. */
const SWEEP_EVERY_MS = 60_000;

/** Clears a table of rows whose `expires_at` is past, a bounded number a call. The column needs an index. */
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

  /** When to sweep next, or null if nothing expires: an expired row is invisible, and only takes up room. */
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
