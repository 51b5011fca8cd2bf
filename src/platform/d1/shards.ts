import type { UserHash } from "../../domain/ids.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** 30 bits of the hash: enough that no shard is noticeably larger than another, and exact in a double. */
const CHARACTERS = 5;

/**
 * Which of `count` databases keeps what D1 has of a user. It must never change for a count: what is stored is found by it
 * alone. The hash is one of SHA-256, so its first bits spread users evenly.
 */
export function shardOfUser(owner: UserHash, count: number): number {
  let number = 0;
  for (const character of owner.slice(0, CHARACTERS)) {
    const digit = DIGITS.indexOf(character);
    if (digit === -1) throw new Error("a user's hash is base64url");
    number = number * DIGITS.length + digit;
  }
  return number % count;
}

/** The shard of a user among those that there are. */
export function ofUser<T>(shards: readonly T[], owner: UserHash): T {
  const shard = shards[shardOfUser(owner, shards.length)];
  if (shard === undefined) throw new Error("there is no shard");
  return shard;
}
