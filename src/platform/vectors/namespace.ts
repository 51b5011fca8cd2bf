import type { UserHash } from "../../domain/ids.ts";

/** An index takes 50,000 namespaces, and 1,000 on the free plan: fewer than a tenant may have users. */
const BUCKETS = 1_000;
const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Six bits each. 48 bits are exact in a double, and spread users evenly. */
const CHARACTERS = 8;

/**
 * The part of the vector index that a user's vectors are in, `u000` to `u999`. Users share one, so it only narrows
 * the search; the metadata filter on the whole hash keeps them apart.
 */
export function namespaceOf(user: UserHash): string {
  let number = 0;
  for (const character of user.slice(0, CHARACTERS)) number = number * 64 + BASE64URL.indexOf(character);
  return `u${String(number % BUCKETS).padStart(3, "0")}`;
}
