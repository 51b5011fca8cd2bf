import { SignJWT } from "jose";
import { keyId } from "./signing-keys.ts";

export const scopes = ["read", "write", "cache", "admin"] as const;
export type Scope = (typeof scopes)[number];
export const isScope = (word: string): word is Scope => (scopes as readonly string[]).includes(word);

/** The subject and rights of a token. */
export type Caller = {
  /** One user, or all of the tenant's (`*`). */
  user: string;
  scopes: ReadonlySet<string>;
  /** The shared owners whose memory it can read. */
  shared: ReadonlySet<string>;
  /** The only thread that it reaches; absent for a token that reaches all of its user's data. */
  thread?: string;
  /** The token's `jti`, for its revocation. */
  tokenId?: string;
};

/** The only algorithm of the tenant's own tokens: a token cannot choose its check. */
export const ALGORITHM = "HS256";

/** The claims of a token to mint. Times in seconds since the epoch. */
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

/** A token reads its own user, the shared owners that it names, and with `*` every user. */
export const mayRead = (caller: Caller, user: string): boolean =>
  mayWrite(caller, user) || (caller.thread === undefined && caller.shared.has(user));

/** A token changes its own user, and with `*` every user. Shared owners are read only. */
export const mayWrite = ({ user: own, thread }: Caller, user: string): boolean =>
  thread === undefined && (own === "*" || own === user);
