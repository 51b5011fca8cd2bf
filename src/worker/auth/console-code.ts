import { errors as joseErrors, jwtVerify } from "jose";
import { CODE_AUDIENCES, type CodeFor, SESSION_MS } from "../../domain/console-link.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { ALGORITHM, isScope, mintToken, scopes } from "../../domain/token.ts";
import type { Revocations } from "../../platform/d1/revocations.ts";
import { type Caller, CLOCK_SKEW_S, readClaims, type Verified, wrongClaim } from "./claims.ts";
import type { RevocationList } from "./revocation-list.ts";
import { failureOfToken } from "./verify-own.ts";

type Dependencies = {
  secret: string;
  revocations: Pick<Revocations, "spend">;
  revoked: Pick<RevocationList, "refusal">;
  now: () => number;
};

/** Exchanges the code of a link to the console for a token, once. */
export async function redeemCode(code: string, dependencies: Dependencies): Promise<Result<string>> {
  const { secret, now } = dependencies;
  const spent = await spendCode(code, "console", dependencies);
  if (!spent.ok) return spent;
  const { user, scopes: opened } = spent.value;
  return ok(await mintToken(secret, { user, scope: [...opened].filter(isScope), ttlMs: SESSION_MS }, now()));
}

/** Finds whom a code speaks for, once: a spent code is kept as a revoked token until it expires. */
export async function spendCode(
  code: string,
  opens: CodeFor,
  { secret, revocations, revoked, now }: Dependencies,
): Promise<Result<Caller>> {
  const time = now();
  const verified = await verifyCode(code, { secret, opens }, time);
  if (!verified.ok) return verified;
  const { caller, expiresAt } = verified.value;
  // A floor under the tokens' age counts for a code too.
  const refusal = await revoked.refusal(verified.value);
  if (refusal !== null) return refusal.code === "token_revoked" ? SPENT : refusal;
  const { tokenId = "" } = caller;
  // No clock of another Worker takes the code for valid after that.
  const until = expiresAt + CLOCK_SKEW_S * 1000;
  if (!(await revocations.spend({ tokenId, expiresAt: until, revokedAt: time }))) return SPENT;
  return ok(caller);
}

const SPENT = fail("link_spent");

async function verifyCode(
  code: string,
  { secret, opens }: { secret: string; opens: CodeFor },
  now: number,
): Promise<Result<Verified>> {
  try {
    const { payload } = await jwtVerify(code, new TextEncoder().encode(secret), {
      algorithms: [ALGORITHM],
      audience: CODE_AUDIENCES[opens],
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
