import { hash32 } from "../../src/domain/hash.ts";
import type { Chore } from "./chores.ts";
import { raw, Sql, type SqlPart } from "./sql.ts";
import { turn } from "../../src/platform/turn.ts";

/** Rows that one statement removes, for which other calls wait: a row may have a value of a mebibyte. And statements of one alarm. */
const [SWEEP, STATEMENTS] = [100, 10];
/**
 * Rounds the times of alarms, so that a thousand rows do not set a thousand alarms. Each object has its own second of the
 * minute: the alarms of many objects do not go off at once.
 */
const SWEEP_EVERY_MS = 60_000;

/** A chore that deletes rows whose `expires_at` has passed, a bounded number a run. The column needs an index. */
export class ExpirySweep implements Chore {
  readonly #sql: Sql;
  readonly #table: SqlPart;
  readonly #offset: number;

  constructor(
    { storage, id }: DurableObjectState,
    table: "entries" | "answers" | "leases" | "warm_prefixes" | "usage" | "recall_hours",
  ) {
    this.#sql = new Sql(storage.sql);
    this.#table = raw(table);
    this.#offset = hash32(id.toString()) % SWEEP_EVERY_MS;
  }

  async run(now: number): Promise<void> {
    for (let i = 0; i < STATEMENTS && this.#sweep(now); i++) await turn();
  }

  /** The same within a call that needs the room. */
  sweepNow(now: number): void {
    for (let i = 0; i < STATEMENTS && this.#sweep(now); i++);
  }

  /** Deletes some of the rows. Returns whether there may be more. */
  #sweep(now: number): boolean {
    const rowsWritten = this.#sql.run`
      DELETE FROM ${this.#table} WHERE rowid IN (SELECT rowid FROM ${this.#table} WHERE expires_at < ${now} LIMIT ${SWEEP})`;
    return rowsWritten >= SWEEP;
  }

  /** An expired row is invisible already, so it may wait. */
  nextDue(now: number): number | null {
    const first = this.#sql.value<number | null>`
      SELECT MIN(expires_at) FROM ${this.#table} WHERE expires_at IS NOT NULL`;
    if (first === null) return null;
    if (first < now) return now;
    return this.#offset + Math.ceil((first + 1 - this.#offset) / SWEEP_EVERY_MS) * SWEEP_EVERY_MS;
  }
}
