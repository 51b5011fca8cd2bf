import { Deployment } from "./deployment.ts";
import { DeploymentMark } from "./deployment-mark.ts";
import { D1ErasureRecords, type ErasureRecords } from "./erasure-records.ts";
import { D1MemoryRecords, type MemoryRecords } from "./memory-records.ts";
import { ShardedErasureRecords } from "./sharded-erasure-records.ts";
import { ShardedMemoryRecords } from "./sharded-memory-records.ts";
import { ShardedThreadCatalogue } from "./sharded-thread-catalogue.ts";
import { ShardedUserCatalogue } from "./sharded-user-catalogue.ts";
import { D1ThreadCatalogue, type ThreadCatalogue } from "./thread-catalogue.ts";
import { D1UserCatalogue, type UserCatalogue } from "./user-catalogue.ts";

/** The number of the database beside the shards, which keeps what is not a user's. */
const BESIDE = -1;

/** What users have in D1, over the databases that they are spread over, and whether it is still where it was. */
export function shardedStores({
  main,
  facts,
  jurisdiction,
  impossible,
  known,
}: {
  main: D1Database;
  /** Where there are none, the main one keeps all. */
  facts: readonly D1Database[];
  jurisdiction: string;
  /** Why nothing can be read or written as things are bound; null if it can. */
  impossible: string | null;
  /** What the isolate knows of how databases are used. */
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
    new DeploymentMark(database, { shards: databases.length, shard, jurisdiction }, { impossible, known });
  const shards = databases.map((database, shard) => ({
    records: new D1MemoryRecords(database),
    catalogue: new D1ThreadCatalogue(database),
    users: new D1UserCatalogue(database),
    erasures: new D1ErasureRecords(database),
    mark: markOf(database, shard),
  }));
  const marks = shards.map(({ mark }) => mark);
  const beside = { erasures: new D1ErasureRecords(main), mark: markOf(main, BESIDE) };
  const all = facts.length === 0 ? marks : [beside.mark, ...marks];
  return {
    records: new ShardedMemoryRecords(shards),
    catalogue: new ShardedThreadCatalogue(shards),
    users: new ShardedUserCatalogue(shards),
    erasures: new ShardedErasureRecords(shards, (facts.length === 0 ? shards[0] : undefined) ?? beside),
    deployment: new Deployment(all),
  };
}
