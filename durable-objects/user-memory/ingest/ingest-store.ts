import type { Erasable, ErasedData } from "../core/erasable.ts";
import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";
import type { FailedRange, Range } from "../../../src/domain/ingest/ranges.ts";
import type { Extracted, ExtractKind, Ingest } from "../../../src/domain/schema/ingest.ts";
import type { Writer } from "../../../src/domain/memory/record.ts";
import { withoutMessages } from "./kept.ts";
import { type Look, OF_MESSAGES, type Unlooked } from "./second-look.ts";

/** A seq for each kind. */
export type Marks = Record<ExtractKind, number>;

/**
 * The state of an ingest. `began`: how far the thread was extracted before. `progress`: how far it is now. `failed`: what could not be
 * extracted. `redo`: what is tried again, and comes first. `ignoresMarks`: extracts also what other ingests have extracted.
 */
export type IngestState = Omit<Ingest, "id" | "messages" | "failed"> & {
  by: Writer;
  scope: string | null;
  stored: number;
  known: number;
  to: number;
  began: Marks;
  progress: Marks;
  failed: FailedRange[];
  redo: Range[];
  ignoresMarks: boolean;
  /** Why the model did not look at some facts: they wait in quarantine, and a retry asks it again. */
  unlooked?: string;
  attempts: number;
  /** The last session counts as ended: the caller waits. */
  endsSessions: boolean;
  /** It waits for the end of the thread's last session, and was not asked for by a caller. */
  followsUp: boolean;
};
export type StoredIngest = {
  id: string;
  thread: number;
  dueAt: number | null;
  state: IngestState;
  hasExtracted: boolean;
};

/**
 * The state of an ingest besides the thread: memories of the caller's own model that are not stored yet, and looks of the model under way.
 * `unlooked`: facts of looks that failed, for a retry: they wait in quarantine, and only there is their text.
 */
export type Kept = Extracted & { looks?: readonly Look[]; unlooked?: readonly Unlooked[] };

type Row = { id: string; thread: number; due_at: number | null; state: string; has_extracted: number };

/** The time that an ended ingest can be read and retried. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const COLUMNS = "id, thread, due_at, state, extracted IS NOT NULL AS has_extracted";

/** The ingests of a user, and how far each thread is extracted. Owns the SQL of `ingests` and `ingested_threads`. */
export class IngestStore implements Erasable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get(id: string): StoredIngest | null {
    return this.#one("id = ?", id);
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM ingests WHERE id = ?", id).toArray().length > 0;
  }

  /** The ingest that is due first, at this time or before, in other threads than these; null if none is. */
  due(now: number, except: readonly number[]): StoredIngest | null {
    return this.#one(
      "due_at <= ? AND thread NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at, id LIMIT 1",
      now,
      JSON.stringify(except),
    );
  }

  /** The time of the next step in other threads than these, or of the deletion of an ended ingest; null without either. */
  nextDue(except: readonly number[]): number | null {
    return this.#sql
      .exec<{ at: number | null }>(
        `SELECT MIN(COALESCE(due_at, ended_at + ${KEPT_MS})) AS at FROM ingests
         WHERE due_at IS NULL OR thread NOT IN (SELECT value FROM json_each(?))`,
        JSON.stringify(except),
      )
      .one().at;
  }

  add(
    { id, thread, dueAt, state }: Omit<StoredIngest, "hasExtracted">,
    extracted: Extracted | null = null,
  ): void {
    this.#sql.exec(
      "INSERT INTO ingests (id, thread, scope, due_at, ended_at, state, extracted) VALUES (?, ?, ?, ?, ?, ?, ?)",
      id,
      thread,
      state.scope,
      dueAt,
      state.finishedAt ?? null,
      JSON.stringify(state),
      extracted && JSON.stringify(extracted),
    );
  }

  /** Does nothing if the ingest was deleted meanwhile. */
  update({ id, dueAt, state }: Pick<StoredIngest, "id" | "dueAt" | "state">): void {
    this.#sql.exec(
      "UPDATE ingests SET due_at = ?, ended_at = ?, state = ? WHERE id = ?",
      dueAt,
      state.finishedAt ?? null,
      JSON.stringify(state),
      id,
    );
  }

  extracted(id: string): Kept | null {
    const stored = this.#extracted(id);
    return stored === null ? null : (JSON.parse(stored) as Kept);
  }

  #extracted(id: string): string | null {
    const [row] = this.#sql
      .exec<{ extracted: string | null }>("SELECT extracted FROM ingests WHERE id = ?", id)
      .toArray();
    return row?.extracted ?? null;
  }

  setExtracted(id: string, extracted: Kept | null): void {
    this.#sql.exec(`UPDATE ingests SET ${zeroedColumns(["extracted"])} WHERE id = ?`, id);
    this.#sql.exec(
      "UPDATE ingests SET extracted = ? WHERE id = ?",
      extracted && JSON.stringify(extracted),
      id,
    );
  }

  /** The ingests that are under way or ended as `partial`, the newest first; not one that waits for the end of a session. */
  unfinished(limit: number): StoredIngest[] {
    return this.#sql
      .exec<Row>(
        `SELECT ${COLUMNS} FROM ingests WHERE state ->> '$.status' = 'partial'
           OR (state ->> '$.status' <> 'done' AND state ->> '$.followsUp' = 0)
         ORDER BY id DESC LIMIT ?`,
        limit,
      )
      .toArray()
      .map(ingestOf);
  }

  /** The ingests of a thread with messages that failed, or are tried again; the newest first. */
  withFailures(thread: number): StoredIngest[] {
    return this.#sql
      .exec<Row>(
        `SELECT ${COLUMNS} FROM ingests
         WHERE thread = ? AND (state -> '$.failed' <> '[]' OR state -> '$.redo' <> '[]') ORDER BY id DESC`,
        thread,
      )
      .toArray()
      .map(ingestOf);
  }

  /** The ended ingests of a thread with facts that the model did not look at, as it was away. */
  withoutLook(thread: number): StoredIngest[] {
    return this.#sql
      .exec<Row>(
        `SELECT ${COLUMNS} FROM ingests WHERE thread = ? AND due_at IS NULL
           AND state ->> '$.unlooked' NOT IN (SELECT value FROM json_each(?))`,
        thread,
        JSON.stringify(OF_MESSAGES),
      )
      .toArray()
      .map(ingestOf);
  }

  /**
   * The ingests of a thread with a look of the model under way at what they extracted of these kinds: the marks do not tell of it yet.
   */
  looking(thread: number, kinds: readonly ExtractKind[]): StoredIngest[] {
    return this.#sql
      .exec<Row>(
        `SELECT ${COLUMNS} FROM ingests WHERE thread = ? AND due_at IS NOT NULL AND EXISTS (
           SELECT 1 FROM json_each(extracted, '$.looks[0].range.kinds') AS kind, json_each(?) AS wanted
           WHERE kind.value = wanted.value)`,
        thread,
        JSON.stringify(kinds),
      )
      .toArray()
      .map(ingestOf);
  }

  /** Removes the text that comes of a deleted message from the ingests of its thread. */
  forgetMessage(thread: number, seq: number): void {
    for (const id of this.#ids("thread = ? AND extracted IS NOT NULL", thread)) {
      const stored = this.#extracted(id) ?? "{}";
      const rest = withoutMessages(JSON.parse(stored) as Kept, (one) => one !== seq);
      if (JSON.stringify(rest) !== stored) this.setExtracted(id, rest);
    }
  }

  /** Deletes ingests that ended a week ago. */
  deleteOld(now: number): void {
    this.#delete("due_at IS NULL AND ended_at <= ?", now - KEPT_MS);
  }

  /** The ingests of a scope; those of the user are in a table. */
  erase(data: ErasedData): void {
    if (data.what === "scope") this.#delete("scope = ?", data.scope);
  }

  /** The ingest that waits for the end of a thread's last session; null if none does. */
  followUp(thread: number): StoredIngest | null {
    return this.#one(`thread = ? AND ${WAITS_FOR_SESSION}`, thread);
  }

  /** Deletes it. */
  deleteFollowUp(thread: number): void {
    this.#delete(`thread = ? AND ${WAITS_FOR_SESSION}`, thread);
  }

  /** The numbers of the threads that an ingest is to read. */
  busyThreads(): number[] {
    return this.#sql
      .exec<{ thread: number }>("SELECT DISTINCT thread FROM ingests WHERE due_at IS NOT NULL")
      .toArray()
      .map(({ thread }) => thread);
  }

  /** The numbers of the threads of a session, the newest first. */
  threadsOf(session: string, most: number): number[] {
    return this.#sql
      .exec<{ thread: number }>(
        "SELECT thread FROM ingested_threads WHERE session = ? ORDER BY thread DESC LIMIT ?",
        session,
        most,
      )
      .toArray()
      .map(({ thread }) => thread);
  }

  /** Notes the session of a new thread. */
  begin(thread: number, session: string): void {
    this.#sql.exec("INSERT INTO ingested_threads (thread, session) VALUES (?, ?)", thread, session);
  }

  /** The seq up to which a thread is extracted; null if it never was. */
  marks(thread: number): Marks | null {
    const [marks] = this.#sql
      .exec<Marks>("SELECT facts, episodes, procedures FROM ingested_threads WHERE thread = ?", thread)
      .toArray();
    return marks ?? null;
  }

  /** The ranges up to the marks of a thread that could not be extracted. */
  failed(thread: number): FailedRange[] {
    const [row] = this.#sql
      .exec<{ failed: string | null }>("SELECT failed FROM ingested_threads WHERE thread = ?", thread)
      .toArray();
    return row?.failed == null ? [] : (JSON.parse(row.failed) as FailedRange[]);
  }

  /** Raises the marks of a thread, and replaces the ranges that could not be extracted. */
  reach(thread: number, { facts, episodes, procedures }: Marks, failed: readonly FailedRange[]): void {
    this.#sql.exec(
      `INSERT INTO ingested_threads (thread, facts, episodes, procedures, failed) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (thread) DO UPDATE SET facts = MAX(facts, ?2), episodes = MAX(episodes, ?3),
         procedures = MAX(procedures, ?4), failed = ?5`,
      thread,
      facts,
      episodes,
      procedures,
      failed.length === 0 ? null : JSON.stringify(failed),
    );
  }

  #ids(where: string, binding: string | number): string[] {
    return this.#sql
      .exec<{ id: string }>(`SELECT id FROM ingests WHERE ${where}`, binding)
      .toArray()
      .map(({ id }) => id);
  }

  /** A delete alone leaves the bytes in the file. */
  #delete(where: string, binding: string | number): void {
    for (const id of this.#ids(where, binding)) {
      this.#sql.exec(`UPDATE ingests SET ${EMPTIED} WHERE id = ?`, id);
      this.#sql.exec("DELETE FROM ingests WHERE id = ?", id);
    }
  }

  #one(where: string, ...bindings: (string | number)[]): StoredIngest | null {
    const [row] = this.#sql.exec<Row>(`SELECT ${COLUMNS} FROM ingests WHERE ${where}`, ...bindings).toArray();
    return row === undefined ? null : ingestOf(row);
  }
}

const ingestOf = (row: Row): StoredIngest => ({
  id: row.id,
  thread: row.thread,
  dueAt: row.due_at,
  state: JSON.parse(row.state) as IngestState,
  hasExtracted: row.has_extracted === 1,
});

const WAITS_FOR_SESSION =
  "due_at IS NOT NULL AND state ->> '$.followsUp' = 1 AND state ->> '$.why' = 'session'";
const EMPTIED = zeroedColumns(["scope", "state", "extracted"]);
