import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { Speakers } from "../../../src/domain/conversation/speakers.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { threadOwner } from "../../../src/domain/thread-id.ts";
import type { ObjectLine } from "../../../src/domain/schema/transfer.ts";
import type { CreateThreadBody, PatchThreadBody, Thread } from "../../../src/domain/schema/thread.ts";
import { LAST_SEQ, type Segment, type SeqRange, seqOf, threadNumberOf } from "../core/position.ts";
import { hides } from "./hidden-messages.ts";
import type { Removals } from "../core/removals.ts";
import type { ThreadPage } from "../../../src/contract/user-memory.ts";

/** A thread as the object keeps it: with its number and where its messages come from. */
export type StoredThread = Omit<Thread, "userId"> & {
  n: number;
  lastSeq: number;
  /** The number of the thread that owns the messages up to and with `forkSeq`; null if all are its own. */
  parent: number | null;
  forkSeq: number;
  /** An import has begun the thread and is to go on with it. */
  importing: boolean;
  /** Null if none of its users has a name. */
  speakers: Speakers | null;
};

export type ThreadLine = ObjectLine & { type: "thread" };
/** A new thread's place among the others. `length`: of what it shares. */
type NewThread = Pick<StoredThread, "parent" | "forkSeq" | "length" | "speakers"> & { importing?: boolean };
type Fork = NewThread & { forkedFrom: string };

export const DEFAULT_TITLE = "New conversation";

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
  deleted: number;
  importing: number;
  speakers: string | null;
  created_at: number;
  updated_at: number;
};

/** A thread as an export tells of it: also one that is there for its forks only. `parentId`: of the thread `parent`. */
export type ExportedThread = StoredThread & { parentId: string | null; deleted: boolean };

/** SQL that selects the ids of all threads but deleted ones. */
export const LIVE_IDS = "SELECT id FROM threads WHERE deleted = 0";
/** SQL that selects the numbers of the threads whose messages are found by their words only. */
export const LEXICAL = "SELECT n FROM threads WHERE indexing = 'lexical'";

/**
 * The thread ?1, of which messages up to seq ?3 are shared, and those before it that share messages from seq ?2 on,
 * each with the last seq shared of it.
 */
const CHAIN = `
  WITH RECURSIVE chain (n, parent, fork_seq, last) AS (
    SELECT n, parent, fork_seq, ?3 FROM threads WHERE n = ?1
    UNION ALL
    -- Never more than the threads between share: a fork of a thread that was emptied shares nothing.
    SELECT threads.n, threads.parent, threads.fork_seq, MIN(last, chain.fork_seq)
    FROM chain CROSS JOIN threads ON threads.n = chain.parent WHERE MIN(last, chain.fork_seq) >= ?2
  )`;
/** Links of a chain that one statement reads: a page of the last messages needs the last links. */
const LINKS = 8;

/** The thread ?1 and its forks, and theirs, that share its message with seq ?2. */
const FAMILY = `
  WITH RECURSIVE family (n) AS (
    SELECT ?1
    UNION ALL
    SELECT threads.n FROM family CROSS JOIN threads ON parent = family.n AND fork_seq >= ?2
  )`;

/** Threads that one statement of an export reads. */
const EXPORTED = 32;

/** The rows of threads. Owns the SQL of `threads`. A thread that is `deleted` is there for its forks only. */
export class ThreadStore implements Erasable {
  readonly #sql: SqlStorage;
  readonly #removals: Removals;
  /** The number of the last change; null before it is read. Numbers of a transaction that was rolled back stay unused. */
  #lastChange: number | null = null;

  constructor(sql: SqlStorage, removals: Removals) {
    this.#sql = sql;
    this.#removals = removals;
  }

  /** The number of the last change of a thread. Reads all threads once. */
  lastChange(): number {
    return (this.#lastChange ??= Math.max(
      this.#sql.exec<{ n: number }>("SELECT ifnull(MAX(change), 0) AS n FROM threads").one().n,
      this.#removals.last("thread"),
    ));
  }

  #nextChange(): number {
    return (this.#lastChange = this.lastChange() + 1);
  }

  /** Notes that an erasure began. */
  noteErasure(id: string): void {
    this.#removals.add("thread", () => this.#nextChange(), { ids: [id], erasure: true });
  }

  /** With all threads of the user, numbers begin anew. */
  erase({ what }: ErasedData): void {
    if (what === "user") this.#lastChange = null;
  }

  /** The live threads whose last change is between two numbers, in its order. Looks at each thread. */
  changedBetween(
    [after, upTo]: readonly [number, number],
    limit: number,
  ): { n: number; id: string; length: number; at: number }[] {
    return this.#sql
      .exec<{ n: number; id: string; length: number; at: number }>(
        `SELECT change AS n, id, length, updated_at AS at FROM threads
         WHERE change > ? AND change <= ? AND deleted = 0 ORDER BY change LIMIT ?`,
        after,
        upTo,
        limit,
      )
      .toArray();
  }

  /** A fork shares the messages up to `forkSeq`, so its own begin after that. */
  create(id: string, fields: CreateThreadBody, { now, fork }: { now: number; fork?: Fork }): StoredThread {
    const { forkedFrom, ...shared } = fork ?? { parent: null, forkSeq: 0, length: 0, speakers: null };
    const times = { createdAt: now, updatedAt: now };
    const { title = DEFAULT_TITLE } = fields;
    return this.#insert({ ...fields, id, title, lastSeq: shared.forkSeq, forkedFrom, ...times }, shared);
  }

  get(id: string): StoredThread | null {
    return this.#one("id = ? AND deleted = 0", id);
  }

  /** Also one that is there for its forks only. */
  any(id: string): StoredThread | null {
    return this.#one("id = ?", id);
  }

  /** Begins the import of a thread: as it was elsewhere, but for its messages. */
  restore(
    line: ThreadLine,
    { parent, forkSeq, speakers }: Pick<NewThread, "parent" | "forkSeq" | "speakers">,
  ): StoredThread {
    return this.#insert(line, { parent, forkSeq, speakers, length: 0, importing: true });
  }

  /**
   * Ends the import of a thread: all of it has come, or something was taken out of it. Sent again, the import would bring
   * that back.
   */
  endImport({ n }: StoredThread): void {
    this.#sql.exec("UPDATE threads SET importing = 0 WHERE n = ? AND importing = 1", n);
  }

  /** These threads were found to have so many messages more, or less. No time of an update changes. */
  lengthen(numbers: readonly number[], by: number): void {
    this.#sql.exec(
      "UPDATE threads SET length = length + ?, change = ? WHERE n IN (SELECT value FROM json_each(?))",
      by,
      this.#nextChange(),
      JSON.stringify(numbers),
    );
  }

  /** The number of threads that are not deleted. Reads each. */
  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM threads WHERE deleted = 0").one().n;
  }

  /** The thread of this agent that was updated last (null: of no agent). */
  latest(agent: string | null): StoredThread | null {
    return this.#one("agent IS ? AND deleted = 0 ORDER BY updated_at DESC, n LIMIT 1", agent);
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
        `UPDATE threads SET ${set} updated_at = MAX(updated_at, ?), change = ? WHERE n = ? RETURNING *`,
        ...changes.map(([, value]) => value),
        now,
        this.#nextChange(),
        n,
      )
      .one();
    return threadOf(row);
  }

  /** Later messages get seqs after this one. */
  reach({ n }: StoredThread, seq: number): void {
    this.#sql.exec("UPDATE threads SET last_seq = MAX(last_seq, ?) WHERE n = ?", seq, n);
  }

  /**
   * Makes room for `count` messages behind the last, and answers the seq of the first. Throws where the places of a thread
   * end, as the next thread's begin there: no thread comes so far (an import takes half of them at most). `recalls`: what
   * `recalls()` gives from now on; null changes nothing.
   */
  extend(
    { n }: StoredThread,
    count: number,
    { now, recalls = null }: { now: number; recalls?: string | null },
  ): number {
    const { last_seq: last } = this.#sql
      .exec<Pick<Row, "last_seq">>(
        `UPDATE threads SET length = length + ?2, last_seq = last_seq + ?2, updated_at = MAX(updated_at, ?3), change = ?5,
           recalls = ifnull(?6, recalls)
         WHERE n = ?1 AND last_seq + ?2 <= ?4 RETURNING last_seq`,
        n,
        count,
        now,
        LAST_SEQ,
        this.#nextChange(),
        recalls,
      )
      .one();
    return last - count + 1;
  }

  /** The recalls that appends took along, of a thread or of all. Looks at each thread. */
  recalls(n?: number): { n: number; recalls: string }[] {
    const of = n === undefined ? "" : "n = ? AND";
    return this.#sql
      .exec<{ n: number; recalls: string }>(
        `SELECT n, recalls FROM threads WHERE ${of} recalls IS NOT NULL`,
        ...(n === undefined ? [] : [n]),
      )
      .toArray();
  }

  setRecalls(n: number, recalls: string | null): void {
    this.#sql.exec("UPDATE threads SET recalls = ? WHERE n = ?", recalls, n);
  }

  /** Notes the names of a thread's users. */
  setSpeakers({ n }: StoredThread, speakers: Speakers): void {
    this.#sql.exec("UPDATE threads SET speakers = ? WHERE n = ?", JSON.stringify(speakers), n);
  }

  /** One message less. */
  shorten({ n }: StoredThread, now: number): void {
    this.#sql.exec(
      "UPDATE threads SET length = length - 1, updated_at = MAX(updated_at, ?), change = ? WHERE n = ?",
      now,
      this.#nextChange(),
      n,
    );
  }

  /** The stretches that a thread and those before it share between two seqs, the last first, read some at a time. */
  *chain(thread: number, [from, upTo]: SeqRange): Generator<Segment, void> {
    for (let [next, last]: [number | null, number] = [thread, upTo]; next !== null && last >= from;) {
      const links = this.#sql
        .exec<Pick<Row, "n" | "parent" | "fork_seq"> & { last: number }>(
          `${CHAIN} SELECT * FROM chain LIMIT ${LINKS}`,
          next,
          from,
          last,
        )
        .toArray();
      for (const link of links)
        if (link.fork_seq < link.last) yield { n: link.n, from: link.fork_seq + 1, to: link.last };
      const end = links.at(-1);
      next = end?.parent ?? null;
      last = Math.min(end?.last ?? 0, end?.fork_seq ?? 0);
    }
  }

  /** The forks among these threads, and the forks before them. */
  forks(threads: readonly number[]): Map<number, { parent: number; forkSeq: number }> {
    const rows = this.#sql.exec<{ n: number; parent: number; fork_seq: number }>(
      `WITH RECURSIVE line (n) AS (
         SELECT value FROM json_each(?)
         UNION
         SELECT parent FROM line CROSS JOIN threads ON threads.n = line.n WHERE parent IS NOT NULL
       )
       SELECT threads.n, parent, fork_seq FROM line CROSS JOIN threads ON threads.n = line.n WHERE parent IS NOT NULL`,
      JSON.stringify(threads),
    );
    return new Map(Array.from(rows, ({ n, parent, fork_seq: forkSeq }) => [n, { parent, forkSeq }]));
  }

  /** The numbers of a thread and its forks that show its message with this seq. */
  showing(n: number, seq: number): number[] {
    return this.#sql
      .exec<{ n: number }>(`${FAMILY} SELECT n FROM family WHERE NOT ${hides("family.n", "?2")}`, n, seq)
      .toArray()
      .map((row) => row.n);
  }

  /** The id of a live thread that has the message at this position, or null. */
  holder(position: number): string | null {
    const [holder] = this.#sql
      .exec<{ id: string }>(
        `${FAMILY} SELECT id FROM family CROSS JOIN threads ON threads.n = family.n
         WHERE deleted = 0 AND NOT ${hides("family.n", "?2")} LIMIT 1`,
        threadNumberOf(position),
        seqOf(position),
      )
      .toArray();
    return holder?.id ?? null;
  }

  /** The ids of the live threads among these, by their numbers. */
  liveAmong(threads: readonly number[]): Map<number, string> {
    const rows = this.#sql.exec<{ n: number; id: string }>(
      "SELECT n, id FROM threads WHERE deleted = 0 AND n IN (SELECT value FROM json_each(?))",
      JSON.stringify(threads),
    );
    return new Map(Array.from(rows, ({ n, id }) => [n, id]));
  }

  /** The last seq of a thread's own that a fork shares; null if there is no fork. */
  sharedUpTo(n: number): number | null {
    return this.#sql
      .exec<{ last: number | null }>("SELECT MAX(fork_seq) AS last FROM threads WHERE parent = ?", n)
      .one().last;
  }

  /** Notes that a live thread is deleted. Call it before its row goes. */
  noteDeletion({ id }: Pick<StoredThread, "id">): void {
    this.#removals.add("thread", () => this.#nextChange(), { ids: [id] });
  }

  /** Leaves of a thread its place in the line of its forks. */
  markDeleted(n: number): void {
    this.#sql.exec(
      `UPDATE threads SET deleted = 1, importing = 0, title = '', agent = NULL, resource_slug = NULL, record_id = NULL,
         metadata = NULL, speakers = NULL, recalls = NULL
       WHERE n = ?`,
      n,
    );
  }

  /** A thread that is marked as deleted, or null. */
  deleted(n: number): { parent: number | null } | null {
    const rows = this.#sql.exec<{ parent: number | null }>(
      "SELECT parent FROM threads WHERE n = ? AND deleted = 1",
      n,
    );
    return rows.toArray()[0] ?? null;
  }

  remove(n: number): void {
    this.#sql.exec("DELETE FROM threads WHERE n = ?", n);
  }

  /** The greatest number of a thread, 0 if there is none. */
  lastNumber(): number {
    return this.#sql.exec<{ n: number }>("SELECT COALESCE(MAX(n), 0) AS n FROM threads").one().n;
  }

  /** The id of a thread, also of a deleted one; null if there is none. */
  idOf(n: number): string | null {
    const [row] = this.#sql.exec<{ id: string }>("SELECT id FROM threads WHERE n = ?", n).toArray();
    return row?.id ?? null;
  }

  /** The owner, from any thread's id; null without a thread. */
  owner(): UserHash | null {
    const [row] = this.#sql.exec<{ id: string }>("SELECT id FROM threads LIMIT 1").toArray();
    return row === undefined ? null : threadOwner(row.id);
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

  #insert(
    fields: Omit<ThreadLine, "type" | "parent">,
    { parent, forkSeq, length, speakers, importing = false }: NewThread,
  ): StoredThread {
    const row = this.#sql
      .exec<Row>(
        `INSERT INTO threads
           (id, title, agent, resource_slug, record_id, metadata, indexing, length, last_seq, parent, fork_seq, forked_from,
            deleted, importing, speakers, created_at, updated_at, change)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
        fields.id,
        fields.title,
        fields.agent ?? null,
        fields.resourceSlug ?? null,
        fields.recordId ?? null,
        fields.metadata === undefined ? null : JSON.stringify(fields.metadata),
        fields.indexing ?? null,
        length,
        fields.lastSeq,
        parent,
        forkSeq,
        fields.forkedFrom ?? null,
        fields.deleted === true ? 1 : 0,
        importing ? 1 : 0,
        speakers && JSON.stringify(speakers),
        fields.createdAt,
        fields.updatedAt,
        this.#nextChange(),
      )
      .one();
    return threadOf(row);
  }

  #one(where: string, ...bindings: (string | number | null)[]): StoredThread | null {
    const [row] = this.#sql.exec<Row>(`SELECT * FROM threads WHERE ${where}`, ...bindings).toArray();
    return row === undefined ? null : threadOf(row);
  }
}

function threadOf(row: Row): StoredThread {
  return {
    n: row.n,
    lastSeq: row.last_seq,
    parent: row.parent,
    forkSeq: row.fork_seq,
    importing: row.importing === 1,
    speakers: row.speakers === null ? null : (JSON.parse(row.speakers) as Speakers),
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
