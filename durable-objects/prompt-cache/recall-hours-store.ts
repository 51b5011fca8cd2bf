import { bothHours, type RecallHour } from "../../src/domain/usage/recall-hours.ts";
import { ExpirySweep } from "../storage/expiry-sweep.ts";

type Row = Omit<RecallHour, "times"> & { times: string };

/** The tenant's recalls by the hour. Owns the SQL of `recall_hours`. */
export class RecallHoursStore {
  readonly expirySweep: ExpirySweep;
  readonly #sql: SqlStorage;

  constructor(object: DurableObjectState) {
    this.#sql = object.storage.sql;
    this.expirySweep = new ExpirySweep(object, "recall_hours");
  }

  add(counted: RecallHour, expiresAt: number): void {
    const [known] = this.list({ from: counted.hour, to: counted.hour });
    const sum = known === undefined ? counted : bothHours(known, counted);
    // A replaced row would be a row of the index, too.
    this.#sql.exec(
      `INSERT INTO recall_hours (hour, calls, abstained, degraded, times, expires_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (hour) DO UPDATE SET calls = ?2, abstained = ?3, degraded = ?4, times = ?5`,
      sum.hour,
      sum.calls,
      sum.abstained,
      sum.degraded,
      JSON.stringify(sum.times),
      expiresAt,
    );
  }

  /** `from` and `to` are inclusive. */
  list({ from, to }: { from: number; to: number }): RecallHour[] {
    return this.#sql
      .exec<Row>(
        `SELECT hour, calls, abstained, degraded, times FROM recall_hours WHERE hour BETWEEN ? AND ? ORDER BY hour`,
        from,
        to,
      )
      .toArray()
      .map(({ times, ...row }) => ({ ...row, times: JSON.parse(times) as number[] }));
  }
}
