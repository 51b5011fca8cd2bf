import type { Revocations } from "../../platform/d1/revocations.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { fail, type Failure } from "../../domain/errors.ts";
import { isUnmigrated } from "../../platform/storage-failure.ts";
import { CLOCK_SKEW_S, type Verified } from "./claims.ts";

/** How long a list counts as the current one, and how long it still counts while D1 does not answer. In milliseconds. */
const CURRENT_MS = 30_000;
const USABLE_MS = 5 * 60_000;
/** How long after a read that failed no other one is tried while the list that there is will do. */
const RETRY_MS = 5_000;
const READ_WITHIN_MS = 2_000;
/**
 * The same where no list is left to go by: then a call is refused unless D1 answers. A D1 that nobody used for a while
 * takes seconds to start, so the wait is that of a write to D1; for a while after a read that failed it is the short one.
 */
const FIRST_READ_WITHIN_MS = 10_000;

type Held = { minIssuedAt: number; tokenIds: ReadonlySet<string>; readAt: number };
type Parts = { revocations: Pick<Revocations, "inForce">; now: () => number };

/**
 * What is revoked, as this isolate knows it: D1 is read once in 30 seconds, not with every call, so a revocation holds
 * everywhere 30 seconds after it was answered. While D1 is down, the last list counts for 5 minutes in all: what was
 * revoked stays revoked, and calls go on. After that, and in an isolate that has never read it, calls are answered 503:
 * whoever revokes a stolen token must be able to rely on it, and what Cairn holds is worth more than an hour's service.
 */
export class RevocationList {
  readonly #parts: Parts;
  #held: Held | null = null;
  #failedAt: number | null = null;
  /** Grows with every change that is made here: a list that was on its way meanwhile may be without it. */
  #changes = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Why a token that is good otherwise is refused, or null. A promise only where D1 has to be asked. */
  refusal(verified: Verified): Failure | null | Promise<Failure | null> {
    const held = this.#held;
    const age = held === null ? null : this.#parts.now() - held.readAt;
    // A clock that was put back knows nothing of a list's age.
    return held !== null && age !== null && age >= 0 && age < CURRENT_MS
      ? refusalBy(held, verified)
      : this.#refresh(verified);
  }

  /** The next call reads the list anew: something was revoked here. */
  forget(): void {
    this.#changes++;
    if (this.#held !== null) this.#held = outdated(this.#held);
    this.#failedAt = null;
  }

  async #refresh(verified: Verified): Promise<Failure | null> {
    const now = this.#parts.now();
    const usable = this.#held !== null && Math.abs(now - this.#held.readAt) < USABLE_MS ? this.#held : null;
    const waits = this.#failedAt !== null && Math.abs(now - this.#failedAt) < RETRY_MS;
    if (usable !== null && waits) return refusalBy(usable, verified);
    const changes = this.#changes;
    try {
      const asked = this.#parts.revocations.inForce(now - CLOCK_SKEW_S * 1000);
      const { minIssuedAt, tokenIds } = await withDeadline(
        asked,
        usable === null && !waits ? FIRST_READ_WITHIN_MS : READ_WITHIN_MS,
      );
      const read = { minIssuedAt, tokenIds: new Set(tokenIds), readAt: now };
      this.#failedAt = null;
      this.#held = changes === this.#changes ? read : outdated(read);
      return refusalBy(read, verified);
    } catch (error) {
      console.error({ message: "the list of revoked tokens could not be read", error: String(error) });
      this.#failedAt = this.#parts.now();
      if (usable !== null) return refusalBy(usable, verified);
      return isUnmigrated(error) ? fail("migrations_not_applied") : UNKNOWN;
    }
  }
}

/** The same list, to be read anew by the next call. */
const outdated = (held: Held): Held => ({ ...held, readAt: held.readAt - CURRENT_MS });

const refusalBy = ({ minIssuedAt, tokenIds }: Held, { caller, issuedAt }: Verified): Failure | null =>
  issuedAt < minIssuedAt || (caller.tokenId !== undefined && tokenIds.has(caller.tokenId)) ? REVOKED : null;

const REVOKED = fail("token_revoked");
const UNKNOWN = fail("storage_unavailable", {
  message: "The database does not answer, and it alone knows whether this token was revoked. Try again.",
});
