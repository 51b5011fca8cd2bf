import { ok, type Result } from "../../domain/errors.ts";
import { BoundedCache } from "../../domain/bounded-cache.ts";
import { CLOCK_SKEW_S, type Caller, type Verified } from "./claims.ts";
import type { Logins } from "./logins.ts";
import type { RevocationList } from "./revocation-list.ts";
import { type SigningKeys, verifyOwn } from "./verify-own.ts";

/** The life of a cached result. */
const CACHED_MS = 30_000;

type CachedToken = Verified & { from: number; until: number };
type AuthenticatorDependencies = {
  keys: SigningKeys;
  logins: Logins | null;
  revoked: RevocationList;
  now: () => number;
};

/** Finds the caller of a token. */
export class Authenticator {
  readonly #deps: AuthenticatorDependencies;
  /** Tokens that passed, as a signature is the dearest step of a small call. Forged tokens take no place in it. */
  readonly #cached = new BoundedCache<CachedToken>(1000);

  constructor(deps: AuthenticatorDependencies) {
    this.#deps = deps;
  }

  async caller(token: string): Promise<Result<Caller>> {
    const now = this.#deps.now();
    const verified = this.#fromCache(token, now) ?? (await this.#verify(token, now));
    if (!verified.ok) return verified;
    // With every call: a cached result must not outlive a revocation.
    const refusal = this.#deps.revoked.refusal(verified.value);
    return (refusal instanceof Promise ? await refusal : refusal) ?? ok(verified.value.caller);
  }

  #fromCache(token: string, now: number): Result<Verified> | null {
    const known = this.#cached.get(token);
    // If the clock was put back, the token may not be valid yet.
    return known !== undefined && known.from <= now && now < known.until ? ok(known) : null;
  }

  async #verify(token: string, now: number): Promise<Result<Verified>> {
    const { logins, keys } = this.#deps;
    const verified = logins?.isIssuerOf(token)
      ? await logins.verify(token, now)
      : await verifyOwn(token, keys, now);
    if (verified.ok) {
      const until = Math.min(now + CACHED_MS, verified.value.expiresAt + CLOCK_SKEW_S * 1000);
      this.#cached.set(token, { ...verified.value, from: now, until });
    }
    return verified;
  }
}
