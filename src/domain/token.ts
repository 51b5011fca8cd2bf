import { base64url, sha256Base64url } from "./hash.ts";
import { threadOwner } from "./thread-id.ts";
import { byteLength, limits } from "./limits.ts";

export const scopes = ["read", "write", "cache", "admin"] as const;
export type Scope = (typeof scopes)[number];
export const isScope = (word: string): word is Scope => (scopes as readonly string[]).includes(word);

/** The trust of what a token writes, from the highest on; the first two are equal. */
export const trusts = ["user", "operator", "model", "tool", "import"] as const;
export const isTrust = (word: unknown): word is (typeof trusts)[number] =>
  (trusts as readonly unknown[]).includes(word);

/** The one algorithm of the tenant's own tokens: a token cannot choose another. */
export const ALGORITHM = "HS256";

/** HS256 needs a key of at least the hash's length (RFC 7518, section 3.2). */
export const SECRET_BYTES = 32;
export const isSecret = (secret: string | undefined): secret is string =>
  // A character takes at least one byte: most secrets need no encoding to be counted.
  typeof secret === "string" && (secret.length >= SECRET_BYTES || byteLength(secret) >= SECRET_BYTES);

/** The longest life of a token in seconds: a hundred years. A longer one is most likely given in milliseconds. */
export const LONGEST_LIFE_S = 36_525 * 86_400;

/** The scopes of a token that names none: all that one user's adapters and caches need. */
export const USUAL_SCOPES: readonly Scope[] = ["read", "write", "cache"];

/** Shared owners hold memory that many users read (of a team, of an app). Their ids begin with this. */
const SHARED_PREFIX = "shared:";
export const isShared = (user: string): boolean => user.startsWith(SHARED_PREFIX);

/** True for an id under which memory can be stored, and for `*`. */
export const isUser = (id: string): boolean =>
  id !== "" && id !== "." && id !== ".." && id.isWellFormed() && byteLength(id) <= limits.userId;

/** True for a list of shared owners that one token may name. */
export const areShared = (ids: unknown): ids is string[] =>
  Array.isArray(ids) &&
  ids.length <= limits.sharedOwners &&
  ids.every((id) => typeof id === "string" && isShared(id) && isUser(id));

/** The contents of a token. */
export type TokenRequest = {
  /** The user whose memory the token opens; `*` opens every user's. 1 to 256 bytes of UTF-8. */
  user: string;
  /** `["read", "write", "cache"]` unless set: all but `admin`. */
  scope?: readonly Scope[] | undefined;
  /** The life of the token in milliseconds: one hour unless set, less than 100 years. */
  ttlMs?: number | undefined;
  /** Ids of shared owners that the token also reads; at most 64, each begins with `shared:`. */
  shared?: readonly string[] | undefined;
  /** The id of the only thread that the token reaches. */
  thread?: string | undefined;
  /** The trust of what the token writes: `user` unless set, or `operator` for the user `*`. `model` for an agent's own token. */
  trust?: (typeof trusts)[number] | undefined;
};

/**
 * Mints a token (a JWT with HS256) that is valid from `now` on, in milliseconds. It has an id (`jti`) to revoke it by, and
 * the id of the key that signs it (`kid`). Throws a `TypeError` for a request that the Worker would refuse.
 */
export async function mintToken(secret: string, request: TokenRequest, now: number): Promise<string> {
  const { user, scope = USUAL_SCOPES, ttlMs = 3_600_000, shared, thread, trust } = request;
  if (!isSecret(secret)) throwInvalid(`the secret is missing or shorter than ${SECRET_BYTES} bytes`);
  requireClaims({ user, scope, ttlMs, shared, thread, trust });
  return signToken(secret, {
    sub: user,
    scope: scope.join(" "),
    ...(shared && { shared }),
    ...(thread !== undefined && { thread }),
    ...(trust !== undefined && { trust }),
    jti: crypto.randomUUID(),
    iat: Math.floor(now / 1000),
    exp: Math.floor((now + ttlMs) / 1000),
  });
}

/** Callers in JavaScript may give anything. */
function requireClaims({ user, scope, ttlMs, shared, thread, trust }: TokenRequest): void {
  if (typeof user !== "string" || !isUser(user)) throwInvalid(`\`user\` must be 1 to ${limits.userId} bytes`);
  if (!Array.isArray(scope) || scope.length === 0 || !scope.every(isScope))
    throwInvalid(`\`scope\` must be a list of ${scopes.join(", ")}`);
  if (typeof ttlMs !== "number" || !(ttlMs > 0 && ttlMs < LONGEST_LIFE_S * 1000))
    throwInvalid("`ttlMs` must be more than 0 and less than 100 years");
  if (shared !== undefined && !areShared(shared))
    throwInvalid(
      `\`shared\` must be a list of at most ${limits.sharedOwners} ids that begin with '${SHARED_PREFIX}'`,
    );
  if (thread !== undefined && (typeof thread !== "string" || threadOwner(thread) === null))
    throwInvalid("`thread` is not the id of a thread");
  if (trust !== undefined && !isTrust(trust)) throwInvalid(`\`trust\` must be one of ${trusts.join(", ")}`);
}

function throwInvalid(reason: string): never {
  throw new TypeError(`mintToken: ${reason}`);
}

/** Signs claims as they are. */
export async function signToken(secret: string, claims: object): Promise<string> {
  const unsigned = `${part({ alg: ALGORITHM, typ: "JWT", kid: await keyId(secret) })}.${part(claims)}`;
  return `${unsigned}.${base64url(await hmacSha256(secret, unsigned))}`;
}

const part = (value: unknown): string => base64url(new TextEncoder().encode(JSON.stringify(value)));

async function hmacSha256(secret: string, text: string): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), hmac, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

/**
 * The `kid` of tokens that are signed with the secret: 8 characters of a hash, enough to tell two secrets apart. It does
 * not help to guess a secret of 32 random bytes: a signature checks a guess as well.
 */
export const keyId = async (secret: string): Promise<string> =>
  (await sha256Base64url(`cairn:kid:${secret}`)).slice(0, 8);
