import { ok, type Result } from "../../domain/errors.ts";
import { BoundedCache } from "../../domain/bounded-cache.ts";
import { CLOCK_SKEW_S, type Caller, type Verified } from "./claims.ts";
import type { Logins } from "./logins.ts";
import type { RevocationList } from "./revocation-list.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { verifyOwn } from "./verify-own.ts";

/** How long a signature that was checked is believed, in milliseconds. */
const BELIEVED_MS = 30_000;

type Checked = Verified & { from: number; until: number };
type Parts = { keys: SigningKeys; logins: Logins | null; revoked: RevocationList; now: () => number };

/** Tells who calls, from the token of a call. */
export class Authenticator {
  readonly #parts: Parts;
  /**
   * Tokens that passed: an agent sends the same one with every call, and to check its signature again is the dearest
   * step of a small call. Only what passed is kept, so nobody fills it with forgeries.
   */
  readonly #checked = new BoundedCache<Checked>(1000);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async caller(token: string): Promise<Result<Caller>> {
    const now = this.#parts.now();
    const verified = this.#known(token, now) ?? (await this.#check(token, now));
    if (!verified.ok) return verified;
    // Asked anew with every call: a verdict that is believed for a while must not outlive the token.
    const refusal = this.#parts.revoked.refusal(verified.value);
    return (refusal instanceof Promise ? await refusal : refusal) ?? ok(verified.value.caller);
  }

  #known(token: string, now: number): Result<Verified> | null {
    const known = this.#checked.get(token);
    // A clock that was put back asks again, as the token may have a time from which it holds.
    return known !== undefined && known.from <= now && now < known.until ? ok(known) : null;
  }

  async #check(token: string, now: number): Promise<Result<Verified>> {
    const { logins, keys } = this.#parts;
    const verified = logins?.claims(token)
      ? await logins.verify(token, now)
      : await verifyOwn(token, keys, now);
    if (verified.ok) {
      const until = Math.min(now + BELIEVED_MS, verified.value.expiresAt + CLOCK_SKEW_S * 1000);
      this.#checked.set(token, { ...verified.value, from: now, until });
    }
    return verified;
  }
}
