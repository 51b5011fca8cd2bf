import { and } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Reviewing, ReviewPlace } from "../../../src/contract/user-memory.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import { expireIn } from "../../../src/domain/memory/corrections.ts";
import { currentOf } from "../../../src/domain/memory/versions.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { MemoryStatus } from "../../../src/domain/schema/memory-fields.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import { type AuditLog, writeEvent } from "../../../src/platform/d1/audit-log.ts";
import { filterConditions } from "../../../src/platform/d1/memory-filter.ts";
import { raw, SqlStore } from "../../storage/sql.ts";
import { toSqlCondition } from "../core/sql-condition.ts";
import type { IntentLog } from "./intent-log.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { MemoryTable } from "./memory-table.ts";

type DueMemoriesDependencies = {
  sql: SqlStorage;
  table: MemoryTable;
  log: Pick<IntentLog, "hasPendingFor">;
  auditLog: Pick<AuditLog, "add">;
  /** The longest wait of a memory, in milliseconds. */
  quarantineMs: number;
};

/** How long an expired memory is listed. */
const LISTED_MS = 24 * 60 * 60 * 1000;
/** Memories that one write expires: each is two rows of D1. */
const SLICE = 200;

/** Memories for review: index `memories_reviewed`. */
const REVIEWED = raw("status <> 'active' AND corrected_at IS NULL");
type Reviewed = Exclude<MemoryStatus, "active">;

/** Present and future versions with an expiry: index `memories_by_expiry`. */
const EXPIRING = raw("expires_at IS NOT NULL AND corrected_at IS NULL AND superseded_at IS NULL");

/**
 * Memories whose time comes: those with an expiry, and those that wait for review. One that waits in quarantine for too long
 * expires, is listed for a day, and is then deleted.
 */
export class DueMemories extends SqlStore {
  readonly #deps: DueMemoriesDependencies;

  constructor(deps: DueMemoriesDependencies) {
    super(deps.sql);
    this.#deps = deps;
  }

  /** The rows of a write that expires the next memories in quarantine. */
  late(now: number): MemoryRow[] {
    const { table, quarantineMs } = this.#deps;
    const ids = this.#unchangedSince("quarantined", now - quarantineMs, SLICE);
    if (ids.length === 0) return [];
    const draft = new MemoryDraft(table, table.clock.next(now));
    for (const id of ids) {
      const row = currentOf(draft, id);
      if (row !== null) expireIn(draft, row);
    }
    return draft.write.put;
  }

  /** Ids of the memories to delete, at most `limit` of each kind: expired ones, and those that were listed for a day. */
  over(now: number, limit: number): string[] {
    const expired = this.sql.column<string>`
      SELECT id FROM memories WHERE ${EXPIRING} AND expires_at < ${now} ORDER BY expires_at LIMIT ${limit}`;
    const listed = this.#unchangedSince("expired", now - LISTED_MS, limit);
    return [...expired, ...listed].filter((id) => !this.#deps.log.hasPendingFor(id));
  }

  /** Notes in the audit log how many a write expired. */
  async note({ hash }: Owner, expired: number, now: number): Promise<void> {
    await writeEvent(this.#deps.auditLog, {
      id: uuidv7({ msecs: now }),
      at: now,
      action: "quarantine.expired",
      outcome: "ok",
      actor: null,
      tokenId: null,
      userHash: hash,
      requestId: null,
      about: null,
      count: expired,
    });
  }

  /** The time of the next expiry, end of a wait, or deletion of a listed memory; null if there is none. */
  nextDue(): number | null {
    const expiry = this.sql.value<number | null>`SELECT MIN(expires_at) FROM memories WHERE ${EXPIRING}`;
    const [waiting, expired] = [this.#oldest("quarantined"), this.#oldest("expired")];
    const due = Math.min(
      expiry ?? Infinity,
      waiting === null ? Infinity : waiting + this.#deps.quarantineMs,
      expired === null ? Infinity : expired + LISTED_MS,
    );
    return due === Infinity ? null : due + 1;
  }

  /** Counts what waits and what is expired. `nextExpiry`: when the oldest one that waits expires. */
  counts(now: number): { waiting: number; expired: number; nextExpiry?: number } {
    // Reads a row of the index for each.
    const rows = this.sql.rows<{ status: Reviewed; n: number }>`
      SELECT status, COUNT(*) AS n FROM memories INDEXED BY memories_reviewed
      WHERE ${REVIEWED} AND (expires_at IS NULL OR expires_at >= ${now}) GROUP BY status`;
    const counts = new Map(rows.map(({ status, n }) => [status, n]));
    const waiting = counts.get("quarantined") ?? 0;
    const oldest = waiting === 0 ? null : this.#oldest("quarantined");
    return {
      waiting,
      expired: counts.get("expired") ?? 0,
      ...(oldest !== null && { nextExpiry: oldest + this.#deps.quarantineMs }),
    };
  }

  /** A slice of the memories in quarantine that match, those that wait longest first, and where the next slice begins. */
  waiting(
    { filter, after, limit }: { filter: MemoryFilter; after?: ReviewPlace; limit: number },
    now: number,
  ): { memories: Reviewing[]; next?: ReviewPlace } {
    const { table } = this.#deps;
    const { upTo = table.clock.lastVersion(), at = Number.MIN_SAFE_INTEGER, version = 0 } = after ?? {};
    const rows = this.sql.rows<{ id: string; at: number; version: number }>`
      SELECT id, recorded_at AS at, version FROM memories INDEXED BY memories_reviewed
      WHERE ${REVIEWED} AND status = 'quarantined' AND (recorded_at, version) > (${at}, ${version})
        AND version <= ${upTo} AND (expires_at IS NULL OR expires_at >= ${now})
        AND ${toSqlCondition(and(...filterConditions(filter)))}
      ORDER BY recorded_at, version LIMIT ${limit + 1}`;
    const slice = rows.slice(0, limit);
    const last = rows.length > limit ? slice.at(-1) : undefined;
    return {
      memories: slice.map(({ id }) => ({ id, condition: {} })),
      ...(last && { next: { upTo, at: last.at, version: last.version } }),
    };
  }

  /** Ids of memories of a status that have not changed since before a time, the oldest first. */
  #unchangedSince(status: Reviewed, before: number, limit: number): string[] {
    return this.sql.column`
      SELECT id FROM memories INDEXED BY memories_reviewed
      WHERE ${REVIEWED} AND status = ${status} AND recorded_at < ${before}
      ORDER BY recorded_at LIMIT ${limit}`;
  }

  /** The time of the last change of the memory of a status that has not changed for longest; null if there is none. */
  #oldest(status: Reviewed): number | null {
    return this.sql.value`
      SELECT MIN(recorded_at) FROM memories INDEXED BY memories_reviewed
      WHERE ${REVIEWED} AND status = ${status}`;
  }
}
