import type { JWTPayload } from "jose";
import { fail, type Failure, ok, type Result } from "../../domain/errors.ts";
import { threadOwner } from "../../domain/ids.ts";
import { byteLength, limits } from "../../domain/limits.ts";
import { areShared, isUser, LONGEST_LIFE_S } from "../../domain/token.ts";

/** How far the clock of who issued a token may be from ours, in seconds. */
export const CLOCK_SKEW_S = 30;

/** Whom a token speaks for. */
export type Caller = {
  /** One user, or all of the tenant's (`*`). */
  user: string;
  scopes: ReadonlySet<string>;
  /** The shared owners whose memory it reads besides its user's. */
  shared: ReadonlySet<string>;
  /** The one thread that it reaches; absent for a token that reaches all that is its user's. */
  thread?: string;
  /** The token's `jti`, by which it can be revoked. */
  tokenId?: string;
};

/** A token that holds. Times in milliseconds since the epoch; `issuedAt` is 0 where the token does not say. */
export type Verified = { caller: Caller; issuedAt: number; expiresAt: number };

/** Names what is wrong with a token. Only of one whose signature holds: to a forger nothing is told. */
export const wrongClaim = (claim: string, reason: string): Failure =>
  fail("invalid_token", { message: `The token's claim \`${claim}\` ${reason}.` });

/** What a token of the tenant's own says, once its signature and its expiry hold at `now` (milliseconds). */
export function verifiedOf(payload: JWTPayload, now: number): Result<Verified> {
  const { sub, scope, shared = [], thread } = payload;
  if (typeof sub !== "string" || !isUser(sub))
    return wrongClaim("sub", `is no user id: a string of 1 to ${limits.userId} bytes, or \`*\``);
  if (typeof scope !== "string") return wrongClaim("scope", SCOPES_ARE);
  // `read,write` would be one scope that nothing asks for, and each call 403.
  if (scope.includes(",")) return wrongClaim("scope", SCOPES_ARE);
  if (!areShared(shared))
    return wrongClaim("shared", `is no list of at most ${limits.sharedOwners} ids that begin with 'shared:'`);
  if (thread !== undefined && (typeof thread !== "string" || threadOwner(thread) === null))
    return wrongClaim("thread", "is no id of a thread");
  const scopes = new Set(scope.split(" "));
  return timed(payload, { user: sub, scopes, shared: new Set(shared), ...(thread && { thread }) }, now);
}

const SCOPES_ARE = "is not one string with spaces between the scopes, as in 'read write'";

/** The caller with the times and the id of its token. One that was issued later than now is not to be had. */
export function timed({ exp, iat = 0, jti }: JWTPayload, caller: Caller, now: number): Result<Verified> {
  if (exp === undefined) return wrongClaim("exp", "is missing");
  if (exp > now / 1000 + LONGEST_LIFE_S)
    return wrongClaim(
      "exp",
      "is more than 100 years away: it is in seconds since the epoch, not in milliseconds",
    );
  if (jti !== undefined && !isTokenId(jti))
    return wrongClaim("jti", `is no string of 1 to ${limits.tokenId} bytes`);
  const issuedAt = Math.max(0, iat * 1000);
  if (issuedAt > now + CLOCK_SKEW_S * 1000) return fail("token_not_yet_valid");
  return ok({
    caller: { ...caller, ...(jti !== undefined && { tokenId: jti }) },
    issuedAt,
    expiresAt: exp * 1000,
  });
}

/** Whether a token can be revoked by this id. */
const isTokenId = (jti: unknown): jti is string =>
  typeof jti === "string" && jti !== "" && jti.isWellFormed() && byteLength(jti) <= limits.tokenId;
