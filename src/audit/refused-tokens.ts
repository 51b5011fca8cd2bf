import { v7 as uuidv7 } from "uuid";
import type { AuditRow } from "../d1/tables.ts";

const MINUTE_MS = 60_000;

/**
 * Counts refused tokens, so that a flood of them is one row a minute, isolate and reason, and few writes: the row is
 * written at the 1st, 2nd, 4th, 8th … of the minute. Its count is so at least half of the true one, without a timer that
 * would have to outlive the calls.
 */
export class RefusedTokens {
  /** By the reason, of which there are few. */
  readonly #minutes = new Map<string, AuditRow>();

  /** Notes one. Answers the row where it is time to write it. */
  note(code: string, { requestId, now }: { requestId: string; now: number }): AuditRow | null {
    const known = this.#minutes.get(code);
    const goesOn = known !== undefined && Math.abs(now - known.at) < MINUTE_MS;
    const minute = goesOn ? { ...known, count: known.count + 1, requestId } : first(code, requestId, now);
    this.#minutes.set(code, minute);
    const isPowerOfTwo = (minute.count & (minute.count - 1)) === 0;
    return isPowerOfTwo ? minute : null;
  }
}

const first = (code: string, requestId: string, now: number): AuditRow => ({
  id: uuidv7({ msecs: now }),
  at: now,
  action: "token.refused",
  outcome: code,
  actor: null,
  tokenId: null,
  userHash: null,
  requestId,
  count: 1,
});
