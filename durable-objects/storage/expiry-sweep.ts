import { hash32 } from "../../src/domain/hash.ts";
import type { Chore } from "./chores.ts";

/** Rows that one alarm removes from one table. */
const SWEEP = 1000;
/**
 * Rounds the times of alarms, so that a thousand rows do not set a thousand alarms. Each object has its own second of the
 * minute: the alarms of many objects do not go off at once.
 */
const SWEEP_EVERY_MS = 60_000;

/** A chore that deletes rows whose `expires_at` has passed, a bounded number a run. The column needs an index. */
export class ExpirySweep implements Chore {
  readonly #sql: SqlStorage;
  readonly #table: string;
  readonly #offset: number;

  constructor(
    { storage, id }: DurableObjectState,
    table: "entries" | "answers" | "leases" | "warm_prefixes" | "usage" | "recall_hours",
  ) {
    this.#sql = storage.sql;
    this.#table = table;
    this.#offset = hash32(id.toString()) % SWEEP_EVERY_MS;
  }

  run(now: number): void {
    this.#sql.exec(
      `DELETE FROM ${this.#table} WHERE rowid IN (SELECT rowid FROM ${this.#table} WHERE expires_at < ? LIMIT ?)`,
      now,
      SWEEP,
    );
  }

  /** An expired row is invisible already, so it may wait. */
  nextDue(now: number): number | null {
    const { first } = this.#sql
      .exec<{
        first: number | null;
      }>(`SELECT MIN(expires_at) AS first FROM ${this.#table} WHERE expires_at IS NOT NULL`)
      .one();
    if (first === null) return null;
    if (first < now) return now;
    return this.#offset + Math.ceil((first + 1 - this.#offset) / SWEEP_EVERY_MS) * SWEEP_EVERY_MS;
  }
}
