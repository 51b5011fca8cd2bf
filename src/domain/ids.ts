import { v7 as uuidv7 } from "uuid";
import { hash16, sha256 } from "./hash.ts";
import { BoundedCache } from "./bounded-cache.ts";

/** 22 characters of base64url: the first 16 bytes of SHA-256 of `cairn:user:<id>`. Names the user's object. */
export type UserHash = string;

/** The hashes of the users who called this isolate last: an agent's calls are all for one. */
const userHashes = new BoundedCache<UserHash>(1000);

/** The name of a user's object: a hash, since a user id may be personal. */
export async function userHash(userId: string): Promise<UserHash> {
  const known = userHashes.get(userId);
  if (known !== undefined) return known;
  const hash = await hash16(`cairn:user:${userId}`);
  userHashes.set(userId, hash);
  return hash;
}

/** The first byte of the hash of the registry keys that were asked for last. */
const firstBytes = new BoundedCache<number>(1000);

/** Spreads keys evenly over `shards` (at most 256) numbers from 0 on. */
export async function shardOf(key: string, shards: number): Promise<number> {
  const known = firstBytes.get(key);
  if (known !== undefined) return known % shards;
  const [first = 0] = await sha256(key);
  firstBytes.set(key, first);
  return first % shards;
}

/** A new thread id of this user: `<userHash>.<uuid v7>`. The id names its object, so no look-up is needed. */
export const newThreadId = (owner: UserHash, now: number): string => `${owner}.${uuidv7({ msecs: now })}`;

/** In the order of a user's versions, also where they have one time: memories of one batch are listed in their order. */
export const newMemoryId = (now: number, version: number): string => uuidv7({ msecs: now, seq: version });

/** Not to be guessed: it is the right to write. */
export const newLeaseId = (): string => crypto.randomUUID();

/** A name for one write of an entry: no two writes share one, not even after a delete. */
export const newVersion = (): string => uuidv7();
