import { fail, ok, type Result } from "../../src/domain/errors.ts";
import { ExpirySweep } from "./expiry-sweep.ts";
import { SqlStore } from "./sql.ts";
import type { IdempotencyKey } from "../../src/contract/storage.ts";

/** An answer to save once its write is done, and the memories that it names. */
export type IdempotentAnswer = { once: IdempotencyKey; answer: unknown; memoryIds: string[] };

/** The life of a stored answer. */
const LIFE_MS = 24 * 60 * 60 * 1000;

export const idempotencySchema = `
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

/** The answers of writes with an idempotency key. A repeated request with the same key returns the first answer. */
export class IdempotencyStore extends SqlStore {
  readonly expirySweep: ExpirySweep;

  constructor(object: DurableObjectState) {
    super(object.storage.sql);
    this.expirySweep = new ExpirySweep(object, "answers");
  }

  /** The first answer to this request; null if it is new. Fails if the key belongs to another request. */
  replay<T>(once: IdempotencyKey | undefined, now: number): Result<T> | null {
    if (once === undefined) return null;
    const [row] = this.sql.rows<{ request: string; answer: string }>`
      SELECT request, answer FROM answers WHERE key = ${once.key} AND expires_at >= ${now}`;
    if (row === undefined) return null;
    // The same operation saved it: the request's hash covers method and path.
    return row.request === once.request ? ok(JSON.parse(row.answer) as T) : fail("idempotency_conflict");
  }

  /** Saves a success; a failure may be tried again. Call it in the transaction of the write. */
  save<T>(once: IdempotencyKey | undefined, result: Result<T>, { now }: { now: number }): Result<T> {
    if (once !== undefined && result.ok) this.#put(once, result.value, now);
    return result;
  }

  /** Saves an answer that names memories. Only a user's object has any. */
  saveOf({ once, answer, memoryIds }: IdempotentAnswer, now: number): void {
    this.#put(once, answer, now);
    this.sql.run`
      INSERT OR IGNORE INTO answer_memories (memory_id, key)
      SELECT value, ${once.key} FROM json_each(${JSON.stringify(memoryIds)})`;
  }

  /** Deletes the answers that name these memories, which a replay would show again. */
  forget(memoryIds: readonly string[]): void {
    this.sql.run`
      DELETE FROM answers WHERE key IN (
        SELECT key FROM answer_memories WHERE memory_id IN (SELECT value FROM json_each(${JSON.stringify(memoryIds)})))`;
  }

  /** Deletes the answers that name any memory. */
  forgetMemories(): void {
    this.sql.run`DELETE FROM answers WHERE key IN (SELECT key FROM answer_memories)`;
    this.sql.run`DELETE FROM answer_memories`;
  }

  /** Deletes the answers about a thread. */
  forgetAbout(id: string): void {
    this.sql.run`DELETE FROM answers WHERE about = ${id}`;
  }

  /** Deletes expired answers, a bounded number a run, and their lists of memories. */
  async run(now: number): Promise<void> {
    await this.expirySweep.run(now);
    this.sql.run`DELETE FROM answer_memories WHERE key NOT IN (SELECT key FROM answers)`;
  }

  nextDue(now: number): number | null {
    return this.expirySweep.nextDue(now);
  }

  #put({ key, request, about }: IdempotencyKey, answer: unknown, now: number): void {
    this.sql.run`
      INSERT OR REPLACE INTO answers (key, request, answer, about, expires_at)
      VALUES (${key}, ${request}, ${JSON.stringify(answer)}, ${about ?? null}, ${now + LIFE_MS})`;
  }
}
