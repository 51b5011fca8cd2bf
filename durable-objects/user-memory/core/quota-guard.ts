import { type ErrorCode, fail, type Failure, type Result } from "../../../src/domain/errors.ts";
import type { Quotas } from "../../../src/platform/quotas.ts";
import type { FreePages } from "./free-pages.ts";

/** For `schema.ts`, whose triggers count: to count a store's rows would read them all. */
export const tallySchema = `
  CREATE TABLE tallies (name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO tallies (name, n) VALUES ('entries', 0);
  INSERT INTO tallies (name, n) VALUES ('memories', 0);
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
  readonly #threads: { count(most: number): number };

  constructor(
    sql: SqlStorage,
    bounds: { quotas: Quotas; readonly storageBytes: number },
    { pages, threads }: { pages: Pick<FreePages, "bytes">; threads: { count(most: number): number } },
  ) {
    this.#sql = sql;
    this.#pages = pages;
    this.#threads = threads;
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
    // No further than two behind the quota, to know whether there are more than before: threads begin seldom.
    if (kind === "threads") return this.#threads.count((this.#quotas.threads ?? 0) + 2);
    return this.#sql.exec<{ n: number }>("SELECT n FROM tallies WHERE name = ?", kind).one().n;
  }
}
