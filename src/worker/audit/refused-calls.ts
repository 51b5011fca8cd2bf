import { v7 as uuidv7 } from "uuid";
import type { AuditRow } from "../../platform/d1/tables.ts";
import { BoundedCache } from "../../domain/bounded-cache.ts";

const MINUTE_MS = 60_000;
/** How many kinds of refusals, each caller's its own, are counted at a time. */
const KINDS = 1_000;

/** What was refused, and whose it was. */
export type Refused = Pick<AuditRow, "action" | "outcome" | "actor" | "tokenId" | "userHash">;

/**
 * Counts refused calls, so that a flood of them is one row a minute, isolate, reason and caller, and few writes: the row is
 * written at the 1st, 2nd, 4th, 8th … of the minute. Its count is so at least half of the true one, without a timer that
 * would have to outlive the calls.
 */
export class RefusedCalls {
  readonly #minutes = new BoundedCache<AuditRow>(KINDS);

  /** Notes one. Answers the row where it is time to write it. */
  note(refused: Refused, { requestId, now }: { requestId: string; now: number }): AuditRow | null {
    const key = `${refused.action} ${refused.outcome} ${refused.actor ?? ""}`;
    const known = this.#minutes.get(key);
    const goesOn = known !== undefined && Math.abs(now - known.at) < MINUTE_MS;
    const minute = goesOn
      ? { ...known, count: known.count + 1, requestId }
      : { ...refused, id: uuidv7({ msecs: now }), at: now, requestId, about: null, count: 1 };
    this.#minutes.set(key, minute);
    const isPowerOfTwo = (minute.count & (minute.count - 1)) === 0;
    return isPowerOfTwo ? minute : null;
  }
}
