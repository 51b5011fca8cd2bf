import { v7 as uuidv7 } from "uuid";
import type { AuditRow } from "../../platform/d1/tables.ts";
import { BoundedCache } from "../../domain/bounded-cache.ts";

const MINUTE_MS = 60_000;
/** Counters at a time: one for each action, outcome, caller, and token or binding. */
const KINDS = 1_000;

export type Refused = Pick<AuditRow, "action" | "outcome" | "actor" | "tokenId" | "userHash">;

/**
 * Counts refused calls, so that a flood of them is one row a minute, isolate, reason and token or binding. The row is written at the
 * 1st, 2nd, 4th, 8th … call of the minute: its count is at least half of the true one, and no timer is needed.
 */
export class RefusedCalls {
  readonly #minutes = new BoundedCache<AuditRow>(KINDS);

  /** Counts one call. Returns the row when it is time to write it. */
  count(refused: Refused, { requestId, now }: { requestId: string; now: number }): AuditRow | null {
    const key = `${refused.action} ${refused.outcome} ${refused.actor ?? ""} ${refused.tokenId ?? ""}`;
    const known = this.#minutes.get(key);
    const isSameMinute = known !== undefined && Math.abs(now - known.at) < MINUTE_MS;
    const minute = isSameMinute
      ? { ...known, count: known.count + 1, requestId }
      : { ...refused, id: uuidv7({ msecs: now }), at: now, requestId, about: null, count: 1 };
    this.#minutes.set(key, minute);
    const isPowerOfTwo = (minute.count & (minute.count - 1)) === 0;
    return isPowerOfTwo ? minute : null;
  }
}
