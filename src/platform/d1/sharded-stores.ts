import type { UserHash } from "../../domain/ids.ts";
import { threadOwner } from "../../domain/thread-id.ts";
import { Deployment, DeploymentMark } from "./deployment.ts";
import { D1ErasureRecords, type ErasureRecords } from "./erasure-records.ts";
import { D1MemoryRecords, type MemoryRecords } from "./memory-records.ts";
import { fromAll, guarded, routedByUser, type Shard, sumOfAll } from "./shards.ts";
import { summedByDay } from "./by-day.ts";
import { D1ThreadCatalogue, ownerOf, type ThreadCatalogue } from "./thread-catalogue.ts";
import { D1UserCatalogue, type UserCatalogue } from "./user-catalogue.ts";

/** The number of the main database where shards keep the users' rows. */
const BESIDE = -1;

/** The stores of users' rows over the bound databases, and the check that the bindings are unchanged. */
export function shardedStores({
  main,
  facts,
  jurisdiction,
  bindingsProblem,
  known,
}: {
  main: D1Database;
  /** If empty, the main database keeps everything. */
  facts: readonly D1Database[];
  jurisdiction: string;
  /** Why these bindings cannot be used, or null. */
  bindingsProblem: string | null;
  /** The uses of databases that the isolate has verified. */
  known: WeakMap<D1Database, string>;
}): {
  records: MemoryRecords;
  catalogue: ThreadCatalogue;
  users: UserCatalogue;
  erasures: ErasureRecords;
  deployment: Deployment;
} {
  const databases = facts.length === 0 ? [main] : facts;
  const markOf = (database: D1Database, shard: number) =>
    new DeploymentMark(
      database,
      { shards: databases.length, shard, jurisdiction },
      { bindingsProblem, known },
    );
  const marked = databases.map((database, shard) => ({ database, mark: markOf(database, shard) }));
  const shardsOf = <T>(Store: new (database: D1Database) => T): Shard<T>[] =>
    marked.map(({ database, mark }) => ({ store: new Store(database), mark }));
  const mainMark = (facts.length === 0 ? marked[0]?.mark : undefined) ?? markOf(main, BESIDE);
  return {
    records: shardedRecords(shardsOf(D1MemoryRecords)),
    catalogue: shardedCatalogue(shardsOf(D1ThreadCatalogue)),
    users: shardedUsers(shardsOf(D1UserCatalogue)),
    erasures: shardedErasures(shardsOf(D1ErasureRecords), {
      store: new D1ErasureRecords(main),
      mark: mainMark,
    }),
    deployment: new Deployment([...new Set([mainMark, ...marked.map(({ mark }) => mark)])]),
  };
}

export const shardedRecords = (shards: readonly Shard<MemoryRecords>[]): MemoryRecords => ({
  ...routedByUser(shards, {
    write: ({ owner }) => owner.hash,
    get: (owner) => owner,
    list: (owner) => owner,
    history: (owner) => owner,
    all: (owner) => owner,
    exported: (owner) => owner,
  }),
  owners: async (page) => {
    const owners = await fromAll(shards, (records) => records.owners(page), { marks: false });
    return owners.flat().toSorted(ascending).slice(0, page.limit);
  },
  createdByDay: async (from) => summedByDay(await fromAll(shards, (records) => records.createdByDay(from))),
  waiting: () => sumOfAll(shards, (records) => records.waiting()),
  check: async () => {
    await Promise.all(shards.map(({ store }) => store.check()));
  },
});

export const shardedCatalogue = (shards: readonly Shard<ThreadCatalogue>[]): ThreadCatalogue => {
  const ofOne = routedByUser(shards, { apply: ownerOf, list: ({ owner = "" }) => owner });
  return {
    ...ofOne,
    createdByDay: async (from) =>
      summedByDay(await fromAll(shards, (catalogue) => catalogue.createdByDay(from))),
    list: async (page) => {
      if (page.owner !== undefined) return ofOne.list(page);
      const rows = (await fromAll(shards, (catalogue) => catalogue.list(page))).flat();
      return rows.toSorted((a, b) => b.createdAt - a.createdAt || ascending(b.id, a.id)).slice(0, page.limit);
    },
  };
};

const shardedUsers = (shards: readonly Shard<UserCatalogue>[]): UserCatalogue => ({
  list: async (page) => {
    const users = (await fromAll(shards, (catalogue) => catalogue.list(page))).flat();
    return users.toSorted((a, b) => ascending(a.hash, b.hash)).slice(0, page.limit);
  },
  count: () => sumOfAll(shards, (catalogue) => catalogue.count()),
});

/** An erasure is kept with its user's rows, to be noted in one batch with the fence. The tenant's keys are in `main`. */
const shardedErasures = (
  shards: readonly Shard<ErasureRecords>[],
  main: Shard<ErasureRecords>,
): ErasureRecords => ({
  ...routedByUser(shards, {
    note: ({ id }) => userOf(id),
    get: userOf,
    hasThread: userOf,
    erase: (_, { user }) => user,
    hasRows: (_, { user }) => user,
    versionsOfScope: ({ user }) => user,
    anySince: (user) => user,
    eraseVersions: (user) => user,
  }),
  running: async (page) =>
    (await fromAll(shards, (erasures) => erasures.running(page), { marks: false })).flat(),
  unfinished: async () => {
    const all = await fromAll(shards, (erasures) => erasures.unfinished());
    return {
      count: all.reduce((sum, { count }) => sum + count, 0),
      since: all.map(({ since }) => since).reduce(earlier, null),
    };
  },
  addKey: async (key) => (await guarded(main)).addKey(key),
  keys: async () => (await guarded(main)).keys(),
});

/** The user in the id of an erasure or a thread. */
function userOf(id: string): UserHash {
  const user = threadOwner(id);
  if (user === null) throw new Error("the id of an erasure or a thread must begin with its user's hash");
  return user;
}

/** As SQLite sorts: ids and hashes are ASCII. */
const ascending = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const earlier = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);
