import type { Owner } from "../../../src/domain/memory/record.ts";
import type { KeptAnswer } from "../../storage/answers.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** A write of memories that D1 has not confirmed yet. Carrying one out twice is the same as once. */
export type Intent = {
  owner: Owner;
  put: readonly MemoryRow[];
  /** Memories to delete with their history. */
  forget: readonly string[] | "all";
  /** What its caller is to be answered when it asks again. */
  answer?: KeptAnswer;
};
export type NotedIntent = Intent & { n: number };

const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 5 * 60_000;

/**
 * Notes what is about to be written to D1, so that a crash or an outage at any step can be mended. An intent is kept in
 * parts, one a memory's version: a batch is larger than a row may be, and a memory that is forgotten takes its
 * parts with it.
 */
export class IntentLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Notes an intent, due for the alarm if nobody clears it before. */
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
    if (forget !== "all")
      this.#sql.exec(
        "INSERT INTO intent_parts (intent, memory_id, version) SELECT ?, value, 0 FROM json_each(?)",
        n,
        JSON.stringify(forget),
      );
    return { ...intent, n };
  }

  /** The first intent that was noted after this one; null if there is none. */
  after(n: number): number | null {
    return this.#sql.exec<{ n: number | null }>("SELECT MIN(n) AS n FROM intents WHERE n > ?", n).one().n;
  }

  /** An intent with the parts that are left of it, or null if it was cleared meanwhile. */
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

  /** Whether any write of this memory is still open. */
  hasPendingFor(memoryId: string): boolean {
    return (
      this.#sql.exec("SELECT 1 FROM intent_parts WHERE memory_id = ? LIMIT 1", memoryId).toArray().length > 0
    );
  }

  /** Whether all memories are to be deleted. */
  forgetsAll(): boolean {
    return this.#sql.exec("SELECT 1 FROM intents WHERE forgets_all = 1 LIMIT 1").toArray().length > 0;
  }

  clear(n: number): void {
    this.#sql.exec("DELETE FROM intents WHERE n = ?", n);
    this.#sql.exec("DELETE FROM intent_parts WHERE intent = ?", n);
  }

  /** Takes these memories out of all intents: the one that is noted next stands for them. */
  clearAllOf(ids: readonly string[]): void {
    const theirs = "FROM intent_parts WHERE memory_id IN (SELECT value FROM json_each(?))";
    // An answer that tells of them is not to be kept.
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

  /** Puts the next retry off: 5 s, 10 s, 20 s and so on to 5 min. */
  failed(n: number, now: number): void {
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
