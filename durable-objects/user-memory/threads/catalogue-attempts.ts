import { ErasedWrite } from "../../../src/platform/d1/write-errors.ts";

/** A row on its way to D1 may still land: D1 ends a statement after 30 s. */
export const LANDS_WITHIN_MS = 60_000;

/**
 * Writes of the catalogue whose outcome nobody knows: D1 has not answered, or the object died while it waited. Such a write
 * may bring back the row of a thread that was erased meanwhile. Owns the SQL of `catalogue_attempts`.
 */
export class CatalogueAttempts {
  readonly #deps: { sql: SqlStorage; now: () => number };

  constructor(deps: { sql: SqlStorage; now: () => number }) {
    this.#deps = deps;
  }

  /** Notes a write before it begins, since the object may die, and forgets it once D1 has answered. */
  async known<T>(threadIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const attempt = this.note(threadIds);
    try {
      const written = await write();
      this.#forget(attempt);
      return written;
    } catch (error) {
      if (error instanceof ErasedWrite) this.#forget(attempt);
      throw error;
    }
  }

  /** Notes that a write of these threads may land from now on. */
  note(threadIds: readonly string[]): string {
    const { sql, now } = this.#deps;
    const attempt = crypto.randomUUID();
    this.#prune();
    sql.exec(
      "INSERT INTO catalogue_attempts (id, lands_until, threads) VALUES (?, ?, ?)",
      attempt,
      now() + LANDS_WITHIN_MS,
      JSON.stringify(threadIds),
    );
    return attempt;
  }

  /** The time up to which a row of the thread may land; 0 if none may, and then nothing here names the thread. */
  landsUntil(threadId: string): number {
    this.#prune();
    return this.#deps.sql
      .exec<{ until: number }>(
        `SELECT COALESCE(MAX(lands_until), 0) AS until FROM catalogue_attempts
         WHERE EXISTS (SELECT 1 FROM json_each(threads) WHERE value = ?)`,
        threadId,
      )
      .one().until;
  }

  #prune(): void {
    this.#deps.sql.exec("DELETE FROM catalogue_attempts WHERE lands_until <= ?", this.#deps.now());
  }

  #forget(attempt: string): void {
    this.#deps.sql.exec("DELETE FROM catalogue_attempts WHERE id = ?", attempt);
  }
}
