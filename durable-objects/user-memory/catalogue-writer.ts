import type { ThreadRow } from "../../src/d1/tables.ts";
import type { ThreadCatalogue } from "../../src/d1/thread-catalogue.ts";

/** Appends of a running conversation reach the catalogue together. */
const TOUCH_AFTER_MS = 60_000;
const RETRY_AFTER_MS = 30_000;
/** Threads that one drain writes. */
const SLICE = 100;

type Parts = {
  sql: SqlStorage;
  catalogue: ThreadCatalogue;
  /** The thread's row as it is now, or null if it is gone. */
  rowOf: (threadId: string) => ThreadRow | null;
  now: () => number;
};

/**
 * Keeps the catalogue of threads in D1 like the threads. What changes is noted in the transaction of the change, so
 * that a crash or an outage only delays the catalogue; what is written is the state of the moment, never a difference.
 */
export class CatalogueWriter {
  readonly #parts: Parts;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The thread began, changed or went: due at once. */
  changed(threadId: string): void {
    this.#parts.sql.exec(
      "INSERT OR REPLACE INTO catalogue_changes (thread_id, due_at) VALUES (?, ?)",
      threadId,
      this.#parts.now(),
    );
  }

  /** Messages were appended: due within a minute, and no write of its own while one is due. */
  touched(threadId: string): void {
    this.#parts.sql.exec(
      "INSERT OR IGNORE INTO catalogue_changes (thread_id, due_at) VALUES (?, ?)",
      threadId,
      this.#parts.now() + TOUCH_AFTER_MS,
    );
  }

  /** Writes what is due. What D1 does not take stays due for the alarm: a thread never fails for its catalogue. */
  drain(): Promise<void> {
    // One after another: an older state must not reach D1 after a newer one.
    const drained = this.#turn.then(() => this.#drain());
    this.#turn = drained.catch(() => null);
    return drained;
  }

  nextDue(): number | null {
    return this.#parts.sql
      .exec<{ first: number | null }>("SELECT MIN(due_at) AS first FROM catalogue_changes")
      .one().first;
  }

  async #drain(): Promise<void> {
    const { sql, catalogue, rowOf, now } = this.#parts;
    const due = sql
      .exec<{ n: number; thread_id: string }>(
        "SELECT n, thread_id FROM catalogue_changes WHERE due_at <= ? ORDER BY n LIMIT ?",
        now(),
        SLICE,
      )
      .toArray();
    if (due.length === 0) return;
    const rows = due.map(({ thread_id: id }) => ({ id, row: rowOf(id) }));
    const put = rows.flatMap(({ row }) => (row === null ? [] : [row]));
    const remove = rows.filter(({ row }) => row === null).map(({ id }) => id);
    const numbers = JSON.stringify(due.map(({ n }) => n));
    try {
      await catalogue.apply({ put, remove });
      // A change that came meanwhile has another number, and stays.
      sql.exec("DELETE FROM catalogue_changes WHERE n IN (SELECT value FROM json_each(?))", numbers);
    } catch (error) {
      console.error({ message: "the catalogue of threads was not written", error: String(error) });
      const later = now() + RETRY_AFTER_MS;
      sql.exec(
        "UPDATE catalogue_changes SET due_at = ? WHERE n IN (SELECT value FROM json_each(?))",
        later,
        numbers,
      );
    }
  }
}
