import { Deployment } from "./deployment.ts";
import { DeploymentMark } from "./deployment-mark.ts";
import { D1MemoryRecords, type MemoryRecords } from "./memory-records.ts";
import { ShardedMemoryRecords } from "./sharded-memory-records.ts";
import { ShardedThreadCatalogue } from "./sharded-thread-catalogue.ts";
import { D1ThreadCatalogue, type ThreadCatalogue } from "./thread-catalogue.ts";

/** The number of the database beside the shards, which keeps what is not a user's. */
const BESIDE = -1;

/** What users have in D1, over the databases that they are spread over, and whether it is still where it was. */
export function shardedStores({
  main,
  facts,
  jurisdiction,
  impossible,
}: {
  main: D1Database;
  /** Where there are none, the main one keeps all. */
  facts: readonly D1Database[];
  jurisdiction: string;
  /** Why nothing can be read or written as things are bound; null if it can. */
  impossible: string | null;
}): { records: MemoryRecords; catalogue: ThreadCatalogue; deployment: Deployment } {
  const databases = facts.length === 0 ? [main] : facts;
  const markOf = (database: D1Database, shard: number) =>
    new DeploymentMark(database, { shards: databases.length, shard, jurisdiction }, impossible);
  const shards = databases.map((database, shard) => ({
    records: new D1MemoryRecords(database),
    catalogue: new D1ThreadCatalogue(database),
    mark: markOf(database, shard),
  }));
  const marks = shards.map(({ mark }) => mark);
  const all = facts.length === 0 ? marks : [markOf(main, BESIDE), ...marks];
  return {
    records: new ShardedMemoryRecords(shards),
    catalogue: new ShardedThreadCatalogue(shards),
    deployment: new Deployment(all),
  };
}
