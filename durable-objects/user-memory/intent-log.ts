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

  /** All intents, in the order in which they were noted. */
  pending(): NotedIntent[] {
    return this.#sql
      .exec<{ n: number; intent: string }>("SELECT n, intent FROM intents ORDER BY n")
      .toArray()
      .map(({ n, intent }) => ({ n, intent: JSON.parse(intent) as Intent }));
  }

  /** Whether a forget of this memory is still open. */
  forgets(memoryId: string): boolean {
    return this.pending().some(({ intent }) => intent.op === "forget" && intent.id === memoryId);
  }

  clear({ n }: NotedIntent): void {
    this.#sql.exec("DELETE FROM intents WHERE n = ?", n);
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

  /** When the oldest intent is due, or null if there is none. Later ones wait behind it. */
  nextDue(): number | null {
    const [row] = this.#sql
      .exec<{ due_at: number }>("SELECT due_at FROM intents ORDER BY n LIMIT 1")
      .toArray();
    return row?.due_at ?? null;
  }
}
