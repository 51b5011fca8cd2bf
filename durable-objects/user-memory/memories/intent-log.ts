import { FIRST_RETRY_MS, LAST_RETRY_MS } from "../../storage/back-off.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { IdempotentAnswer } from "../../storage/idempotency-store.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { part, SqlStore } from "../../storage/sql.ts";

/** A write of memories that D1 has not confirmed yet. Applying it twice is the same as once. */
export type Intent = {
  owner: Owner;
  put: readonly MemoryRow[];
  /** Memories to delete with their history. */
  forget: readonly string[] | "all";
  answer?: IdempotentAnswer;
};
/** `seq`: the number to send it to D1 under, unless that was tried before. */
export type NotedIntent = Intent & { n: number; seq?: number };

/** Characters of the versions of one row of the log. A row holds 2 MB, and a character takes up to 3 bytes. */
const ROW_CHARACTERS = 500_000;

type Row = {
  n: number;
  put: string;
  owner: string | null;
  forgotten: string;
  forgets_all: number;
  answer: string | null;
};

/**
 * Logs each write before D1 gets it, so that the alarm repeats it after a crash or an outage. The log is empty but for the
 * writes under way, so it has no index. Owns the SQL of `intents`.
 */
export class IntentLog extends SqlStore {
  /** The last number noted or read since the object is awake. An intent under way keeps its number to itself. */
  #last = 0;
  /** The memories of all intents; null if they are not read. */
  #pending: ReadonlySet<string> | null = null;

  /** Logs an intent, with the time of its first retry. */
  note(intent: Intent, now: number): NotedIntent {
    const { owner, put, forget, answer } = intent;
    const n = Math.max(this.sql.value`SELECT COALESCE(MAX(n), 0) FROM intents`, this.#last) + 1;
    this.#last = n;
    const [first = "[]", ...others] = parts(put);
    const [ids, all] = forget === "all" ? [[], 1] : [forget, 0];
    const saved = answer === undefined ? null : JSON.stringify(answer);
    this.sql.run`
      INSERT INTO intents (n, put, owner, forgotten, forgets_all, answer, attempts, due_at)
      VALUES (${n}, ${first}, ${JSON.stringify(owner)}, ${JSON.stringify(ids)}, ${all}, ${saved}, 0,
        ${now + FIRST_RETRY_MS})`;
    for (const more of others)
      this.sql.run`INSERT INTO intents (n, put, forgotten) VALUES (${n}, ${more}, '[]')`;
    this.#pending = null;
    return { ...intent, n };
  }

  after(n: number): number | null {
    return this.sql.value<number | null>`SELECT MIN(n) FROM intents WHERE n > ${n}`;
  }

  /** An intent with what is left of it; null if it was cleared. */
  read(n: number): NotedIntent | null {
    const rows = this.sql.rows<Row>`SELECT * FROM intents WHERE n = ${n} ORDER BY rowid`;
    const [first] = rows;
    if (first?.owner == null) return null;
    this.#last = Math.max(this.#last, n);
    return {
      n,
      owner: JSON.parse(first.owner) as Owner,
      put: rows.flatMap(({ put }) => JSON.parse(put) as MemoryRow[]),
      forget: first.forgets_all === 1 ? "all" : (JSON.parse(first.forgotten) as string[]),
      ...(first.answer !== null && { answer: JSON.parse(first.answer) as IdempotentAnswer }),
    };
  }

  hasPendingFor(memoryId: string): boolean {
    this.#pending ??= new Set(
      this.sql.column<string>`
        SELECT value ->> '$.id' FROM intents, json_each(put)
        UNION ALL SELECT value FROM intents, json_each(forgotten)`,
    );
    return this.#pending.has(memoryId);
  }

  /** The lowest version that a pending write puts; Infinity without one. */
  firstVersion(): number {
    return (
      this.sql.value<number | null>`SELECT MIN(value ->> '$.version') FROM intents, json_each(put)` ??
      Infinity
    );
  }

  forgetsAll(): boolean {
    return this.sql.has`SELECT 1 FROM intents WHERE forgets_all = 1 LIMIT 1`;
  }

  clear(n: number): void {
    this.sql.run`DELETE FROM intents WHERE n = ${n}`;
    this.#pending = null;
  }

  /** Takes these memories out of all intents. The caller logs their deletion next. */
  clearAllOf(ids: readonly string[]): void {
    if (!ids.some((id) => this.hasPendingFor(id))) return;
    const among = part`IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
    const holds = part`(EXISTS (SELECT 1 FROM json_each(put) WHERE value ->> '$.id' ${among})
      OR EXISTS (SELECT 1 FROM json_each(forgotten) WHERE value ${among}))`;
    // A saved answer must not hold a deleted memory.
    this.sql.run`UPDATE intents SET answer = NULL WHERE n IN (SELECT n FROM intents WHERE ${holds})`;
    this.sql.run`
      UPDATE intents SET
        put = (SELECT json_group_array(json(value)) FROM json_each(put) WHERE NOT value ->> '$.id' ${among}),
        forgotten = (SELECT json_group_array(value) FROM json_each(forgotten) WHERE NOT value ${among})
      WHERE ${holds}`;
    this.sql.run`
      DELETE FROM intents WHERE n NOT IN (
        SELECT n FROM intents WHERE forgets_all = 1 OR put <> '[]' OR forgotten <> '[]')`;
    this.#pending = null;
  }

  clearEverything(): void {
    this.sql.run`DELETE FROM intents`;
    this.#pending = null;
  }

  /** Schedules the next retry: after 5 s, 10 s, 20 s, and so on to 5 min. */
  failed(n: number, now: number): void {
    this.sql.run`
      UPDATE intents SET attempts = attempts + 1,
        due_at = ${now} + MIN(${LAST_RETRY_MS}, ${FIRST_RETRY_MS} * (1 << MIN(attempts, 16)))
      WHERE n = ${n} AND owner IS NOT NULL`;
  }

  /** The time of the next retry; null if nothing is pending. */
  nextDue(): number | null {
    return this.sql.value<number | null>`SELECT MIN(due_at) FROM intents`;
  }
}

/** The versions as JSON arrays that each fit a row. */
function parts(rows: readonly MemoryRow[]): string[] {
  const all: string[][] = [];
  let characters = Infinity;
  for (const json of rows.map((row) => JSON.stringify(row))) {
    if (characters + json.length > ROW_CHARACTERS) {
      all.push([]);
      characters = 0;
    }
    all.at(-1)?.push(json);
    characters += json.length;
  }
  return all.map((some) => `[${some.join(",")}]`);
}
