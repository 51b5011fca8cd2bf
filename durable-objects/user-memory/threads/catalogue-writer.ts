import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import { ErasedWrite } from "../../../src/platform/d1/write-errors.ts";
import type { ThreadCatalogue } from "../../../src/platform/d1/thread-catalogue.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { Failures } from "../../storage/failures.ts";
import { serialQueue } from "../../storage/serial-queue.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { OwnerRecord } from "../core/owner-record.ts";
import type { CatalogueAttempts } from "./catalogue-attempts.ts";
import { LIVE_IDS } from "./thread-store.ts";

/** Appends of an hour reach the catalogue together: only the list of all threads is that much behind. */
const TOUCH_AFTER_MS = 60 * 60_000;
const LAST_RETRY_MS = 60 * 60_000;
/** A deleted thread that is still listed is worse than an old time. */
const LAST_RETRY_OF_REMOVAL_MS = 5 * 60_000;
const NAME = "catalogue of threads";
const REMOVAL = "removal from the catalogue of threads";
/** Threads that one drain writes. */
const SLICE = 100;

type Change = { thread_id: string; due_at: number; version: number };
type CatalogueWriterDependencies = {
  sql: SqlStorage;
  catalogue: ThreadCatalogue;
  /** The thread's row as it is now, or null if it is gone. */
  rowOf: (threadId: string) => ThreadRow | null;
  erasureEpoch: Pick<ErasureEpoch, "current" | "reach">;
  owner: Pick<OwnerRecord, "uncatalogued" | "catalogued" | "putOff" | "nextDue">;
  attempts: Pick<CatalogueAttempts, "known">;
  failures: Failures;
  alarms: Pick<AlarmScheduler, "scheduleBy">;
  now: () => number;
};

/**
 * Keeps the catalogue of threads in D1 like the threads. What changes is noted in the transaction of the change, so
 * that a crash or an outage only delays the catalogue; what is written is the state of the moment, never a difference.
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
    this.#deps.sql.exec(
      `INSERT INTO catalogue_changes (thread_id, due_at) VALUES (?1, ?2)
       ON CONFLICT (thread_id) DO UPDATE SET due_at = ?2, version = version + 1`,
      threadId,
      dueAt,
    );
  }

  /** D1 may have lost the row of any thread: each that is not deleted is written once more. */
  enqueueAll(): void {
    this.#deps.sql.exec(
      `INSERT INTO catalogue_changes (thread_id, due_at) SELECT id, ?1 FROM (${LIVE_IDS}) WHERE TRUE
       ON CONFLICT (thread_id) DO UPDATE SET due_at = ?1, version = version + 1`,
      this.#deps.now(),
    );
  }

  /**
   * Messages were added or deleted: due within an hour, and no write of its own while one is due and not under way.
   * Returns when it is due at the latest, so that an append need not look for the first of all.
   */
  enqueueLater(threadId: string): number {
    const dueAt = this.#deps.now() + TOUCH_AFTER_MS;
    this.#deps.sql.exec(
      `INSERT INTO catalogue_changes (thread_id, due_at) VALUES (?1, ?2)
       ON CONFLICT (thread_id) DO UPDATE SET version = version + 1 WHERE ?3`,
      threadId,
      dueAt,
      this.#draining ? 1 : 0,
    );
    return dueAt;
  }

  /** True if a change of the thread is still to be written. */
  isPending(threadId: string): boolean {
    const change = "SELECT 1 FROM catalogue_changes WHERE thread_id = ?";
    return this.#deps.sql.exec(change, threadId).toArray().length > 0;
  }

  /** Writes what is due, this thread first. What D1 does not take stays due for the alarm: no thread fails for it. */
  drain(first = ""): Promise<void> {
    return this.inTurn(() => this.#drain(first));
  }

  nextDue(): number | null {
    const { first } = this.#deps.sql
      .exec<{ first: number | null }>("SELECT MIN(due_at) AS first FROM catalogue_changes")
      .one();
    const user = this.#deps.owner.nextDue();
    return first === null || user === null ? (first ?? user) : Math.min(first, user);
  }

  /** D1 took a write. If it was away, nothing waits for the end of a long pause. */
  succeeded(): void {
    const { sql, failures, alarms, now } = this.#deps;
    const failed = [NAME, REMOVAL].filter((name) => failures.succeeded(name));
    if (failed.length === 0) return;
    sql.exec("UPDATE catalogue_changes SET due_at = ?1 WHERE due_at > ?1", now());
    alarms.scheduleBy(this.nextDue());
  }

  async #drain(first: string): Promise<void> {
    const { sql, catalogue, attempts, erasureEpoch, rowOf, now } = this.#deps;
    const due = sql
      .exec<Change>(
        "SELECT * FROM catalogue_changes WHERE due_at <= ? ORDER BY thread_id = ? DESC, due_at LIMIT ?",
        now(),
        first,
        SLICE,
      )
      .toArray();
    // With other rows it goes at once: it is no write of its own then.
    const user = this.#deps.owner.uncatalogued(due.length > 0 ? Infinity : now());
    if (due.length === 0 && user === null) return;
    const { current: epoch } = erasureEpoch;
    const rows = due.map(({ thread_id: id }) => ({ id, row: rowOf(id) }));
    const put = rows.flatMap(({ row }) => (row === null ? [] : [row]));
    const remove = rows.filter(({ row }) => row === null).map(({ id }) => id);
    let again = false;
    this.#draining = true;
    try {
      const write = () => catalogue.apply({ put, remove, epoch, ...(user && { user }) });
      await (put.length === 0
        ? write()
        : attempts.known(
            put.map(({ id }) => id),
            write,
          ));
      // After an erasure, a row with the same id may stand for a new change.
      if (erasureEpoch.current !== epoch) return;
      this.#written(due);
      if (user !== null) this.#deps.owner.catalogued();
      this.succeeded();
    } catch (error) {
      console.error({ message: "the catalogue of threads was not written", error: String(error) });
      if (error instanceof ErasedWrite) erasureEpoch.reach(error);
      // D1 takes it in the epoch that it knows.
      if (erasureEpoch.current === epoch) this.#putOff(due, new Set(remove));
      else if (error instanceof ErasedWrite) again = true;
    } finally {
      this.#draining = false;
    }
    if (again) await this.#drain(first);
  }

  /** A change that came meanwhile has another version, and stays. */
  #written(changes: readonly Change[]): void {
    for (const { thread_id: id, version } of changes)
      this.#deps.sql.exec("DELETE FROM catalogue_changes WHERE thread_id = ? AND version = ?", id, version);
  }

  #putOff(changes: readonly Change[], removed: ReadonlySet<string>): void {
    const { sql, failures, owner } = this.#deps;
    const now = this.#deps.now();
    const later = failures.failed(NAME, { now, last: LAST_RETRY_MS });
    const soon =
      removed.size === 0 ? later : failures.failed(REMOVAL, { now, last: LAST_RETRY_OF_REMOVAL_MS });
    owner.putOff(later);
    for (const { thread_id: id } of changes)
      sql.exec(
        "UPDATE catalogue_changes SET due_at = ? WHERE thread_id = ?",
        removed.has(id) ? soon : later,
        id,
      );
  }
}
