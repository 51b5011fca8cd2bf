import { errors as joseErrors, jwtVerify, SignJWT } from "jose";
import { byteLength } from "../limits.ts";
import { callerOf } from "./claims.ts";

export const scopes = ["read", "write", "cache", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** Whom a token speaks for. */
export type Caller = {
  /** One user, or all of the tenant's (`*`). */
  user: string;
  scopes: ReadonlySet<string>;
  /** The shared owners whose memory it reads besides its user's. */
  shared: ReadonlySet<string>;
};
/** `expiresAt` in milliseconds since the epoch. */
export type Verdict =
  | { ok: true; caller: Caller; expiresAt: number }
  | { ok: false; reason: "expired" | "invalid" };

/** HS256 wants a key of at least the hash's length (RFC 7518, section 3.2). */
export const SECRET_BYTES = 32;
export const isSecret = (secret: string | undefined): secret is string =>
  // No character takes less than a byte: most secrets need no encoding to be counted.
  secret !== undefined && (secret.length >= SECRET_BYTES || byteLength(secret) >= SECRET_BYTES);

const ALGORITHM = "HS256";

/** What a token is to say. `expiresAt` in seconds since the epoch. */
export type TokenRequest = {
  user: string;
  scope: readonly Scope[];
  expiresAt: number;
  /** Ids of shared owners, at most 64. */
  shared?: readonly string[];
};

/** Mints a token for `user` (`*`: every user). */
export function mintToken(secret: string, { user, scope, expiresAt, shared }: TokenRequest): Promise<string> {
  return new SignJWT({ scope: scope.join(" "), ...(shared !== undefined && { shared }) })
    .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
    .setSubject(user)
    .setIssuedAt()
    .setExpirationTime(expiresAt)
    .sign(keyOf(secret));
}

/** Checks the signature (HS256 and nothing else), the expiry at `now` (milliseconds) and the claims. */
export async function verifyToken(token: string, secret: string, now: number): Promise<Verdict> {
  try {
    const { payload } = await jwtVerify(token, keyOf(secret), {
      algorithms: [ALGORITHM],
      currentDate: new Date(now),
      requiredClaims: ["sub", "exp", "scope"],
    });
    const caller = callerOf(payload);
    if (caller === null || payload.exp === undefined) return { ok: false, reason: "invalid" };
    return { ok: true, caller, expiresAt: payload.exp * 1000 };
  } catch (error) {
    return { ok: false, reason: error instanceof joseErrors.JWTExpired ? "expired" : "invalid" };
  }
}

const keyOf = (secret: string): Uint8Array => new TextEncoder().encode(secret);
