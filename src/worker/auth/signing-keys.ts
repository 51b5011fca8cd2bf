import { byteLength } from "../../domain/limits.ts";
import { sha256Base64url } from "../../domain/ids.ts";

/** HS256 needs a key of at least the hash's length (RFC 7518, section 3.2). */
export const SECRET_BYTES = 32;
export const isSecret = (secret: string | undefined): secret is string =>
  // No character takes less than a byte.
  secret !== undefined && (secret.length >= SECRET_BYTES || byteLength(secret) >= SECRET_BYTES);

/** The tenant's secrets: the one that signs, then the previous one, whose tokens still pass. */
export type SigningKeys = readonly string[];

/** Keeps the secrets that are long enough. */
export const signingKeysOf = (current: string | undefined, previous: string | undefined): SigningKeys =>
  isSecret(current) ? [current, ...(isSecret(previous) ? [previous] : [])] : [];

/** The `kid` of a secret: 8 characters of its hash. It tells a guesser no more than a signature does. */
export const keyId = async (secret: string): Promise<string> =>
  (await sha256Base64url(`cairn:kid:${secret}`)).slice(0, 8);
