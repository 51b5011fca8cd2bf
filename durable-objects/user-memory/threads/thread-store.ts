import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { Speakers } from "../../../src/domain/conversation/speakers.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { threadOwner } from "../../../src/domain/thread-id.ts";
import type { CreateThreadBody, PatchThreadBody } from "../../../src/domain/schema/thread.ts";
import { LAST_SEQ } from "../core/position.ts";
import { DEFAULT_TITLE, type Row, type StoredThread, type ThreadLine, threadOf } from "./thread-row.ts";
import type { Removals } from "../core/removals.ts";

/** A new thread's place among the others. `length`: of what it shares. */
type NewThread = Pick<StoredThread, "parent" | "forkSeq" | "length" | "speakers"> & { importing?: boolean };
type Fork = NewThread & { forkedFrom: string };

/** SQL that selects the ids of all threads but deleted ones. */
export const LIVE_IDS = "SELECT id FROM threads WHERE deleted = 0";
/** SQL that selects the numbers of the threads whose messages are found by their words only. */
export const LEXICAL = "SELECT n FROM threads WHERE indexing = 'lexical'";

/** The rows of threads. Owns the SQL of `threads`; `ThreadForks` and `ThreadLists` read it too. A thread that is `deleted` is there for its forks only. */
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
  endImport({ n }: Pick<StoredThread, "n">): void {
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

  /** Changes what is given; null clears. */
  patch({ n }: StoredThread, fields: PatchThreadBody, now: number): StoredThread {
    const columns = {
      title: "title",
      agent: "agent",
      resourceSlug: "resource_slug",
      recordId: "record_id",
      indexing: "indexing",
      retention: "retention",
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

  /** The thread's own rule of retention holds from this time on. */
  setRuleTime({ n }: Pick<StoredThread, "n">, at: number): void {
    this.#sql.exec("UPDATE threads SET rule_at = ? WHERE n = ?", at, n);
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

  /** Notes that a live thread is deleted. Call it before its row goes. */
  noteDeletion({ id }: Pick<StoredThread, "id">): void {
    this.#removals.add("thread", () => this.#nextChange(), { ids: [id] });
  }

  /** Leaves of a thread its place in the line of its forks. */
  markDeleted(n: number): void {
    this.#sql.exec(
      `UPDATE threads SET deleted = 1, importing = 0, title = '', agent = NULL, resource_slug = NULL, record_id = NULL,
         metadata = NULL, retention = NULL, speakers = NULL, recalls = NULL
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

  /** The greatest number that a thread was ever given. */
  lastGiven(): number {
    const given = "SELECT ifnull(MAX(seq), 0) AS n FROM sqlite_sequence WHERE name = 'threads'";
    return this.#sql.exec<{ n: number }>(given).one().n;
  }

  /** Later threads and changes get numbers after these. Call `Removals.skipTo` for changes too, which stays. */
  skipTo({ change, thread }: { change: number; thread: number }): void {
    this.#sql.exec("DELETE FROM sqlite_sequence WHERE name = 'threads'");
    this.#sql.exec("INSERT INTO sqlite_sequence (name, seq) VALUES ('threads', ?)", thread);
    this.#lastChange = change;
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

  #insert(
    fields: Omit<ThreadLine, "type" | "parent">,
    { parent, forkSeq, length, speakers, importing = false }: NewThread,
  ): StoredThread {
    const row = this.#sql
      .exec<Row>(
        `INSERT INTO threads
           (id, title, agent, resource_slug, record_id, metadata, indexing, retention, length, last_seq, parent, fork_seq, forked_from,
            deleted, importing, speakers, created_at, updated_at, change)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
        fields.id,
        fields.title,
        fields.agent ?? null,
        fields.resourceSlug ?? null,
        fields.recordId ?? null,
        fields.metadata === undefined ? null : JSON.stringify(fields.metadata),
        fields.indexing ?? null,
        fields.retention ?? null,
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
