import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { Speakers } from "../../../src/domain/conversation/speakers.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { threadOwner } from "../../../src/domain/thread-id.ts";
import type { CreateThreadBody, PatchThreadBody } from "../../../src/domain/schema/thread.ts";
import { part, raw, SqlStore } from "../../storage/sql.ts";
import { LAST_SEQ } from "../core/position.ts";
import { DEFAULT_TITLE, type Row, type StoredThread, type ThreadLine, threadOf } from "./thread-row.ts";
import type { Removals } from "../core/removals.ts";

/** A new thread's place among the others. `length`: of what it shares. */
type NewThread = Pick<StoredThread, "parent" | "forkSeq" | "length" | "speakers"> & { importing?: boolean };
type Fork = NewThread & { forkedFrom: string };

/** The fields that a caller may change, and their columns. */
const COLUMNS = [
  ["title", "title"],
  ["agent", "agent"],
  ["resourceSlug", "resource_slug"],
  ["recordId", "record_id"],
  ["metadata", "metadata"],
  ["indexing", "indexing"],
  ["retention", "retention"],
] as const;

/** SQL that selects the ids of all threads but deleted ones. */
export const LIVE_IDS = "SELECT id FROM threads WHERE deleted = 0";
/** SQL that selects the numbers of the threads whose messages are found by their words only. */
export const LEXICAL = "SELECT n FROM threads WHERE indexing = 'lexical'";

/** The rows of threads. Owns the SQL of `threads`; `ThreadForks` and `ThreadLists` read it too. A thread that is `deleted` is there for its forks only. */
export class ThreadStore extends SqlStore implements Erasable {
  readonly #removals: Removals;
  /** The number of the last change; null before it is read. Numbers of a transaction that was rolled back stay unused. */
  #lastChange: number | null = null;

  constructor(sql: SqlStorage, removals: Removals) {
    super(sql);
    this.#removals = removals;
  }

  /** The number of the last change of a thread. Reads all threads once. */
  lastChange(): number {
    return (this.#lastChange ??= Math.max(
      this.sql.value<number>`SELECT ifnull(MAX(change), 0) FROM threads`,
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
    return this.sql.rows`
      SELECT change AS n, id, length, updated_at AS at FROM threads
      WHERE change > ${after} AND change <= ${upTo} AND deleted = 0 ORDER BY change LIMIT ${limit}`;
  }

  /** A fork shares the messages up to `forkSeq`, so its own begin after that. */
  create(id: string, fields: CreateThreadBody, { now, fork }: { now: number; fork?: Fork }): StoredThread {
    const { forkedFrom, ...shared } = fork ?? { parent: null, forkSeq: 0, length: 0, speakers: null };
    const times = { createdAt: now, updatedAt: now };
    const { title = DEFAULT_TITLE } = fields;
    return this.#insert({ ...fields, id, title, lastSeq: shared.forkSeq, forkedFrom, ...times }, shared);
  }

  get(id: string): StoredThread | null {
    const [row] = this.sql.rows<Row>`SELECT * FROM threads WHERE id = ${id} AND deleted = 0`;
    return row === undefined ? null : threadOf(row);
  }

  /** Also one that is there for its forks only. */
  any(id: string): StoredThread | null {
    const [row] = this.sql.rows<Row>`SELECT * FROM threads WHERE id = ${id}`;
    return row === undefined ? null : threadOf(row);
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
    this.sql.run`UPDATE threads SET importing = 0 WHERE n = ${n} AND importing = 1`;
  }

  /** These threads were found to have so many messages more, or less. No time of an update changes. */
  lengthen(numbers: readonly number[], by: number): void {
    this.sql.run`
      UPDATE threads SET length = length + ${by}, change = ${this.#nextChange()}
      WHERE n IN (SELECT value FROM json_each(${JSON.stringify(numbers)}))`;
  }

  /** The number of threads that are not deleted. Reads each. */
  count(): number {
    return this.sql.value`SELECT COUNT(*) FROM threads WHERE deleted = 0`;
  }

  /** Changes what is given; null clears. */
  patch({ n }: StoredThread, fields: PatchThreadBody, now: number): StoredThread {
    const values = {
      ...fields,
      title: fields.title === null ? DEFAULT_TITLE : fields.title,
      metadata: fields.metadata && JSON.stringify(fields.metadata),
    };
    const set = COLUMNS.reduce((before, [field, column]) => {
      const value = values[field];
      return value === undefined ? before : part`${before} ${raw(column)} = ${value},`;
    }, raw(""));
    const row = this.sql.one<Row>`
      UPDATE threads SET ${set} updated_at = MAX(updated_at, ${now}), change = ${this.#nextChange()}
      WHERE n = ${n} RETURNING *`;
    return threadOf(row);
  }

  /** The thread's own rule of retention holds from this time on. */
  setRuleTime({ n }: Pick<StoredThread, "n">, at: number): void {
    this.sql.run`UPDATE threads SET rule_at = ${at} WHERE n = ${n}`;
  }

  /** Later messages get seqs after this one. */
  reach({ n }: StoredThread, seq: number): void {
    this.sql.run`UPDATE threads SET last_seq = MAX(last_seq, ${seq}) WHERE n = ${n}`;
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
    const last = this.sql.value<number>`
      UPDATE threads SET length = length + ${count}, last_seq = last_seq + ${count}, change = ${this.#nextChange()},
        updated_at = MAX(updated_at, ${now}), recalls = ifnull(${recalls}, recalls)
      WHERE n = ${n} AND last_seq + ${count} <= ${LAST_SEQ} RETURNING last_seq`;
    return last - count + 1;
  }

  /** The recalls that appends took along, of a thread or of all. Looks at each thread. */
  recalls(n?: number): { n: number; recalls: string }[] {
    return this.sql.rows`
      SELECT n, recalls FROM threads
      WHERE recalls IS NOT NULL AND ${n === undefined ? raw("TRUE") : part`n = ${n}`}`;
  }

  setRecalls(n: number, recalls: string | null): void {
    this.sql.run`UPDATE threads SET recalls = ${recalls} WHERE n = ${n}`;
  }

  /** Notes the names of a thread's users. */
  setSpeakers({ n }: StoredThread, speakers: Speakers): void {
    this.sql.run`UPDATE threads SET speakers = ${JSON.stringify(speakers)} WHERE n = ${n}`;
  }

  /** One message less. */
  shorten({ n }: StoredThread, now: number): void {
    this.sql.run`
      UPDATE threads SET length = length - 1, updated_at = MAX(updated_at, ${now}), change = ${this.#nextChange()}
      WHERE n = ${n}`;
  }

  /** Notes that a live thread is deleted. Call it before its row goes. */
  noteDeletion({ id }: Pick<StoredThread, "id">): void {
    this.#removals.add("thread", () => this.#nextChange(), { ids: [id] });
  }

  /** Leaves of a thread its place in the line of its forks. */
  markDeleted(n: number): void {
    this.sql.run`
      UPDATE threads SET deleted = 1, importing = 0, title = '', agent = NULL, resource_slug = NULL, record_id = NULL,
        metadata = NULL, retention = NULL, speakers = NULL, recalls = NULL
      WHERE n = ${n}`;
  }

  /** A thread that is marked as deleted, or null. */
  deleted(n: number): { parent: number | null } | null {
    const [row] = this.sql.rows<{ parent: number | null }>`
      SELECT parent FROM threads WHERE n = ${n} AND deleted = 1`;
    return row ?? null;
  }

  remove(n: number): void {
    this.sql.run`DELETE FROM threads WHERE n = ${n}`;
  }

  /** The greatest number of a thread, 0 if there is none. */
  lastNumber(): number {
    return this.sql.value`SELECT COALESCE(MAX(n), 0) FROM threads`;
  }

  /** The greatest number that a thread was ever given. */
  lastGiven(): number {
    return this.sql.value`SELECT ifnull(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'threads'`;
  }

  /** Later threads and changes get numbers after these. Call `Removals.skipTo` for changes too, which stays. */
  skipTo({ change, thread }: { change: number; thread: number }): void {
    this.sql.run`DELETE FROM sqlite_sequence WHERE name = 'threads'`;
    this.sql.run`INSERT INTO sqlite_sequence (name, seq) VALUES ('threads', ${thread})`;
    this.#lastChange = change;
  }

  /** The id of a thread, also of a deleted one; null if there is none. */
  idOf(n: number): string | null {
    const [id] = this.sql.column<string>`SELECT id FROM threads WHERE n = ${n}`;
    return id ?? null;
  }

  /** The owner, from any thread's id; null without a thread. */
  owner(): UserHash | null {
    const [id] = this.sql.column<string>`SELECT id FROM threads LIMIT 1`;
    return id === undefined ? null : threadOwner(id);
  }

  #insert(
    fields: Omit<ThreadLine, "type" | "parent">,
    { parent, forkSeq, length, speakers, importing = false }: NewThread,
  ): StoredThread {
    const {
      id,
      title,
      agent = null,
      resourceSlug = null,
      recordId = null,
      metadata,
      indexing = null,
    } = fields;
    const { retention = null, forkedFrom = null, lastSeq, deleted = false, createdAt, updatedAt } = fields;
    const row = this.sql.one<Row>`
      INSERT INTO threads
        (id, title, agent, resource_slug, record_id, metadata, indexing, retention,
         length, last_seq, parent, fork_seq, forked_from, deleted, importing,
         speakers, created_at, updated_at, change)
      VALUES (${id}, ${title}, ${agent}, ${resourceSlug}, ${recordId}, ${jsonOf(metadata)}, ${indexing}, ${retention},
         ${length}, ${lastSeq}, ${parent}, ${forkSeq}, ${forkedFrom}, ${Number(deleted)}, ${Number(importing)},
         ${jsonOf(speakers)}, ${createdAt}, ${updatedAt}, ${this.#nextChange()})
      RETURNING *`;
    return threadOf(row);
  }
}

const jsonOf = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null);
