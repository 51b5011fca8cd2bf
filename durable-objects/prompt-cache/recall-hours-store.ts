import { bothHours, type RecallHour } from "../../src/domain/usage/recall-hours.ts";
import { SqlStore } from "../storage/sql.ts";

type Row = Omit<RecallHour, "times"> & { times: string };

/** The tenant's recalls by the hour. Owns the SQL of `recall_hours`. */
export class RecallHoursStore extends SqlStore {
  add(counted: RecallHour, expiresAt: number): void {
    const [known] = this.list({ from: counted.hour, to: counted.hour });
    const { hour, calls, abstained, degraded, times } =
      known === undefined ? counted : bothHours(known, counted);
    // A replaced row would be a row of the index, too.
    this.sql.run`
      INSERT INTO recall_hours (hour, calls, abstained, degraded, times, expires_at)
      VALUES (${hour}, ${calls}, ${abstained}, ${degraded}, ${JSON.stringify(times)}, ${expiresAt})
      ON CONFLICT (hour) DO UPDATE SET
        calls = excluded.calls, abstained = excluded.abstained, degraded = excluded.degraded, times = excluded.times`;
  }

  /** `from` and `to` are inclusive. */
  list({ from, to }: { from: number; to: number }): RecallHour[] {
    const rows = this.sql.rows<Row>`
      SELECT hour, calls, abstained, degraded, times FROM recall_hours
      WHERE hour BETWEEN ${from} AND ${to} ORDER BY hour`;
    return rows.map(({ times, ...row }) => ({ ...row, times: JSON.parse(times) as number[] }));
  }
}
