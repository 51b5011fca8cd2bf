import { SignJWT } from "jose";
import { keyId } from "./signing-keys.ts";

export const scopes = ["read", "write", "cache", "admin"] as const;
export type Scope = (typeof scopes)[number];
export const isScope = (word: string): word is Scope => (scopes as readonly string[]).includes(word);

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

/** The one algorithm of the tenant's own tokens: no token chooses how it is checked. */
export const ALGORITHM = "HS256";

/** What a token is to say. Times in seconds since the epoch. */
export type TokenRequest = {
  user: string;
  scope: readonly Scope[];
  expiresAt: number;
  /** Now unless set. */
  issuedAt?: number;
  /** Ids of shared owners, at most 64. */
  shared?: readonly string[];
  /** The id of the only thread that the token reaches. */
  thread?: string;
};

/** Mints a token for `user` (`*`: every user), with an id to revoke it by and the id of the key that signs it. */
export async function mintToken(
  secret: string,
  { user, scope, expiresAt, issuedAt, shared, thread }: TokenRequest,
): Promise<string> {
  const claims = { scope: scope.join(" "), ...(shared && { shared }), ...(thread && { thread }) };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: "JWT", kid: await keyId(secret) })
    .setSubject(user)
    .setJti(crypto.randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(secret));
}
