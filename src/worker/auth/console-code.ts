import { errors as joseErrors, jwtVerify } from "jose";
import { CODE_AUDIENCE, SESSION_MS } from "../../domain/console-link.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { ALGORITHM, isScope, mintToken, scopes } from "../../domain/token.ts";
import type { Revocations } from "../../platform/d1/revocations.ts";
import { CLOCK_SKEW_S, readClaims, type Verified, wrongClaim } from "./claims.ts";
import type { RevocationList } from "./revocation-list.ts";
import { failureOfToken } from "./verify-own.ts";

type Dependencies = {
  secret: string;
  revocations: Pick<Revocations, "spend">;
  revoked: Pick<RevocationList, "refusal">;
  now: () => number;
};

/** Exchanges the code of a link for a token, once: a spent code is kept as a revoked token until it expires. */
export async function redeemCode(
  code: string,
  { secret, revocations, revoked, now }: Dependencies,
): Promise<Result<string>> {
  const time = now();
  const verified = await verifyCode(code, secret, time);
  if (!verified.ok) return verified;
  const { caller, expiresAt } = verified.value;
  // A floor under the tokens' age counts for a code too.
  const refusal = await revoked.refusal(verified.value);
  if (refusal !== null) return refusal.code === "token_revoked" ? SPENT : refusal;
  const { tokenId = "" } = caller;
  // No clock of another Worker takes the code for valid after that.
  const until = expiresAt + CLOCK_SKEW_S * 1000;
  if (!(await revocations.spend({ tokenId, expiresAt: until, revokedAt: time }))) return SPENT;
  return ok(
    await mintToken(
      secret,
      { user: caller.user, scope: [...caller.scopes].filter(isScope), ttlMs: SESSION_MS },
      time,
    ),
  );
}

const SPENT = fail("link_spent");

async function verifyCode(code: string, secret: string, now: number): Promise<Result<Verified>> {
  try {
    const { payload } = await jwtVerify(code, new TextEncoder().encode(secret), {
      algorithms: [ALGORITHM],
      audience: CODE_AUDIENCE,
      currentDate: new Date(now),
      requiredClaims: ["sub", "exp", "jti", "opens"],
    });
    const verified = readClaims({ ...payload, scope: payload.opens }, now);
    // Before the code is spent: no token could be minted of it.
    const isOpen = verified.ok && [...verified.value.caller.scopes].every(isScope);
    return isOpen || !verified.ok
      ? verified
      : wrongClaim("opens", `has a scope that is none of ${scopes.join(", ")}`);
  } catch (error) {
    return error instanceof joseErrors.JWTExpired ? SPENT : failureOfToken(error);
  }
}
