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

type Counted = { count(): number };

/**
 * Refuses writes that exceed a user's quota or the object's storage. After a quota is lowered, what exceeds it stays and can be
 * changed and deleted.
 */
export class QuotaGuard {
  readonly #sql: SqlStorage;
  readonly #quotas: Quotas;
  readonly #object: { readonly storageBytes: number };
  readonly #pages: Pick<FreePages, "bytes">;
  readonly #threads: Counted;
  readonly #memories: Counted & { clock: { lastVersion(): number } };

  constructor(
    sql: SqlStorage,
    bounds: { quotas: Quotas; readonly storageBytes: number },
    {
      pages,
      threads,
      memories,
    }: {
      pages: Pick<FreePages, "bytes">;
      threads: Counted;
      memories: Counted & { clock: { lastVersion(): number } };
    },
  ) {
    this.#sql = sql;
    this.#pages = pages;
    this.#threads = threads;
    this.#memories = memories;
    this.#quotas = bounds.quotas;
    this.#object = bounds;
  }

  /** A failure if the storage is full, but for the room that deletes need. */
  storageFailure(): Failure | null {
    const most = this.#object.storageBytes;
    // Zeros are counted only if they matter, as every write checks this.
    return this.#sql.databaseSize < most || this.#held("bytes") < most ? null : fail("storage_full");
  }

  bounds(...kinds: readonly Kind[]): boolean {
    return kinds.some((kind) => this.#quotas[kind] !== null);
  }

  /** Measures the user's data. Counts memories and threads row by row. */
  held(): Record<Kind, number> {
    const [bytes, memories, threads, entries] = (["bytes", "memories", "threads", "entries"] as const).map(
      (kind) => this.#held(kind),
    ) as [number, number, number, number];
    return { bytes, memories, threads, entries };
  }

  /** Runs `act` inside a transaction that a failure rolls back. Fails if a quota is exceeded afterwards. */
  withinQuota<T>(kinds: readonly Kind[], act: () => Result<T>): Result<T> {
    const full = this.storageFailure();
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

  /** A failure if another thread exceeds a quota. The bytes that it takes are checked with its write. */
  threadFailure(): Failure | null {
    const full = this.storageFailure();
    if (full !== null) return full;
    for (const kind of ["threads", "bytes"] as const) {
      const before = this.#quotas[kind] === null ? 0 : this.#held(kind);
      const exceeded = this.#exceeded(kind, { before, after: before + 1 });
      if (exceeded !== null) return exceeded;
    }
    return null;
  }

  /** A failure if `more` memories exceed a quota. Checks the bytes in use before the write. */
  memoriesFailure(more: () => number): Failure | null {
    const full = this.storageFailure();
    if (full !== null) return full;
    const bytes = this.#quotas.bytes;
    if (bytes !== null && this.#held("bytes") >= bytes) return this.#failure("bytes", bytes);
    const most = this.#quotas.memories;
    if (most === null) return null;
    const added = more();
    // Counting reads all rows. Who has used fewer numbers of versions than the quota has fewer memories: those of corrected
    // and deleted versions are not used again.
    if (this.#memories.clock.lastVersion() + added <= most) return null;
    const before = this.#held("memories");
    return this.#exceeded("memories", { before, after: before + added });
  }

  #exceeded(kind: Kind, { before, after }: { before: number; after: number }): Failure | null {
    const quota = this.#quotas[kind];
    return quota !== null && after > quota && after > before ? this.#failure(kind, quota) : null;
  }

  #failure(kind: Kind, quota: number): Failure {
    const most = quota.toLocaleString("en-US");
    return fail(CODES[kind], {
      message: `The quota of this user is ${most} ${kind}. Delete some, or raise the quota.`,
    });
  }

  #held(kind: Kind): number {
    // Without the zeros of an erasure, which frees them again.
    if (kind === "bytes") return this.#sql.databaseSize - this.#pages.bytes;
    // Threads begin seldom, so these are counted row by row.
    if (kind === "threads") return this.#threads.count();
    if (kind === "memories") return this.#memories.count();
    return this.#sql.exec<{ n: number }>("SELECT n FROM entry_count").one().n;
  }
}
