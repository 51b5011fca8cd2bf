import type { UserHash } from "../../domain/ids.ts";
import type { DeploymentMark, Marking } from "./deployment.ts";

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
export type Shard<T> = { store: T; mark: Pick<DeploymentMark, "require"> };

/** The store of a shard. Rejects unless the database is used as it was first used. */
export async function guarded<T>({ store, mark }: Shard<T>, { marks }: Marking = MARKS): Promise<T> {
  await mark.require({ marks });
  return store;
}

const MARKS: Marking = { marks: true };

/**
 * Asks every shard. Rejects when one does not answer: an incomplete list would pass for a complete one. The cron marks no
 * unused database.
 */
export const fromAll = <T, R>(
  shards: readonly Shard<T>[],
  ask: (store: T) => Promise<R>,
  marking?: Marking,
): Promise<R[]> => Promise.all(shards.map(async (shard) => ask(await guarded(shard, marking))));

/** The sum of a number of each shard. */
export async function sumOfAll<T>(
  shards: readonly Shard<T>[],
  count: (store: T) => Promise<number>,
): Promise<number> {
  return (await fromAll(shards, count)).reduce((sum, one) => sum + one, 0);
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
