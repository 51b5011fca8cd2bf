import { isSecret } from "../../domain/token.ts";

/** The tenant's secrets: the one that signs, and behind it the one before it, whose tokens still pass. */
export type SigningKeys = readonly string[];

/** Those of the deployment's secrets that are long enough to be believed. */
export const signingKeysOf = (current: string | undefined, previous: string | undefined): SigningKeys =>
  isSecret(current) ? [current, ...(isSecret(previous) ? [previous] : [])] : [];
