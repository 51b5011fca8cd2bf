import type { UserHash } from "../../domain/ids.ts";
import type { DeploymentMark } from "./deployment-mark.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** 30 bits of the hash: exact in a double, and enough to make the shards equally large. */
const CHARACTERS = 5;

/** The index of the database of `count` that keeps a user's rows. It must never change for a given count. */
export function shardOfUser(owner: UserHash, count: number): number {
  let number = 0;
  for (const character of owner.slice(0, CHARACTERS)) {
    const digit = DIGITS.indexOf(character);
    if (digit === -1) throw new Error("a user's hash must be base64url");
    number = number * DIGITS.length + digit;
  }
  return number % count;
}

export function ofUser<T>(shards: readonly T[], owner: UserHash): T {
  const shard = shards[shardOfUser(owner, shards.length)];
  if (shard === undefined) throw new Error("there is no shard");
  return shard;
}

/** A store in one database, with the mark that guards it. */
export type Shard<T> = { store: T; mark: Pick<DeploymentMark, "requireUse" | "requireUnchanged"> };

/** The store of a shard. Rejects unless the database is used as it was first used. */
export async function guarded<T>({ store, mark }: Shard<T>): Promise<T> {
  await mark.requireUse();
  return store;
}

/** Asks every shard. Rejects when one does not answer: an incomplete list would pass for a complete one. */
export async function fromAll<T, R>(
  shards: readonly Shard<T>[],
  ask: (store: T) => Promise<R[]>,
): Promise<R[]> {
  return (await Promise.all(shards.map(async (shard) => ask(await guarded(shard))))).flat();
}

/** As `fromAll`, for the cron: it marks no unused database. */
export async function fromAllUnmarked<T, R>(
  shards: readonly Shard<T>[],
  ask: (store: T) => Promise<R[]>,
): Promise<R[]> {
  const asked = shards.map(async ({ store, mark }) => {
    await mark.requireUnchanged();
    return ask(store);
  });
  return (await Promise.all(asked)).flat();
}

/** The methods of a store that go to the shard of one user; `userOf` names that user from the arguments. */
export function routedByUser<T extends object, M extends keyof T>(
  shards: readonly Shard<T>[],
  userOf: { [K in M]: T[K] extends (...args: infer A) => unknown ? (...args: A) => UserHash : never },
): Pick<T, M> {
  const methods = Object.entries<(...args: unknown[]) => UserHash>(userOf).map(([name, user]) => [
    name,
    async (...args: unknown[]) => {
      const store = await guarded(ofUser(shards, user(...args)));
      return Reflect.apply(store[name as M] as () => unknown, store, args);
    },
  ]);
  // Every key of `userOf` is a method of the store, and takes the arguments of that method.
  return Object.fromEntries(methods) as Pick<T, M>;
}
