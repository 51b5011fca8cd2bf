import type { Revocations } from "../../platform/d1/revocations.ts";
import { withDeadline } from "../../platform/deadline.ts";
import { fail, type Failure } from "../../domain/errors.ts";
import { storageFailureOf } from "../../platform/storage-failure.ts";
import { CLOCK_SKEW_S, type Verified } from "./claims.ts";

/** The ages to which a list is current, and is used while D1 does not answer. */
const CURRENT_MS = 30_000;
const USABLE_MS = 5 * 60_000;
/** The pause after a failed read, while the old list is usable. */
const RETRY_MS = 5_000;
const READ_WITHIN_MS = 2_000;
/** The deadline of a read without a usable list. Longer, as an idle D1 takes seconds to start; short again after a failure. */
const FIRST_READ_WITHIN_MS = 10_000;

type CachedList = { minIssuedAt: number; tokenIds: ReadonlySet<string>; readAt: number };
type RevocationListDependencies = { revocations: Pick<Revocations, "inForce">; now: () => number };

/**
 * This isolate's copy of the revoked tokens. It reads D1 once in 30 seconds, so a revocation holds everywhere after 30
 * seconds. While D1 is down, it uses the last list for 5 minutes. After that, or without any list, calls get 503: a revoked
 * token must not pass.
 */
export class RevocationList {
  readonly #deps: RevocationListDependencies;
  #cached: CachedList | null = null;
  #failedAt: number | null = null;
  /** Counts the changes made here: a list that was being read meanwhile may lack them. */
  #changes = 0;

  constructor(deps: RevocationListDependencies) {
    this.#deps = deps;
  }

  /** The failure for a revoked token, or null. A promise only where D1 is read. */
  refusal(verified: Verified): Failure | null | Promise<Failure | null> {
    const held = this.#cached;
    const age = held === null ? null : this.#deps.now() - held.readAt;
    // A negative age: the clock was put back.
    return held !== null && age !== null && age >= 0 && age < CURRENT_MS
      ? refusalBy(held, verified)
      : this.#refresh(verified);
  }

  /** Makes the next call read the list again, after a change made here. */
  invalidate(): void {
    this.#changes++;
    if (this.#cached !== null) this.#cached = outdated(this.#cached);
    this.#failedAt = null;
  }

  async #refresh(verified: Verified): Promise<Failure | null> {
    const now = this.#deps.now();
    const usable =
      this.#cached !== null && Math.abs(now - this.#cached.readAt) < USABLE_MS ? this.#cached : null;
    const paused = this.#failedAt !== null && Math.abs(now - this.#failedAt) < RETRY_MS;
    if (usable !== null && paused) return refusalBy(usable, verified);
    const changes = this.#changes;
    try {
      const asked = this.#deps.revocations.inForce(now - CLOCK_SKEW_S * 1000);
      const { minIssuedAt, tokenIds } = await withDeadline(
        asked,
        usable === null && !paused ? FIRST_READ_WITHIN_MS : READ_WITHIN_MS,
      );
      const read = { minIssuedAt, tokenIds: new Set(tokenIds), readAt: now };
      this.#failedAt = null;
      this.#cached = changes === this.#changes ? read : outdated(read);
      return refusalBy(read, verified);
    } catch (error) {
      console.error({ message: "the list of revoked tokens could not be read", error: String(error) });
      this.#failedAt = this.#deps.now();
      if (usable !== null) return refusalBy(usable, verified);
      return failureOf(error);
    }
  }
}

/** The same list, which the next call refreshes. */
const outdated = (list: CachedList): CachedList => ({ ...list, readAt: list.readAt - CURRENT_MS });

const refusalBy = ({ minIssuedAt, tokenIds }: CachedList, { caller, issuedAt }: Verified): Failure | null =>
  issuedAt < minIssuedAt || (caller.tokenId !== undefined && tokenIds.has(caller.tokenId)) ? REVOKED : null;

const REVOKED = fail("token_revoked");
function failureOf(error: unknown): Failure {
  const code = storageFailureOf(error);
  return code === "migrations_not_applied" || code === "daily_limit" ? fail(code) : UNKNOWN;
}

const UNKNOWN = fail("storage_unavailable", {
  message: "The database does not answer, so Cairn cannot tell whether this token is revoked. Try again.",
});
