import { v7 as uuidv7 } from "uuid";
import type { Owner } from "../../../src/domain/memory/record.ts";
import { currentOf, expireIn } from "../../../src/domain/memory/rules.ts";
import { type AuditLog, writeEvent } from "../../../src/platform/d1/audit-log.ts";
import type { IntentLog } from "./intent-log.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

type WaitingMemoriesDependencies = {
  table: MemoryTable;
  log: Pick<IntentLog, "hasPendingFor">;
  auditLog: Pick<AuditLog, "add">;
  /** How long a memory may wait, in milliseconds. */
  quarantineMs: number;
};

/** How long an expired memory is listed. */
const LISTED_MS = 24 * 60 * 60 * 1000;
/** Memories that one write expires: each is two rows of D1. */
const SLICE = 200;

/** Memories that wait in quarantine for too long: they expire, are listed for a day, and are then deleted. */
export class WaitingMemories {
  readonly #deps: WaitingMemoriesDependencies;

  constructor(deps: WaitingMemoriesDependencies) {
    this.#deps = deps;
  }

  /** The rows of a write that expires the next memories. */
  late(now: number): MemoryRow[] {
    const { table, quarantineMs } = this.#deps;
    const ids = table.unchangedSince("quarantined", now - quarantineMs, SLICE);
    if (ids.length === 0) return [];
    const draft = new MemoryDraft(table, table.next(now));
    for (const id of ids) {
      const row = currentOf(draft, id);
      if (row !== null) expireIn(draft, row);
    }
    return draft.write.put;
  }

  /** Expired memories that were listed for a day. */
  listed(now: number, limit: number): string[] {
    const { table, log } = this.#deps;
    return table.unchangedSince("expired", now - LISTED_MS, limit).filter((id) => !log.hasPendingFor(id));
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

  /** The time of the next expiry, or of the next deletion of an expired memory; null if there is none. */
  nextDue(): number | null {
    const { table, quarantineMs } = this.#deps;
    const [waiting, expired] = [table.oldest("quarantined"), table.oldest("expired")];
    const due = [
      waiting === null ? [] : waiting + quarantineMs,
      expired === null ? [] : expired + LISTED_MS,
    ].flat();
    return due.length === 0 ? null : Math.min(...due) + 1;
  }

  /** Counts what waits and what is expired. `nextExpiry`: when the oldest one that waits expires. */
  counts(now: number): { waiting: number; expired: number; nextExpiry?: number } {
    const { table, quarantineMs } = this.#deps;
    const { quarantined = 0, expired = 0 } = table.countReviewed(now);
    const oldest = quarantined === 0 ? null : table.oldest("quarantined");
    return { waiting: quarantined, expired, ...(oldest !== null && { nextExpiry: oldest + quarantineMs }) };
  }
}
