import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import { ErasedWrite } from "../../../src/platform/d1/write-errors.ts";
import type { ThreadCatalogue } from "../../../src/platform/d1/thread-catalogue.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { earliest } from "../../storage/chores.ts";
import type { Failures } from "../../storage/failures.ts";
import { serialQueue } from "../../storage/serial-queue.ts";
import { part, raw, type Sql, type SqlPart } from "../../storage/sql.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { OwnerRecord } from "../core/owner-record.ts";
import { LIVE_IDS } from "./thread-store.ts";

/** A row on its way to D1 may still land: D1 ends a statement after 30 s. */
export const LANDS_WITHIN_MS = 60_000;
/** Appends of an hour reach the catalogue together: only the list of all threads is that much behind. */
const TOUCH_AFTER_MS = 60 * 60_000;
const LAST_RETRY_MS = 60 * 60_000;
/** A deleted thread that is still listed is worse than an old time. */
const LAST_RETRY_OF_REMOVAL_MS = 5 * 60_000;
const NAME = "catalogue of threads";
const REMOVAL = "removal from the catalogue of threads";
/** Threads that one drain writes. */
const SLICE = 100;

/** `row`: null if the thread is gone. */
type Pending = { id: string; version: number; row: ThreadRow | null };
/** The tenant's catalogue, and the user's state that it follows. */
export type CatalogueParts = {
  catalogue: ThreadCatalogue;
  owner: Pick<OwnerRecord, "id" | "uncatalogued" | "catalogued" | "catalogueAgain" | "putOff" | "nextDue">;
  erasureEpoch: Pick<ErasureEpoch, "current" | "lastErasure" | "reach">;
  alarms: Pick<AlarmScheduler, "scheduleBy">;
  now: () => number;
};
type CatalogueWriterDependencies = CatalogueParts & {
  sql: Sql;
  failures: Failures;
  /** The thread's row as it is now, or null if it is gone. */
  rowOf: (threadId: string) => ThreadRow | null;
};

/**
 * Keeps the catalogue of threads in D1 like the threads. What changes is noted in the transaction of the change, so
 * that a crash or an outage only delays the catalogue; what is written is the state of the moment, never a difference.
 * Owns the SQL of `catalogue_changes` and of `catalogue_attempts`: writes whose outcome nobody knows, as D1 has not answered, or
 * the object died while it waited. Such a write may bring back the row of a thread that was erased meanwhile.
 */
export class CatalogueWriter {
  /** Writes of the catalogue go one after another: an older state must not reach D1 after a newer one. */
  readonly inTurn = serialQueue();
  readonly #deps: CatalogueWriterDependencies;
  #draining = false;

  constructor(deps: CatalogueWriterDependencies) {
    this.#deps = deps;
  }

  /** The thread began, changed or went. */
  enqueue(threadId: string, dueAt = this.#deps.now()): void {
    this.#enqueue(part`SELECT ${threadId} AS id`, dueAt);
  }

  /** D1 may have lost the row of any thread: each that is not deleted is written once more. */
  enqueueAll(): void {
    this.#enqueue(raw(LIVE_IDS), this.#deps.now());
  }

  #enqueue(ids: SqlPart, dueAt: number): void {
    this.#deps.sql.run`
      INSERT INTO catalogue_changes (thread_id, due_at) SELECT id, ${dueAt} FROM (${ids}) WHERE TRUE
      ON CONFLICT (thread_id) DO UPDATE SET due_at = excluded.due_at, version = version + 1`;
  }

  /**
   * Messages were added or deleted: due within an hour, and no write of its own while one is due and not under way.
   * Returns when it is due at the latest, so that an append need not look for the first of all.
   */
  enqueueLater(threadId: string): number {
    const dueAt = this.#deps.now() + TOUCH_AFTER_MS;
    this.#deps.sql.run`
      INSERT INTO catalogue_changes (thread_id, due_at) VALUES (${threadId}, ${dueAt})
      ON CONFLICT (thread_id) DO UPDATE SET version = version + 1 WHERE ${this.#draining ? 1 : 0}`;
    return dueAt;
  }

  /** True if a change of the thread is still to be written. */
  isPending(threadId: string): boolean {
    return this.#deps.sql.has`SELECT 1 FROM catalogue_changes WHERE thread_id = ${threadId}`;
  }

  /** Writes what is due, this thread first. What D1 does not take stays due for the alarm: no thread fails for it. */
  drain(first = ""): Promise<void> {
    return this.inTurn(() => this.#drain(first));
  }

  nextDue(): number | null {
    const { sql, owner } = this.#deps;
    return earliest(sql.value<number | null>`SELECT MIN(due_at) FROM catalogue_changes`, owner.nextDue());
  }

  /** D1 took a write. If it was away, nothing waits for the end of a long pause. */
  succeeded(): void {
    const { sql, failures, alarms, now } = this.#deps;
    const failed = [NAME, REMOVAL].filter((name) => failures.succeeded(name));
    if (failed.length === 0) return;
    sql.run`UPDATE catalogue_changes SET due_at = ${now()} WHERE due_at > ${now()}`;
    alarms.scheduleBy(this.nextDue());
  }

  /** Notes that a write of these threads may land from now on: before it begins, as the object may die. Returns its id. */
  noteAttempt(threadIds: readonly string[]): string {
    const { sql, now } = this.#deps;
    const id = crypto.randomUUID();
    this.#pruneAttempts();
    sql.run`
      INSERT INTO catalogue_attempts (id, lands_until, threads)
      VALUES (${id}, ${now() + LANDS_WITHIN_MS}, ${JSON.stringify(threadIds)})`;
    return id;
  }

  /** The time up to which a row of the thread may land; 0 if none may, and then no attempt names the thread. */
  landsUntil(threadId: string): number {
    this.#pruneAttempts();
    return this.#deps.sql.value`
      SELECT COALESCE(MAX(lands_until), 0) FROM catalogue_attempts
      WHERE EXISTS (SELECT 1 FROM json_each(threads) WHERE value = ${threadId})`;
  }

  #pruneAttempts(): void {
    const { sql, now } = this.#deps;
    sql.run`DELETE FROM catalogue_attempts WHERE lands_until <= ${now()}`;
  }

  async #drain(first: string): Promise<void> {
    const { sql, owner, erasureEpoch, rowOf, now } = this.#deps;
    const due = sql.rows<{ id: string; version: number }>`
      SELECT thread_id AS id, version FROM catalogue_changes WHERE due_at <= ${now()}
      ORDER BY thread_id = ${first} DESC, due_at LIMIT ${SLICE}`;
    // With other rows it goes at once: it is no write of its own then.
    const user = owner.uncatalogued(due.length > 0 ? Infinity : now());
    if (due.length === 0 && user === null) return;
    const { current: epoch } = erasureEpoch;
    const changes = due.map(({ id, version }): Pending => ({ id, version, row: rowOf(id) }));
    const put = changes.flatMap(({ row }) => row ?? []);
    const remove = changes.flatMap(({ id, row }) => (row === null ? id : []));
    let again = false;
    this.#draining = true;
    try {
      await this.#apply({ put, remove, epoch, ...(user && { user }) });
      // After an erasure, a row with the same id may stand for a new change.
      if (erasureEpoch.current !== epoch) return;
      // A change that came meanwhile has another version, and stays.
      for (const { id, version } of changes)
        sql.run`DELETE FROM catalogue_changes WHERE thread_id = ${id} AND version = ${version}`;
      if (user !== null) owner.catalogued();
      this.succeeded();
    } catch (error) {
      console.error({ message: "the catalogue of threads was not written", error: String(error) });
      if (error instanceof ErasedWrite) erasureEpoch.reach(error);
      // D1 takes it in the epoch that it knows.
      if (erasureEpoch.current === epoch) this.#putOff(changes);
      else if (error instanceof ErasedWrite) again = true;
    } finally {
      this.#draining = false;
    }
    if (again) await this.#drain(first);
  }

  /** An attempt is known once D1 has answered. A removal needs none: it brings no row back. */
  async #apply(changes: Parameters<ThreadCatalogue["apply"]>[0]): Promise<void> {
    const { sql, catalogue } = this.#deps;
    const attempt = changes.put.length === 0 ? null : this.noteAttempt(changes.put.map(({ id }) => id));
    const forget = () => attempt && sql.run`DELETE FROM catalogue_attempts WHERE id = ${attempt}`;
    try {
      await catalogue.apply(changes);
      forget();
    } catch (error) {
      if (error instanceof ErasedWrite) forget();
      throw error;
    }
  }

  #putOff(changes: readonly Pending[]): void {
    const { sql, failures, owner } = this.#deps;
    const now = this.#deps.now();
    const later = failures.failed(NAME, { now, last: LAST_RETRY_MS });
    const removes = changes.some(({ row }) => row === null);
    const soon = removes ? failures.failed(REMOVAL, { now, last: LAST_RETRY_OF_REMOVAL_MS }) : later;
    owner.putOff(later);
    for (const { id, row } of changes)
      sql.run`UPDATE catalogue_changes SET due_at = ${row === null ? soon : later} WHERE thread_id = ${id}`;
  }
}
