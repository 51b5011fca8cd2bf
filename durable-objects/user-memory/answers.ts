import { fail, ok, type Result } from "../../src/errors.ts";

/** A write that its caller may send again: the caller's key, and a hash of what it asks for. */
export type Once = { key: string; request: string };

/** An answer to keep once its write is done, and the memories that it tells of. */
export type KeptAnswer = { once: Once; answer: unknown; memoryIds: string[] };

/** How long an answer is kept for a caller that asks again. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const SWEEP = 1000;

export const answersSchema = `
  CREATE TABLE answers (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    memory_id TEXT,
    expires_at INTEGER NOT NULL
  );
  CREATE INDEX answers_by_expiry ON answers (expires_at);
  CREATE INDEX answers_by_memory ON answers (memory_id) WHERE memory_id IS NOT NULL;
`;

/** The answers of writes that carried an idempotency key, so that the same request is answered alike and done once. */
export class Answers {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
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
    if (once !== undefined && result.ok) this.keepOf({ once, answer: result.value, memoryIds: [] }, now);
    return result;
  }

  /** Keeps an answer that tells of memories. */
  keepOf({ once, answer, memoryIds }: KeptAnswer, now: number): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO answers (key, request, answer, expires_at) VALUES (?, ?, ?, ?)",
      once.key,
      once.request,
      JSON.stringify(answer),
      now + KEPT_MS,
    );
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

  /** Removes what is no longer kept, a bounded number a call. */
  sweep(now: number): void {
    this.#sql.exec(
      "DELETE FROM answers WHERE key IN (SELECT key FROM answers WHERE expires_at < ? LIMIT ?)",
      now,
      SWEEP,
    );
    this.#sql.exec("DELETE FROM answer_memories WHERE key NOT IN (SELECT key FROM answers)");
  }

  /** When to sweep next, or null if nothing is kept. */
  nextSweep(): number | null {
    return this.#sql.exec<{ first: number | null }>("SELECT MIN(expires_at) + 1 AS first FROM answers").one()
      .first;
  }
}
