import { byteLength } from "../../domain/limits.ts";
import { sha256Base64url } from "../../domain/ids.ts";

/** HS256 wants a key of at least the hash's length (RFC 7518, section 3.2). */
export const SECRET_BYTES = 32;
export const isSecret = (secret: string | undefined): secret is string =>
  // No character takes less than a byte: most secrets need no encoding to be counted.
  secret !== undefined && (secret.length >= SECRET_BYTES || byteLength(secret) >= SECRET_BYTES);

/** The tenant's secrets: the one that signs, and behind it the one before it, whose tokens still pass. */
export type SigningKeys = readonly string[];

/** Those of the deployment's secrets that are long enough to be believed. */
export const signingKeysOf = (current: string | undefined, previous: string | undefined): SigningKeys =>
  isSecret(current) ? [current, ...(isSecret(previous) ? [previous] : [])] : [];

/**
 * The `kid` of tokens that are signed with the secret: 8 characters of a hash, enough to tell two secrets apart. Who
 * guesses at a secret of 32 random bytes is told nothing by it; a signature is as good a check of a guess.
 */
export const keyId = async (secret: string): Promise<string> =>
  (await sha256Base64url(`cairn:kid:${secret}`)).slice(0, 8);
