import type { ObjectLine } from "../../../src/domain/schema/transfer.ts";
import type { CreateThreadBody, PatchThreadBody, Thread } from "../../../src/domain/schema/thread.ts";
import { LAST_SEQ } from "../core/position.ts";
import type { ThreadPage } from "../contract.ts";

/** A thread as the object keeps it: with its number and where its messages come from. */
export type StoredThread = Omit<Thread, "userId"> & {
  n: number;
  lastSeq: number;
  /** The number of the thread that owns the messages up to and with `forkSeq`; null if all are its own. */
  parent: number | null;
  forkSeq: number;
};
/** What a fork begins with. */
export type Fork = { parent: number; forkSeq: number; forkedFrom: string; length: number };

export type ThreadLine = ObjectLine & { type: "thread" };

const DEFAULT_TITLE = "New conversation";

type Row = {
  n: number;
  id: string;
  title: string;
  agent: string | null;
  resource_slug: string | null;
  record_id: string | null;
  metadata: string | null;
  indexing: NonNullable<Thread["indexing"]> | null;
  length: number;
  last_seq: number;
  parent: number | null;
  fork_seq: number;
  forked_from: string | null;
  created_at: number;
  updated_at: number;
};

/**
 * The rows of conversations. Owns the SQL of `threads` but for how they descend from each other and end, which is for
 * lineage and sharing; what is in them is for message-store. A thread that is `deleted` is there for its forks only.
 */
export class ThreadStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(id: string, fields: CreateThreadBody, { now, fork }: { now: number; fork?: Fork }): StoredThread {
    const row = this.#sql
      .exec<Row>(
        `INSERT INTO threads
           (id, title, agent, resource_slug, record_id, metadata, indexing, length, last_seq, parent, fork_seq, forked_from,
            created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?12, ?7, ?8, ?9, ?8, ?10, ?11, ?11) RETURNING *`,
        id,
        fields.title ?? DEFAULT_TITLE,
        fields.agent ?? null,
        fields.resourceSlug ?? null,
        fields.recordId ?? null,
        fields.metadata === undefined ? null : JSON.stringify(fields.metadata),
        fork?.length ?? 0,
        fork?.forkSeq ?? 0,
        fork?.parent ?? null,
        fork?.forkedFrom ?? null,
        now,
        fields.indexing ?? null,
      )
      .one();
    return threadOf(row);
  }

  get(id: string): StoredThread | null {
    return this.#one("id = ? AND deleted = 0", id);
  }

  /** Also one that is there for its forks only. */
  any(id: string): StoredThread | null {
    return this.#one("id = ?", id);
  }

  /** Puts a thread that was elsewhere, as it was there but for its messages: none is its own yet. */
  restore(line: ThreadLine, { parent, forkSeq }: { parent: number | null; forkSeq: number }): StoredThread {
    const row = this.#sql
      .exec<Row>(
        `INSERT INTO threads
           (id, title, agent, resource_slug, record_id, metadata, indexing, length, last_seq, parent, fork_seq, forked_from,
            deleted, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
        line.id,
        line.title,
        line.agent ?? null,
        line.resourceSlug ?? null,
        line.recordId ?? null,
        line.metadata === undefined ? null : JSON.stringify(line.metadata),
        line.indexing ?? null,
        line.lastSeq,
        parent,
        forkSeq,
        line.forkedFrom ?? null,
        line.deleted === true ? 1 : 0,
        line.createdAt,
        line.updatedAt,
      )
      .one();
    return threadOf(row);
  }

  /** So many messages more, or less: not as a change of what was said, but as what was found to be there. */
  lengthen({ n }: StoredThread, by: number): void {
    this.#sql.exec("UPDATE threads SET length = length + ? WHERE n = ?", by, n);
  }

  /** The thread of this agent that was updated last (null: of no agent). */
  latest(agent: string | null): StoredThread | null {
    return this.#one("deleted = 0 AND agent IS ? ORDER BY updated_at DESC, n LIMIT 1", agent);
  }

  /** Newest first: by the last update (ties in the order of creation), or by creation. */
  list({ order, agent, after, limit }: ThreadPage): StoredThread[] {
    const [time = null, n = null] = after ?? [];
    const [behind, sorted] =
      order === "updated"
        ? ["updated_at <= ?2 AND (updated_at < ?2 OR n > ?3)", "updated_at DESC, n"]
        : ["?2 >= 0 AND n < ?3", "n DESC"];
    return this.#sql
      .exec<Row>(
        `SELECT * FROM threads
         WHERE deleted = 0 AND ${agent === undefined ? "?1 IS NULL" : "agent = ?1"}
           AND ${after === undefined ? "?2 IS NULL AND ?3 IS NULL" : behind}
         ORDER BY ${sorted} LIMIT ?4`,
        agent ?? null,
        time,
        n,
        limit,
      )
      .toArray()
      .map(threadOf);
  }

  /** Changes what is given; null clears. */
  patch({ n }: StoredThread, fields: PatchThreadBody, now: number): StoredThread {
    const columns = {
      title: "title",
      agent: "agent",
      resourceSlug: "resource_slug",
      recordId: "record_id",
      indexing: "indexing",
    } as const;
    const changes: [string, string | null][] = Object.entries(columns).flatMap(([field, column]) => {
      const value = fields[field as keyof typeof columns];
      if (value === undefined) return [];
      return [[column, field === "title" ? (value ?? DEFAULT_TITLE) : value]];
    });
    if (fields.metadata !== undefined)
      changes.push(["metadata", fields.metadata === null ? null : JSON.stringify(fields.metadata)]);
    const set = changes.map(([column]) => `${column} = ?, `).join("");
    const row = this.#sql
      .exec<Row>(
        `UPDATE threads SET ${set} updated_at = MAX(updated_at, ?) WHERE n = ? RETURNING *`,
        ...changes.map(([, value]) => value),
        now,
        n,
      )
      .one();
    return threadOf(row);
  }

  /** No message that comes has this seq, or one before it. */
  reach({ n }: StoredThread, seq: number): void {
    this.#sql.exec("UPDATE threads SET last_seq = MAX(last_seq, ?) WHERE n = ?", seq, n);
  }

  /**
   * Makes room for `count` messages behind the last, and answers the seq of the first. Throws where the places of a thread
   * end, as the next thread's begin there: no thread comes so far (an import takes half of them at most).
   */
  extend({ n }: StoredThread, count: number, now: number): number {
    const { last_seq: last } = this.#sql
      .exec<Pick<Row, "last_seq">>(
        `UPDATE threads SET length = length + ?2, last_seq = last_seq + ?2, updated_at = MAX(updated_at, ?3)
         WHERE n = ?1 AND last_seq + ?2 <= ?4 RETURNING last_seq`,
        n,
        count,
        now,
        LAST_SEQ,
      )
      .one();
    return last - count + 1;
  }

  /** One message less. */
  shorten({ n }: StoredThread, now: number): void {
    this.#sql.exec(
      "UPDATE threads SET length = length - 1, updated_at = MAX(updated_at, ?) WHERE n = ?",
      now,
      n,
    );
  }

  #one(where: string, binding: string | number | null): StoredThread | null {
    const [row] = this.#sql.exec<Row>(`SELECT * FROM threads WHERE ${where}`, binding).toArray();
    return row === undefined ? null : threadOf(row);
  }
}

function threadOf(row: Row): StoredThread {
  return {
    n: row.n,
    lastSeq: row.last_seq,
    parent: row.parent,
    forkSeq: row.fork_seq,
    id: row.id,
    title: row.title,
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.resource_slug !== null && { resourceSlug: row.resource_slug }),
    ...(row.record_id !== null && { recordId: row.record_id }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as NonNullable<Thread["metadata"]> }),
    ...(row.indexing !== null && { indexing: row.indexing }),
    ...(row.forked_from !== null && { forkedFrom: { threadId: row.forked_from, seq: row.fork_seq } }),
    length: row.length,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
