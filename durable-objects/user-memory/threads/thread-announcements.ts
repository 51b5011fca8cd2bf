import { ErasedWrite } from "../../../src/platform/d1/write-errors.ts";
import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import { type ErrorCode, fail, type Result } from "../../../src/domain/errors.ts";
import type { UnlistedThreads } from "../../../src/platform/unlisted-threads.ts";
import { isFull } from "../../../src/platform/storage-failure.ts";
import type { Failures } from "../../storage/failures.ts";
import type { Sql } from "../../storage/sql.ts";
import { type CatalogueParts, type CatalogueWriter, LANDS_WITHIN_MS } from "./catalogue-writer.ts";

/** Announcements that one alarm settles. */
const SLICE = 100;
/** Shorter than for other changes: a mark fails the list of all threads. */
const LAST_RETRY_MS = 5 * 60_000;
const NAME = "announced threads";

type ThreadAnnouncementsDependencies = CatalogueParts & {
  sql: Sql;
  failures: Failures;
  unlisted: UnlistedThreads;
  writer: CatalogueWriter;
};
type Announced = { id: string; marked: number };
/** A thread's row, and the user's last erasure before it was announced. */
type Announcement = { row: ThreadRow; after: number };
type Gathering = { announcements: Announcement[]; done: Promise<ErrorCode | null> };

/**
 * Lists each thread in the catalogue before it begins, since servers treat an unlisted thread as nobody's. While D1 is
 * away, the thread is marked as unlisted, and the list of all threads checks the marks first. While D1 is full, no thread
 * begins. Owns the SQL of `announced_threads`.
 */
export class ThreadAnnouncements {
  readonly #deps: ThreadAnnouncementsDependencies;
  /** Between their announcement and their beginning: not to be settled. */
  readonly #underWay = new Set<string>();
  #gathering: Gathering | null = null;

  constructor(deps: ThreadAnnouncementsDependencies) {
    this.#deps = deps;
  }

  /** Announces threads, and then lets them begin. `begin` calls `confirm` for each, in its transaction. */
  async announceAndBegin<T>(rows: readonly ThreadRow[], begin: () => Result<T>): Promise<Result<T>> {
    const { erasureEpoch } = this.#deps;
    const [after, ids] = [erasureEpoch.lastErasure, rows.map(({ id }) => id)];
    this.#note(ids);
    for (const id of ids) this.#underWay.add(id);
    try {
      const failure = await this.#announced(rows.map((row) => ({ row, after })));
      if (failure !== null) return fail(failure);
      // Its row is of an earlier time, and the catalogue shows it no more.
      if (erasureEpoch.lastErasure !== after) return fail("erased_meanwhile");
      return begin();
    } finally {
      for (const id of ids) this.#underWay.delete(id);
    }
  }

  /** Confirms that an announced thread began; `same`: as announced. Call it in the transaction that begins the thread. */
  confirm(id: string, same: boolean): void {
    const { sql, writer } = this.#deps;
    if (this.isMarked(id)) writer.enqueue(id, this.#later());
    else {
      sql.run`DELETE FROM announced_threads WHERE thread_id = ${id}`;
      if (!same) writer.enqueue(id);
    }
  }

  /** True for a thread that the catalogue lacks, and that is marked as unlisted. */
  isMarked(id: string): boolean {
    return this.#deps.sql.has`SELECT 1 FROM announced_threads WHERE thread_id = ${id} AND marked = 1`;
  }

  /** Brings the catalogue up to date, and takes back marks and rows that are not right any more. For the alarm. */
  async settle(): Promise<void> {
    const { sql, writer, now } = this.#deps;
    const due = sql.rows<Announced>`
      SELECT thread_id AS id, marked FROM announced_threads WHERE due_at <= ${now()} ORDER BY due_at LIMIT ${SLICE}`;
    const announced = due.filter(({ id }) => !this.#underWay.has(id));
    for (const { id } of announced) writer.enqueue(id);
    await writer.drain();
    // In its turn: what is announced anew must not lose its mark.
    if (announced.length > 0) await writer.inTurn(() => this.#takeBack(announced));
  }

  nextDue(): number | null {
    return this.#deps.sql.value`SELECT MIN(due_at) FROM announced_threads`;
  }

  async #takeBack(settled: readonly Announced[]): Promise<void> {
    const { sql, unlisted, writer } = this.#deps;
    const due = settled.filter(({ id }) => !this.#underWay.has(id));
    const pending = due.filter(({ id }) => writer.isPending(id));
    const written = due.filter((one) => !pending.includes(one));
    // If some were written, the others are tried again at once.
    if (written.length === 0) this.#dueLater(due);
    try {
      await unlisted.unmark(markedOf(written));
      for (const { id } of written) sql.run`DELETE FROM announced_threads WHERE thread_id = ${id}`;
      if (written.length > 0) this.#deps.failures.succeeded(NAME);
      // A mark does not hold for ever.
      await unlisted.mark(markedOf(pending));
    } catch (error) {
      this.#dueLater(due);
      console.error({ message: "the marks of unlisted threads were not changed", error: String(error) });
    }
  }

  /** Rows that arrive while the catalogue is being written go in one batch. */
  #announced(announcements: readonly Announcement[]): Promise<ErrorCode | null> {
    if (this.#gathering !== null) {
      this.#gathering.announcements.push(...announcements);
      return this.#gathering.done;
    }
    const all = [...announcements];
    const done = this.#deps.writer.inTurn(() => {
      this.#gathering = null;
      return this.#announce(all);
    });
    this.#gathering = { announcements: all, done };
    return done;
  }

  /** Null if the threads may begin: their rows are in the catalogue, or they are marked. */
  async #announce(announcements: readonly Announcement[]): Promise<ErrorCode | null> {
    try {
      await this.#put(announcements);
      return null;
    } catch (error) {
      console.error({ message: "the catalogue of threads was not written", error: String(error) });
      // A mark would fail the list of all threads for as long as D1 is full.
      if (isFull(error)) return "storage_full";
    }
    const { sql, unlisted, writer } = this.#deps;
    const ids = announcements.map(({ row }) => row.id);
    writer.noteAttempt(ids);
    for (const id of ids) sql.run`UPDATE announced_threads SET marked = 1 WHERE thread_id = ${id}`;
    this.#dueLater(ids.map((id) => ({ id })));
    try {
      await unlisted.mark(ids);
      return null;
    } catch (error) {
      console.error({ message: "threads could not be marked as unlisted", error: String(error) });
      return "storage_unavailable";
    }
  }

  /** Puts the rows into the catalogue, in the epoch that D1 knows of if that is later than the object's. */
  async #put(announcements: readonly Announcement[]): Promise<void> {
    const { sql, catalogue, writer, erasureEpoch, owner, alarms, now } = this.#deps;
    const { current: epoch, lastErasure } = erasureEpoch;
    // The threads announced before an erasure do not begin any more.
    const put = announcements
      .filter(({ after }) => after === lastErasure)
      .map(({ row }) => ({ ...row, epoch }));
    if (put.length === 0) return;
    const user = owner.uncatalogued(Infinity);
    try {
      await catalogue.apply({ put, remove: [], epoch, ...(user && { user }) });
    } catch (error) {
      if (!(error instanceof ErasedWrite)) throw error;
      erasureEpoch.reach(error);
      return this.#put(announcements);
    }
    if (user !== null && erasureEpoch.current === epoch) owner.catalogued();
    writer.succeeded();
    // D1 is back: all marked threads are settled at once.
    this.#deps.failures.succeeded(NAME);
    if (sql.run`UPDATE announced_threads SET due_at = ${now()} WHERE marked = 1` > 0)
      alarms.scheduleBy(now());
  }

  #note(ids: readonly string[]): void {
    const { sql, alarms, writer, now } = this.#deps;
    const dueAt = now() + LANDS_WITHIN_MS;
    // An earlier announcement of this id, whose outcome nobody knows: the object died, or D1 did not answer.
    const again = ids.filter((id) => sql.has`SELECT 1 FROM announced_threads WHERE thread_id = ${id}`);
    if (again.length > 0) writer.noteAttempt(again);
    for (const id of ids)
      sql.run`
        INSERT INTO announced_threads (thread_id, due_at) VALUES (${id}, ${dueAt})
        ON CONFLICT (thread_id) DO UPDATE SET due_at = excluded.due_at`;
    alarms.scheduleBy(dueAt);
  }

  #dueLater(announced: readonly Pick<Announced, "id">[]): void {
    const { sql, alarms } = this.#deps;
    const later = this.#later();
    for (const { id } of announced)
      sql.run`UPDATE announced_threads SET due_at = ${later} WHERE thread_id = ${id}`;
    alarms.scheduleBy(later);
  }

  #later(): number {
    return this.#deps.failures.failed(NAME, { now: this.#deps.now(), last: LAST_RETRY_MS });
  }
}

const markedOf = (announced: readonly Announced[]): string[] =>
  announced.filter(({ marked }) => marked === 1).map(({ id }) => id);
