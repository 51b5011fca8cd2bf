import type { ThreadPage } from "../../../src/contract/user-memory.ts";
import { inSlices, part, raw, SqlStore } from "../../storage/sql.ts";
import { type Row, type StoredThread, threadOf } from "./thread-row.ts";

/** A thread as an export tells of it: also one that is there for its forks only. `parentId`: of the thread `parent`. */
export type ExportedThread = StoredThread & { parentId: string | null; deleted: boolean };

/** Threads that one statement of an export reads. */
const EXPORTED = 32;

/**
 * Each agent that a thread has, and null. Index `threads_by_agent` gives the first, and for each one the next: an index of the
 * times of all threads together would be another row of each append.
 */
const EACH_AGENT = raw(`
  SELECT (SELECT MIN(agent) FROM threads WHERE deleted = 0)
  UNION ALL
  SELECT (SELECT MIN(threads.agent) FROM threads WHERE deleted = 0 AND threads.agent > agents.agent)
  FROM agents WHERE agent IS NOT NULL`);

/** The threads in an order: for a page of a caller, for a resumed conversation, for an export. Reads `threads`. */
export class ThreadLists extends SqlStore {
  /** The thread of this agent that was updated last (null: of no agent). */
  latest(agent: string | null): StoredThread | null {
    const [row] = this.sql.rows<Row>`
      SELECT * FROM threads WHERE agent IS ${agent} AND deleted = 0 ORDER BY updated_at DESC, n LIMIT 1`;
    return row === undefined ? null : threadOf(row);
  }

  /** Newest first: by the last update (ties in the order of creation), or by creation. */
  list(page: ThreadPage): StoredThread[] {
    const rows = page.order === "updated" ? this.#updated(page) : this.#created(page);
    return rows.map(threadOf);
  }

  /** Of each agent as many as the page takes: those that were updated last, at the time of `after` only those numbered behind it. */
  #updated({ agent, after: [time, n] = [Number.MAX_SAFE_INTEGER, 0], limit }: ThreadPage): Row[] {
    return this.sql.rows`
      WITH RECURSIVE agents (agent) AS (${agent === undefined ? EACH_AGENT : part`SELECT ${agent}`})
      SELECT threads.* FROM agents CROSS JOIN threads ON n IN (
        SELECT n FROM threads AS own
        WHERE deleted = 0 AND own.agent IS agents.agent
          AND updated_at <= ${time} AND (updated_at < ${time} OR n > ${n})
        ORDER BY updated_at DESC, n LIMIT ${limit})
      ORDER BY updated_at DESC, n LIMIT ${limit}`;
  }

  #created({ agent, after: [, n] = [0, Number.MAX_SAFE_INTEGER], limit }: ThreadPage): Row[] {
    return this.sql.rows`
      SELECT * FROM threads
      WHERE deleted = 0 AND n < ${n} ${agent === undefined ? raw("") : part`AND agent = ${agent}`}
      ORDER BY n DESC LIMIT ${limit}`;
  }

  /** The threads behind one number up to another, also deleted ones, in the order of their numbers. */
  exported(after: number, upTo: number): IteratorObject<ExportedThread> {
    const rows = inSlices<Row & { parentId: string | null }>(
      EXPORTED,
      (last) => this.sql.rows`
        SELECT threads.*, parents.id AS "parentId"
        FROM threads LEFT JOIN threads AS parents ON parents.n = threads.parent
        WHERE threads.n > ${last?.n ?? after} AND threads.n <= ${upTo} ORDER BY threads.n LIMIT ${EXPORTED}`,
    );
    return rows.map((row) => ({ ...threadOf(row), parentId: row.parentId, deleted: row.deleted === 1 }));
  }
}
