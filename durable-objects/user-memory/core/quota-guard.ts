import { type ErrorCode, fail, type Failure, type Result } from "../../../src/domain/errors.ts";
import type { Quotas } from "../../../src/platform/quotas.ts";
import type { FreePages } from "./free-pages.ts";

/** Keeps count of what quotas bound, in the transaction of each change: to count a store's rows would read them all. */
export const tallySchema = `
  CREATE TABLE tallies (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO tallies (name, n) VALUES ('entries', 0);
  INSERT INTO tallies (name, n) VALUES ('memories', 0);
  CREATE TRIGGER entry_came AFTER INSERT ON entries BEGIN
    UPDATE tallies SET n = n + 1 WHERE name = 'entries';
  END;
  CREATE TRIGGER entry_went AFTER DELETE ON entries BEGIN
    UPDATE tallies SET n = n - 1 WHERE name = 'entries';
  END;
  -- A memory is there with its first version, and gone with its last.
  CREATE TRIGGER memory_came AFTER INSERT ON memories
  WHEN NOT EXISTS (SELECT 1 FROM memories WHERE id = NEW.id AND version <> NEW.version) BEGIN
    UPDATE tallies SET n = n + 1 WHERE name = 'memories';
  END;
  CREATE TRIGGER memory_went AFTER DELETE ON memories
  WHEN NOT EXISTS (SELECT 1 FROM memories WHERE id = OLD.id) BEGIN
    UPDATE tallies SET n = n - 1 WHERE name = 'memories';
  END;
`;

type Kind = keyof Quotas;
const CODES = {
  entries: "quota_entries",
  memories: "quota_memories",
  threads: "quota_threads",
  bytes: "quota_bytes",
} as const satisfies Record<Kind, ErrorCode>;

/**
 * Refuses what would make a user hold more than the deployment lets one hold, or the object store more than it can. What is over a quota that was lowered stays,
 * and can be changed and deleted; only what makes it more is refused.
 */
export class QuotaGuard {
  readonly #sql: SqlStorage;
  readonly #quotas: Quotas;
  readonly #object: { readonly storageBytes: number };
  readonly #pages: Pick<FreePages, "bytes">;

  constructor(
    sql: SqlStorage,
    bounds: { quotas: Quotas; readonly storageBytes: number },
    pages: Pick<FreePages, "bytes">,
  ) {
    this.#sql = sql;
    this.#pages = pages;
    this.#quotas = bounds.quotas;
    this.#object = bounds;
  }

  /** Why nothing can be added, whatever the quotas say, or null. The room that is left is for deletes. */
  refusesGrowth(): Failure | null {
    const most = this.#object.storageBytes;
    // Zeros are looked for only where they matter: every write asks.
    return this.#sql.databaseSize < most || this.#held("bytes") < most ? null : fail("storage_full");
  }

  /** Whether any of these is bounded. */
  bounds(...kinds: readonly Kind[]): boolean {
    return kinds.some((kind) => this.#quotas[kind] !== null);
  }

  /** Acts, inside a transaction that a failure undoes; a failure if there is more of a kind then than there may be. */
  growing<T>(kinds: readonly Kind[], act: () => Result<T>): Result<T> {
    const full = this.refusesGrowth();
    if (full !== null) return full;
    const bounded = kinds.filter((kind) => this.#quotas[kind] !== null);
    const before = bounded.map((kind) => this.#held(kind));
    const result = act();
    if (!result.ok) return result;
    for (const [i, kind] of bounded.entries()) {
      const exceeded = this.#exceeded(kind, { before: before[i] ?? 0, after: this.#held(kind) });
      if (exceeded !== null) return exceeded;
    }
    return result;
  }

  /** Why no memories can be added, so many more than go, or null. Bytes are those that are there already. */
  refusesMemories(more: number): Failure | null {
    const full = this.refusesGrowth();
    if (full !== null) return full;
    const bytes = this.#quotas.bytes;
    if (bytes !== null && this.#held("bytes") >= bytes) return this.#failure("bytes", bytes);
    if (this.#quotas.memories === null) return null;
    const before = this.#held("memories");
    return this.#exceeded("memories", { before, after: before + more });
  }

  #exceeded(kind: Kind, { before, after }: { before: number; after: number }): Failure | null {
    const quota = this.#quotas[kind];
    return quota !== null && after > quota && after > before ? this.#failure(kind, quota) : null;
  }

  #failure(kind: Kind, quota: number): Failure {
    const most = quota.toLocaleString("en-US");
    return fail(CODES[kind], {
      message: `This user may hold ${most} ${kind} and no more here. Delete what is not needed, or have the quota raised.`,
    });
  }

  #held(kind: Kind): number {
    // Pages in use, as SQLite counts them, but for those that an erasure overwrites: they are free again when it is done.
    if (kind === "bytes") return this.#sql.databaseSize - this.#pages.bytes;
    if (kind === "threads") return this.#threads();
    return this.#sql.exec<{ n: number }>("SELECT n FROM tallies WHERE name = ?", kind).one().n;
  }

  /** Read row by row, no further than one behind the quota: threads begin seldom. */
  #threads(): number {
    const most = (this.#quotas.threads ?? 0) + 1;
    return this.#sql
      .exec<{ n: number }>(
        "SELECT COUNT(*) AS n FROM (SELECT 1 FROM threads WHERE deleted = 0 LIMIT ?)",
        // One more tells more from as many.
        most + 1,
      )
      .one().n;
  }
}
