import type { JWTPayload } from "jose";
import { fail, type Failure, ok, type Result } from "../../domain/errors.ts";
import { threadOwner } from "../../domain/ids.ts";
import { byteLength, limits } from "../../domain/limits.ts";
import type { Caller } from "./token.ts";

/** The tolerance for the clock of a token's issuer, in seconds. */
export const CLOCK_SKEW_S = 30;

/** The longest life of a token, in seconds: a hundred years. An `exp` beyond it is in milliseconds by mistake. */
export const LONGEST_LIFE_S = 36_525 * 86_400;

/** A valid token. Times in milliseconds since the epoch; `issuedAt` is 0 for a token without `iat`. */
export type Verified = { caller: Caller; issuedAt: number; expiresAt: number };

/** Prefix of the ids of shared owners, whose memory many users read (a team's, an app's). */
export const SHARED_PREFIX = "shared:";

export const isShared = (user: string): boolean => user.startsWith(SHARED_PREFIX);

/** Accepts ids that memory can be stored under, and `*`. */
export const isUser = (id: string): boolean =>
  id !== "" && id !== "." && id !== ".." && id.isWellFormed() && byteLength(id) <= limits.userId;

export const areShared = (ids: unknown): ids is string[] =>
  Array.isArray(ids) &&
  ids.length <= limits.sharedOwners &&
  ids.every((id) => typeof id === "string" && isShared(id) && isUser(id));

/** Names a wrong claim. Only for a token whose signature is valid: a forger learns nothing. */
export const wrongClaim = (claim: string, reason: string): Failure =>
  fail("invalid_token", { message: `The token's claim \`${claim}\` ${reason}.` });

/** Reads the claims of one of the tenant's own tokens. Its signature and expiry are valid at `now` (milliseconds). */
export function readClaims(payload: JWTPayload, now: number): Result<Verified> {
  const { sub, scope, shared = [], thread } = payload;
  if (typeof sub !== "string" || !isUser(sub))
    return wrongClaim("sub", `is not a user id: a string of 1 to ${limits.userId} bytes, or \`*\``);
  if (typeof scope !== "string") return wrongClaim("scope", SCOPES_ARE);
  // `read,write` would be one unknown scope, and each call 403.
  if (scope.includes(",")) return wrongClaim("scope", SCOPES_ARE);
  if (!areShared(shared))
    return wrongClaim(
      "shared",
      `is not a list of at most ${limits.sharedOwners} ids that begin with 'shared:'`,
    );
  if (thread !== undefined && (typeof thread !== "string" || threadOwner(thread) === null))
    return wrongClaim("thread", "is not the id of a thread");
  const scopes = new Set(scope.split(" "));
  return withTimes(payload, { user: sub, scopes, shared: new Set(shared), ...(thread && { thread }) }, now);
}

const SCOPES_ARE = "is not one string with spaces between the scopes, as in 'read write'";

/** Adds the times and the id of the token. Rejects a token whose `iat` lies in the future. */
export function withTimes({ exp, iat = 0, jti }: JWTPayload, caller: Caller, now: number): Result<Verified> {
  if (exp === undefined) return wrongClaim("exp", "is missing");
  if (exp > now / 1000 + LONGEST_LIFE_S)
    return wrongClaim(
      "exp",
      "is more than 100 years away: it is in seconds since the epoch, not in milliseconds",
    );
  if (jti !== undefined && !isTokenId(jti))
    return wrongClaim("jti", `is not a string of 1 to ${limits.tokenId} bytes`);
  const issuedAt = Math.max(0, iat * 1000);
  if (issuedAt > now + CLOCK_SKEW_S * 1000) return fail("token_not_yet_valid");
  return ok({
    caller: { ...caller, ...(jti !== undefined && { tokenId: jti }) },
    issuedAt,
    expiresAt: exp * 1000,
  });
}

const isTokenId = (jti: unknown): jti is string =>
  typeof jti === "string" && jti !== "" && jti.isWellFormed() && byteLength(jti) <= limits.tokenId;
