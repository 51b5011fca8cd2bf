import type { JWTPayload } from "jose";
import { fail, type Failure, ok, type Result } from "../../domain/errors.ts";
import { byteLength, limits } from "../../domain/limits.ts";
import { LONGEST_LIFE_S } from "../../domain/token.ts";
import { Claims } from "../../domain/schema/caller.ts";
import type { Trust } from "../../domain/schema/provenance.ts";

/** The tolerance for the clock of a token's issuer, in seconds. */
export const CLOCK_SKEW_S = 30;

/** The holder of a token, or of a service binding. */
export type Caller = {
  /** One user, or `*` for all of the tenant's. */
  user: string;
  scopes: ReadonlySet<string>;
  /** The shared owners that the token reads besides its user. */
  shared: ReadonlySet<string>;
  /** The only thread that the token reaches. Without it, the token reaches all that its user has. */
  thread?: string;
  /** The trust of what the token writes, where it says one. */
  trust?: Trust;
  /** True for the props of a service binding, in place of a token. */
  bound?: true;
  /** The token's `jti`, by which it can be revoked; `binding` or `binding:<name>` for a service binding. */
  tokenId?: string;
  /** The only part of the registry that a service binding reaches, where its props name one. */
  namespace?: string;
};

/** A token reads its own user, the shared owners that it names, and with `*` every user. */
export const mayRead = (caller: Caller, user: string): boolean =>
  mayWrite(caller, user) || (caller.thread === undefined && caller.shared.has(user));

/** A token changes its own user, and with `*` every user. Shared owners are read only. */
export const mayWrite = ({ user: own, thread }: Caller, user: string): boolean =>
  thread === undefined && (own === "*" || own === user);

/** Says of whom a message speaks. */
export const wordOf = ({ bound }: Caller): "binding" | "token" => (bound ? "binding" : "token");

/** The same for what exists and for what does not. The holder of a valid token knows its user. */
export const outOfReach = (caller: Caller): Failure =>
  fail("not_found", {
    message: `There is no such thing, or it is not yours: this ${wordOf(caller)} is of the user ${JSON.stringify(caller.user)}.`,
  });

/** A valid token. Times in milliseconds since the epoch; `issuedAt` is 0 for a token without `iat`. */
export type Verified = { caller: Caller; issuedAt: number; expiresAt: number };

/** Names a wrong claim. Only for a token whose signature is valid: a forger learns nothing. */
export const wrongClaim = (claim: string, reason: string): Failure =>
  fail("invalid_token", { message: `The token's claim \`${claim}\` ${reason}.` });

/** Reads the claims of one of the tenant's own tokens. Its signature and expiry are valid at `now` (milliseconds). */
export function readClaims(payload: JWTPayload, now: number): Result<Verified> {
  const { success, data, error } = Claims.safeParse(payload);
  if (!success) {
    const [issue] = error.issues;
    return wrongClaim(String(issue?.path[0]), String(issue?.message));
  }
  const { sub, scope, shared = [], thread, trust } = data;
  const caller = {
    user: sub,
    scopes: new Set(scope.split(" ")),
    shared: new Set(shared),
    ...(thread && { thread }),
    ...(trust && { trust }),
  };
  return withTimes(payload, caller, now);
}

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
