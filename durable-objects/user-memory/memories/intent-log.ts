import { FIRST_RETRY_MS, LAST_RETRY_MS } from "../../storage/back-off.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { KeptAnswer } from "../../storage/idempotency-store.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** A write of memories that D1 has not confirmed yet. Applying it twice is the same as once. */
export type Intent = {
  owner: Owner;
  put: readonly MemoryRow[];
  /** Memories to delete with their history. */
  forget: readonly string[] | "all";
  /** The answer to save for a repeated request. */
  answer?: KeptAnswer;
};
export type NotedIntent = Intent & { n: number };

/**
 * Logs each write before D1 gets it, so that the alarm repeats it after a crash or an outage. Each version of an intent
 * is a row of its own: a batch exceeds the size of one row, and a deletion removes the versions of its memories.
 */
export class IntentLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Logs an intent, with the time of its first retry. */
  note(intent: Intent, now: number): NotedIntent {
    const { owner, put, forget, answer } = intent;
    const { n } = this.#sql
      .exec<{ n: number }>(
        "INSERT INTO intents (owner, forgets_all, answer, due_at) VALUES (?, ?, ?, ?) RETURNING n",
        JSON.stringify(owner),
        forget === "all" ? 1 : 0,
        answer === undefined ? null : JSON.stringify(answer),
        now + FIRST_RETRY_MS,
      )
      .one();
    for (const row of put)
      this.#sql.exec(
        "INSERT INTO intent_parts (intent, memory_id, version, row) VALUES (?, ?, ?, ?)",
        n,
        row.id,
        row.version,
        JSON.stringify(row),
      );
    if (forget !== "all" && forget.length > 0)
      this.#sql.exec(
        "INSERT INTO intent_parts (intent, memory_id, version) SELECT ?, value, 0 FROM json_each(?)",
        n,
        JSON.stringify(forget),
      );
    return { ...intent, n };
  }

  /** The next intent after this one; null if there is none. */
  after(n: number): number | null {
    return this.#sql.exec<{ n: number | null }>("SELECT MIN(n) AS n FROM intents WHERE n > ?", n).one().n;
  }

  /** An intent with its remaining parts; null if it was cleared. */
  read(n: number): NotedIntent | null {
    const [intent] = this.#sql
      .exec<{ owner: string; forgets_all: number; answer: string | null }>(
        "SELECT owner, forgets_all, answer FROM intents WHERE n = ?",
        n,
      )
      .toArray();
    if (intent === undefined) return null;
    const parts = this.#sql
      .exec<{ memory_id: string; row: string | null }>(
        "SELECT memory_id, row FROM intent_parts WHERE intent = ?",
        n,
      )
      .toArray();
    const put = parts.flatMap(({ row }) => (row === null ? [] : [JSON.parse(row) as MemoryRow]));
    const forget = parts.flatMap(({ memory_id: id, row }) => (row === null ? [id] : []));
    return {
      n,
      owner: JSON.parse(intent.owner) as Owner,
      put,
      forget: intent.forgets_all === 1 ? "all" : forget,
      ...(intent.answer !== null && { answer: JSON.parse(intent.answer) as KeptAnswer }),
    };
  }

  /** True if a write of this memory is pending. */
  hasPendingFor(memoryId: string): boolean {
    return (
      this.#sql.exec("SELECT 1 FROM intent_parts WHERE memory_id = ? LIMIT 1", memoryId).toArray().length > 0
    );
  }

  /** True if a deletion of all memories is pending. */
  forgetsAll(): boolean {
    return this.#sql.exec("SELECT 1 FROM intents WHERE forgets_all = 1 LIMIT 1").toArray().length > 0;
  }

  clear(n: number): void {
    this.#sql.exec("DELETE FROM intents WHERE n = ?", n);
    this.#sql.exec("DELETE FROM intent_parts WHERE intent = ?", n);
  }

  /** Takes these memories out of all intents. The caller logs their deletion next. */
  clearAllOf(ids: readonly string[]): void {
    const theirs = "FROM intent_parts WHERE memory_id IN (SELECT value FROM json_each(?))";
    // A saved answer must not hold a deleted memory.
    this.#sql.exec(
      `UPDATE intents SET answer = NULL WHERE n IN (SELECT intent ${theirs})`,
      JSON.stringify(ids),
    );
    this.#sql.exec(`DELETE ${theirs}`, JSON.stringify(ids));
    this.#sql.exec(
      "DELETE FROM intents WHERE forgets_all = 0 AND n NOT IN (SELECT intent FROM intent_parts)",
    );
  }

  clearEverything(): void {
    this.#sql.exec("DELETE FROM intents");
    this.#sql.exec("DELETE FROM intent_parts");
  }

  /** Schedules the next retry: after 5 s, 10 s, 20 s, and so on to 5 min. */
  failed(n: number, now: number): void {
    this.#sql.exec(
      "UPDATE intents SET attempts = attempts + 1, due_at = ?1 + MIN(?2, ?3 * (1 << MIN(attempts, 16))) WHERE n = ?4",
      now,
      LAST_RETRY_MS,
      FIRST_RETRY_MS,
      n,
    );
  }

  /** The time of the next retry; null if nothing is pending. */
  nextDue(): number | null {
    return this.#sql.exec<{ due: number | null }>("SELECT MIN(due_at) AS due FROM intents").one().due;
  }
}
