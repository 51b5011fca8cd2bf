import type { MemoryRow } from "../../src/d1/tables.ts";
import type { UserHash } from "../../src/ids.ts";

/** A write of memories that D1 has not confirmed yet. Carrying one out twice is the same as once. */
export type Intent =
  | { op: "put"; id: string; row: MemoryRow }
  | { op: "forget"; id: string; owner: UserHash };
export type NotedIntent = { n: number; intent: Intent };

const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 5 * 60_000;

/** Notes what is about to be written to D1, so that a crash or an outage at any step can be mended. */
export class IntentLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Notes an intent, due for the alarm if nobody clears it before. */
  note(intent: Intent, now: number): NotedIntent {
    const { n } = this.#sql
      .exec<{ n: number }>(
        "INSERT INTO intents (memory_id, intent, due_at) VALUES (?, ?, ?) RETURNING n",
        intent.id,
        JSON.stringify(intent),
        now + FIRST_RETRY_MS,
      )
      .one();
    return { n, intent };
  }

  /** The intents that were noted first, in their order. */
  pending(limit: number): NotedIntent[] {
    return this.#sql
      .exec<{ n: number; intent: string }>("SELECT n, intent FROM intents ORDER BY n LIMIT ?", limit)
      .toArray()
      .map(({ n, intent }) => ({ n, intent: JSON.parse(intent) as Intent }));
  }

  /** Whether any write of this memory is still open. */
  concerns(memoryId: string): boolean {
    return this.#sql.exec("SELECT 1 FROM intents WHERE memory_id = ? LIMIT 1", memoryId).toArray().length > 0;
  }

  /** False if it was cleared meanwhile. */
  clear({ n }: NotedIntent): boolean {
    return this.#sql.exec("DELETE FROM intents WHERE n = ? RETURNING n", n).toArray().length > 0;
  }

  /** Clears all intents of a memory: the one that is noted next stands for them. */
  clearAllOf(memoryId: string): void {
    this.#sql.exec("DELETE FROM intents WHERE memory_id = ?", memoryId);
  }

  /** Puts the next retry off: 5 s, 10 s, 20 s and so on to 5 min. */
  failed({ n }: NotedIntent, now: number): void {
    this.#sql.exec(
      "UPDATE intents SET attempts = attempts + 1, due_at = ?1 + MIN(?2, ?3 * (1 << MIN(attempts, 16))) WHERE n = ?4",
      now,
      LAST_RETRY_MS,
      FIRST_RETRY_MS,
      n,
    );
  }

  /** When the alarm should try again, or null if nothing is open. */
  nextDue(): number | null {
    return this.#sql.exec<{ due: number | null }>("SELECT MIN(due_at) AS due FROM intents").one().due;
  }
}
