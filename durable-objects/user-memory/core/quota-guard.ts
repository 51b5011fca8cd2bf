import { type ErrorCode, fail, type Failure, type Result } from "../../../src/domain/errors.ts";
import type { Quotas } from "../../../src/platform/quotas.ts";
import type { FreePages } from "./free-pages.ts";

type Kind = keyof Quotas;
const CODES = {
  entries: "quota_entries",
  memories: "quota_memories",
  threads: "quota_threads",
  bytes: "quota_bytes",
} as const satisfies Record<Kind, ErrorCode>;

type QuotaDependencies = {
  sql: SqlStorage;
  /** The storage is full from `storageBytes` on, but for the room that deletes need. */
  bounds: { readonly quotas: Quotas; readonly storageBytes: number };
  pages: Pick<FreePages, "bytes">;
  threads: { count(): number };
  memories: { count(): number; clock: { lastVersion(): number } };
};

/**
 * Refuses writes that exceed a user's quota or the object's storage. After a quota is lowered, what exceeds it stays and can be
 * changed and deleted.
 */
export class QuotaGuard {
  readonly #deps: QuotaDependencies;

  constructor(deps: QuotaDependencies) {
    this.#deps = deps;
  }

  storageFailure(): Failure | null {
    const { sql, bounds } = this.#deps;
    const most = bounds.storageBytes;
    // Zeros are counted only if they matter, as every write checks this.
    return sql.databaseSize < most || this.#used("bytes") < most ? null : fail("storage_full");
  }

  bounds(...kinds: readonly Kind[]): boolean {
    return kinds.some((kind) => this.#quota(kind) !== null);
  }

  /** Measures the user's data. Counts memories and threads row by row. */
  usage(): Record<Kind, number> {
    return {
      bytes: this.#used("bytes"),
      memories: this.#used("memories"),
      threads: this.#used("threads"),
      entries: this.#used("entries"),
    };
  }

  /** Runs `act` inside a transaction that a failure rolls back. Fails if a quota is exceeded afterwards. */
  withinQuota<T>(kinds: readonly Kind[], act: () => Result<T>): Result<T> {
    const full = this.storageFailure();
    if (full !== null) return full;
    const before = kinds.filter((kind) => this.bounds(kind)).map((kind) => [kind, this.#used(kind)] as const);
    const result = act();
    if (!result.ok) return result;
    for (const [kind, used] of before) {
      const exceeded = this.#exceeded(kind, { before: used, after: this.#used(kind) });
      if (exceeded !== null) return exceeded;
    }
    return result;
  }

  /** A failure if another thread exceeds a quota. The bytes that it takes are checked with its write. */
  threadFailure(): Failure | null {
    const another = (kind: Kind): Failure | null => {
      const before = this.bounds(kind) ? this.#used(kind) : 0;
      return this.#exceeded(kind, { before, after: before + 1 });
    };
    return this.storageFailure() ?? another("threads") ?? another("bytes");
  }

  /** A failure if `more` memories exceed a quota. Checks the bytes in use before the write. */
  memoriesFailure(more: () => number): Failure | null {
    const full = this.storageFailure();
    if (full !== null) return full;
    const bytes = this.#quota("bytes");
    if (bytes !== null && this.#used("bytes") >= bytes) return this.#failure("bytes", bytes);
    const most = this.#quota("memories");
    if (most === null) return null;
    const added = more();
    // Counting reads all rows. Who has used fewer numbers of versions than the quota has fewer memories: those of corrected
    // and deleted versions are not used again.
    if (this.#deps.memories.clock.lastVersion() + added <= most) return null;
    const before = this.#used("memories");
    return this.#exceeded("memories", { before, after: before + added });
  }

  #exceeded(kind: Kind, { before, after }: { before: number; after: number }): Failure | null {
    const quota = this.#quota(kind);
    return quota !== null && after > quota && after > before ? this.#failure(kind, quota) : null;
  }

  #failure(kind: Kind, quota: number): Failure {
    const most = quota.toLocaleString("en-US");
    return fail(CODES[kind], {
      message: `The quota of this user is ${most} ${kind}. Delete some, or raise the quota.`,
    });
  }

  #quota(kind: Kind): number | null {
    return this.#deps.bounds.quotas[kind];
  }

  #used(kind: Kind): number {
    const { sql, pages, threads, memories } = this.#deps;
    // Without the zeros of an erasure, which frees them again.
    if (kind === "bytes") return sql.databaseSize - pages.bytes;
    // Threads begin seldom, so these are counted row by row.
    if (kind === "threads") return threads.count();
    if (kind === "memories") return memories.count();
    return sql.exec<{ n: number }>("SELECT n FROM entry_count").one().n;
  }
}
