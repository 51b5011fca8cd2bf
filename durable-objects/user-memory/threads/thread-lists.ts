import type { ThreadPage } from "../../../src/contract/user-memory.ts";
import { type Row, type StoredThread, threadOf } from "./thread-row.ts";

/** A thread as an export tells of it: also one that is there for its forks only. `parentId`: of the thread `parent`. */
export type ExportedThread = StoredThread & { parentId: string | null; deleted: boolean };

/** Threads that one statement of an export reads. */
const EXPORTED = 32;

/** The threads in an order: for a page of a caller, for a resumed conversation, for an export. Reads `threads`. */
export class ThreadLists {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The thread of this agent that was updated last (null: of no agent). */
  latest(agent: string | null): StoredThread | null {
    const [row] = this.#sql
      .exec<Row>(
        "SELECT * FROM threads WHERE agent IS ? AND deleted = 0 ORDER BY updated_at DESC, n LIMIT 1",
        agent,
      )
      .toArray();
    return row === undefined ? null : threadOf(row);
  }

  /** Newest first: by the last update (ties in the order of creation), or by creation. */
  list({ order, agent, after, limit }: ThreadPage): StoredThread[] {
    const [time, n] = after ?? [Number.MAX_SAFE_INTEGER, order === "updated" ? 0 : Number.MAX_SAFE_INTEGER];
    const rows =
      order === "updated"
        ? this.#sql.exec<Row>(
            `WITH RECURSIVE agents (agent) AS (${agent === undefined ? EACH_AGENT : "SELECT ?4"}) ${UPDATED_BEFORE}`,
            time,
            n,
            limit,
            ...(agent === undefined ? [] : [agent]),
          )
        : this.#sql.exec<Row>(
            `SELECT * FROM threads
             WHERE deleted = 0 AND n < ?1 AND ${agent === undefined ? "?2 IS NULL" : "agent = ?2"}
             ORDER BY n DESC LIMIT ?3`,
            n,
            agent ?? null,
            limit,
          );
    return rows.toArray().map(threadOf);
  }

  /** The threads behind one number up to another, also deleted ones, in the order of their numbers. */
  *exported(after: number, upTo: number): Generator<ExportedThread, void> {
    for (let last = after; ;) {
      const rows = this.#sql
        .exec<Row & { parent_id: string | null }>(
          `SELECT threads.*, parents.id AS parent_id FROM threads LEFT JOIN threads AS parents ON parents.n = threads.parent
           WHERE threads.n > ? AND threads.n <= ? ORDER BY threads.n LIMIT ${EXPORTED}`,
          last,
          upTo,
        )
        .toArray();
      for (const row of rows) {
        last = row.n;
        yield { ...threadOf(row), parentId: row.parent_id, deleted: row.deleted === 1 };
      }
      if (rows.length < EXPORTED) return;
    }
  }
}

/**
 * Each agent that a thread has, and null. Index `threads_by_agent` gives the first, and for each one the next: an index of the
 * times of all threads together would be another row of each append.
 */
const EACH_AGENT = `
  SELECT (SELECT MIN(agent) FROM threads WHERE deleted = 0)
  UNION ALL
  SELECT (SELECT MIN(threads.agent) FROM threads WHERE deleted = 0 AND threads.agent > agents.agent)
  FROM agents WHERE agent IS NOT NULL`;

/** The ?3 threads of these agents that were updated last at ?1 or before: of those at ?1 only those numbered after ?2. */
const UPDATED_BEFORE = `
  SELECT threads.* FROM agents CROSS JOIN threads ON n IN (
    SELECT n FROM threads AS own
    WHERE deleted = 0 AND own.agent IS agents.agent AND updated_at <= ?1 AND (updated_at < ?1 OR n > ?2)
    ORDER BY updated_at DESC, n LIMIT ?3)
  ORDER BY updated_at DESC, n LIMIT ?3`;
