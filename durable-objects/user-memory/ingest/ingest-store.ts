import type { Erasable, ErasedData } from "../core/erasable.ts";
import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";
import type { FailedRange, Range } from "../../../src/domain/ingest/ranges.ts";
import type { ExtractKind, Ingest } from "../../../src/domain/schema/ingest.ts";
import type { Writer } from "../../../src/domain/memory/record.ts";
import { type Backlog, backlogIn, withoutMessages } from "./backlog.ts";
import { OF_MESSAGES } from "./second-look.ts";

/** A seq for each kind. */
export type Marks = Record<ExtractKind, number>;
/** The seqs up to which a thread is extracted, but for ranges that could not be extracted. */
export type Extent = { marks: Marks; failed: FailedRange[] };

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
  unlooked?: string | undefined;
  attempts: number;
  /** The storage has refused its last step. One that waits for another ingest meanwhile holds none up. */
  isRefused?: boolean | undefined;
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
  hasBacklog: boolean;
};

type Row = { id: string; thread: number; due_at: number | null; state: string; has_backlog: number };
type Binding = string | number;

/** The time that an ended ingest can be read and retried. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const NO_BACKLOG: Backlog = { batches: [], unlooked: [] };

/** The ingests of a user, and how far each thread is extracted. Owns the SQL of `ingests` and `ingested_threads`. */
export class IngestStore implements Erasable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get(id: string): StoredIngest | null {
    return this.#one("id = ?", id);
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

  add({ id, thread, dueAt, state }: Omit<StoredIngest, "hasBacklog">, backlog: Backlog = NO_BACKLOG): void {
    this.#sql.exec(
      "INSERT INTO ingests (id, thread, scope, due_at, ended_at, state, extracted) VALUES (?, ?, ?, ?, ?, ?, ?)",
      id,
      thread,
      state.scope,
      dueAt,
      state.finishedAt ?? null,
      JSON.stringify(state),
      jsonOf(backlog),
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

  /** An empty one is not read. */
  backlog({ id, hasBacklog }: StoredIngest): Backlog {
    const json = hasBacklog ? this.#extracted(id) : null;
    return json === null ? NO_BACKLOG : backlogIn(json);
  }

  setBacklog(id: string, backlog: Backlog): void {
    this.#sql.exec(`UPDATE ingests SET ${zeroedColumns(["extracted"])} WHERE id = ?`, id);
    this.#sql.exec("UPDATE ingests SET extracted = ? WHERE id = ?", jsonOf(backlog), id);
  }

  /** The ingests that are under way or ended as `partial`, the newest first; not one that waits for the end of a session. */
  unfinished(limit: number): StoredIngest[] {
    return this.#all(
      `state ->> '$.status' = 'partial' OR (state ->> '$.status' <> 'done' AND state ->> '$.followsUp' = 0)
       ORDER BY id DESC LIMIT ?`,
      limit,
    );
  }

  /** The ingests of a thread with messages that failed, or are tried again; the newest first. */
  withFailures(thread: number): StoredIngest[] {
    return this.#all(
      "thread = ? AND (state -> '$.failed' <> '[]' OR state -> '$.redo' <> '[]') ORDER BY id DESC",
      thread,
    );
  }

  /** The first ended ingest of a thread with facts that the model did not look at, as it was away; null without one. */
  withoutLook(thread: number): StoredIngest | null {
    return this.#one(
      `thread = ? AND due_at IS NULL AND state ->> '$.unlooked' NOT IN (SELECT value FROM json_each(?))`,
      thread,
      JSON.stringify(OF_MESSAGES),
    );
  }

  /**
   * Another ingest of the thread that goes first; null without one. It has extracted messages for the same kinds, and the marks do not
   * tell of it; or the storage has refused its memories, and later ones would overtake them.
   */
  otherAhead({ id, thread, state }: StoredIngest): StoredIngest | null {
    return this.#one(
      `thread = ? AND id <> ? AND due_at IS NOT NULL AND (state ->> '$.isRefused' = 1 OR EXISTS (
         SELECT 1 FROM json_each(extracted, '$.batches[0].range.kinds') AS kind, json_each(?) AS wanted
         WHERE kind.value = wanted.value))`,
      thread,
      id,
      JSON.stringify(state.extract),
    );
  }

  /** Removes the text that comes of a deleted message from the ingests of its thread. */
  forgetMessage(thread: number, seq: number): void {
    for (const { id } of this.#all("thread = ? AND extracted IS NOT NULL", thread)) {
      const json = this.#extracted(id) ?? "{}";
      const rest = withoutMessages(backlogIn(json), (one) => one !== seq);
      // A former one may have the text where it is read no more.
      if (jsonOf(rest) !== json) this.setBacklog(id, rest);
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
    return this.#threads("SELECT DISTINCT thread FROM ingests WHERE due_at IS NOT NULL");
  }

  /** The numbers of the threads of a session, the newest first. */
  threadsOf(session: string, most: number): number[] {
    return this.#threads(
      "SELECT thread FROM ingested_threads WHERE session = ? ORDER BY thread DESC LIMIT ?",
      session,
      most,
    );
  }

  /** Notes the session of a new thread. */
  begin(thread: number, session: string): void {
    this.#sql.exec("INSERT INTO ingested_threads (thread, session) VALUES (?, ?)", thread, session);
  }

  /** The marks and the failed ranges of a thread; null if it was never extracted. */
  extent(thread: number): Extent | null {
    const [row] = this.#sql
      .exec<Marks & { failed: string | null }>(
        "SELECT facts, episodes, procedures, failed FROM ingested_threads WHERE thread = ?",
        thread,
      )
      .toArray();
    if (row === undefined) return null;
    const { failed, ...marks } = row;
    return { marks, failed: failed === null ? [] : (JSON.parse(failed) as FailedRange[]) };
  }

  /** Raises the marks of a thread, and replaces the ranges that could not be extracted. */
  reach(thread: number, { marks: { facts, episodes, procedures }, failed }: Extent): void {
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

  #extracted(id: string): string | null {
    const [row] = this.#sql
      .exec<{ extracted: string | null }>("SELECT extracted FROM ingests WHERE id = ?", id)
      .toArray();
    return row?.extracted ?? null;
  }

  #threads(query: string, ...bindings: Binding[]): number[] {
    const rows = this.#sql.exec<{ thread: number }>(query, ...bindings);
    return rows.toArray().map(({ thread }) => thread);
  }

  /** A delete alone leaves the bytes in the file. */
  #delete(where: string, binding: Binding): void {
    const ids = this.#sql.exec<{ id: string }>(`SELECT id FROM ingests WHERE ${where}`, binding).toArray();
    for (const { id } of ids) {
      this.#sql.exec(`UPDATE ingests SET ${EMPTIED} WHERE id = ?`, id);
      this.#sql.exec("DELETE FROM ingests WHERE id = ?", id);
    }
  }

  #one(where: string, ...bindings: Binding[]): StoredIngest | null {
    return this.#all(where, ...bindings)[0] ?? null;
  }

  #all(where: string, ...bindings: Binding[]): StoredIngest[] {
    return this.#sql
      .exec<Row>(
        `SELECT id, thread, due_at, state, extracted IS NOT NULL AS has_backlog FROM ingests WHERE ${where}`,
        ...bindings,
      )
      .toArray()
      .map(({ id, thread, due_at, state, has_backlog }) => ({
        id,
        thread,
        dueAt: due_at,
        state: JSON.parse(state) as IngestState,
        hasBacklog: has_backlog === 1,
      }));
  }
}

/** Null for an empty one. */
const jsonOf = (backlog: Backlog): string | null =>
  backlog.batches.length + backlog.unlooked.length === 0 ? null : JSON.stringify(backlog);

const WAITS_FOR_SESSION =
  "due_at IS NOT NULL AND state ->> '$.followsUp' = 1 AND state ->> '$.why' = 'session'";
const EMPTIED = zeroedColumns(["scope", "state", "extracted"]);
