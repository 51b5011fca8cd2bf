import { isSecret } from "../../domain/token.ts";

/** The tenant's secrets: the one that signs, then the previous one, whose tokens still pass. */
export type SigningKeys = readonly string[];

/** Keeps the secrets that are long enough. */
export const signingKeysOf = (current: string | undefined, previous: string | undefined): SigningKeys =>
  isSecret(current) ? [current, ...(isSecret(previous) ? [previous] : [])] : [];
