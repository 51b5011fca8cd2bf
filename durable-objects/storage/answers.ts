import { fail, ok, type Result } from "../../src/domain/errors.ts";
import { Expired } from "./expired.ts";
import type { Once } from "./contract.ts";

/** An answer to keep once its write is done, and the memories that it tells of. */
export type KeptAnswer = { once: Once; answer: unknown; memoryIds: string[] };

/** How long an answer is kept for a caller that asks again. */
const KEPT_MS = 24 * 60 * 60 * 1000;

export const answersSchema = `
  CREATE TABLE answers (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    about TEXT,
    expires_at INTEGER NOT NULL
  );
  CREATE INDEX answers_by_expiry ON answers (expires_at);
  CREATE INDEX answers_by_about ON answers (about) WHERE about IS NOT NULL;
`;

/** The answers of writes that carried an idempotency key, so that the same request is answered alike and done once. */
export class Answers {
  readonly expired: Expired;
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.expired = new Expired(sql, "answers");
  }

  /** The answer that this request got before; a conflict if the key was another request's; null if it is new. */
  before<T>(once: Once | undefined, now: number): Result<T> | null {
    if (once === undefined) return null;
    const [row] = this.#sql
      .exec<{ request: string; answer: string }>(
        "SELECT request, answer FROM answers WHERE key = ? AND expires_at >= ?",
        once.key,
        now,
      )
      .toArray();
    if (row === undefined) return null;
    // It was kept by the same operation, since the request's hash covers method and path.
    return row.request === once.request ? ok(JSON.parse(row.answer) as T) : fail("idempotency_conflict");
  }

  /** Keeps a success; a failure may be tried again. To be called in the transaction of the write itself. */
  keep<T>(once: Once | undefined, result: Result<T>, { now }: { now: number }): Result<T> {
    if (once !== undefined && result.ok) this.#put(once, result.value, now);
    return result;
  }

  /** Keeps an answer that tells of memories. Only a user's object has any. */
  keepOf({ once, answer, memoryIds }: KeptAnswer, now: number): void {
    this.#put(once, answer, now);
    this.#sql.exec(
      "INSERT OR IGNORE INTO answer_memories (memory_id, key) SELECT value, ? FROM json_each(?)",
      once.key,
      JSON.stringify(memoryIds),
    );
  }

  /** What is forgotten must not come back as the answer of its remembering. */
  forget(memoryIds: readonly string[]): void {
    this.#sql.exec(
      `DELETE FROM answers WHERE key IN (SELECT key FROM answer_memories
        WHERE memory_id IN (SELECT value FROM json_each(?)))`,
      JSON.stringify(memoryIds),
    );
  }

  /** The same for all memories. */
  forgetMemories(): void {
    this.#sql.exec("DELETE FROM answers WHERE key IN (SELECT key FROM answer_memories)");
    this.#sql.exec("DELETE FROM answer_memories");
  }

  /** The same for what an answer is about. */
  forgetAbout(id: string): void {
    this.#sql.exec("DELETE FROM answers WHERE about = ?", id);
  }

  /** Removes what is no longer kept, a bounded number a call, and what it told of memories. */
  sweep(now: number): void {
    this.expired.sweep(now);
    this.#sql.exec("DELETE FROM answer_memories WHERE key NOT IN (SELECT key FROM answers)");
  }

  #put({ key, request, about }: Once, answer: unknown, now: number): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO answers (key, request, answer, about, expires_at) VALUES (?, ?, ?, ?, ?)",
      key,
      request,
      JSON.stringify(answer),
      about ?? null,
      now + KEPT_MS,
    );
  }
}
