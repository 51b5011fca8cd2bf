// Users over several databases: which one, and lists over all of them.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { MemoryRecords } from "../../../src/platform/d1/memory-records.ts";
import { shardedCatalogue, shardedRecords } from "../../../src/platform/d1/sharded-stores.ts";
import { ofUser, shardOfUser } from "../../../src/platform/d1/shards.ts";
import type { ThreadRow } from "../../../src/platform/d1/tables.ts";
import type { CataloguePage, ThreadCatalogue } from "../../../src/platform/d1/thread-catalogue.ts";
import { newThreadId, userHash } from "../../../src/domain/ids.ts";

const mark = { require: async () => {} };
const rejects = () => Promise.reject(new Error("D1_ERROR: this database is down"));
const down = { require: rejects };
const base64url = fc.stringMatching(/^[A-Za-z0-9_-]{22}$/);

it("gives a user the same shard for ever", async () => {
  const users = ["alice", "bob", "carol", "shared:team", "日本"];
  const hashes = await Promise.all(users.map(userHash));
  // Written down: another answer to these would lose what is stored.
  expect(hashes.map((hash) => [2, 3, 7, 100].map((count) => shardOfUser(hash, count)))).toEqual([
    [1, 1, 6, 41],
    [0, 1, 5, 88],
    [0, 0, 4, 20],
    [0, 0, 2, 4],
    [1, 0, 3, 81],
  ]);
});

it("takes every shard for about as many users", async () => {
  const counts = [0, 0, 0];
  for (let i = 0; i < 3000; i++) {
    const shard = shardOfUser(await userHash(`user ${i}`), 3);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(120);
});

it("refuses what is no hash, and no shards", () => {
  expect(() => shardOfUser("no hash!", 3)).toThrow("base64url");
  expect(() => ofUser([], "A".repeat(22))).toThrow("no shard");
});

/** The catalogue of one database, as plain rows; it sorts as D1 does. */
function catalogueOf(rows: ThreadRow[]): ThreadCatalogue {
  return {
    apply: async ({ put, remove }) => {
      rows.push(...put);
      for (const id of remove)
        rows.splice(
          rows.findIndex((row) => row.id === id),
          1,
        );
    },
    list: async ({ after, limit }: CataloguePage) =>
      rows
        .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
        .filter(
          ({ createdAt, id }) =>
            after === undefined || createdAt < after[0] || (createdAt === after[0] && id < after[1]),
        )
        .slice(0, limit),
    createdByDay: async (from) =>
      rows
        .filter(({ createdAt }) => createdAt >= from)
        .map(({ createdAt }) => ({ day: createdAt, count: 1, users: 1 })),
  };
}

const rowOf = (owner: string, createdAt: number): ThreadRow => ({
  id: newThreadId(owner, createdAt),
  userHash: owner,
  userId: null,
  title: "",
  agent: null,
  resourceSlug: null,
  recordId: null,
  metadata: null,
  createdAt,
  updatedAt: createdAt,
  epoch: 0,
});

it("lists the threads of all shards page by page as one database would", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(base64url, fc.integer({ min: 0, max: 5 })), { maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 7 }),
      async (threads, count, limit) => {
        const put = threads.map(([hash, createdAt]) => rowOf(hash, createdAt));
        const [one, many] = [1, count].map((shards) =>
          shardedCatalogue(Array.from({ length: shards }, () => ({ store: catalogueOf([]), mark }))),
        );
        const gone = put.filter((_, i) => i % 3 === 0).map(({ id }) => id);
        for (const catalogue of [one, many]) {
          for (const row of put) await catalogue?.apply({ put: [row], remove: [], epoch: 0 });
          for (const id of gone) await catalogue?.apply({ put: [], remove: [id], epoch: 0 });
        }
        const all = (await one?.list({ limit: 1000 })) ?? [];
        expect(all).toHaveLength(put.length - gone.length);
        const found: ThreadRow[] = [];
        for (;;) {
          const last = found.at(-1);
          const page = await many?.list({ limit, ...(last && { after: [last.createdAt, last.id] }) });
          if (page === undefined || page.length === 0) break;
          expect(page.length).toBeLessThanOrEqual(limit);
          found.push(...page);
          expect(found.length).toBeLessThanOrEqual(all.length);
        }
        expect(found.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      },
    ),
  ));

/** Records of which only the owners are asked for. */
const ownersOnly = (owners: string[]): MemoryRecords =>
  // The other methods are not called here.
  ({
    owners: async ({ after = "", limit }: { after?: string; limit: number }) =>
      owners
        .filter((owner) => owner > after)
        .toSorted()
        .slice(0, limit),
    check: async () => {},
  }) as unknown as MemoryRecords;

it("pages through the owners of all shards in order, without passing over any", () =>
  fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(base64url, { maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 7 }),
      async (owners, count, limit) => {
        const shards = Array.from({ length: count }, (_, shard) => ({
          store: ownersOnly(owners.filter((owner) => shardOfUser(owner, count) === shard)),
          mark,
        }));
        const records = shardedRecords(shards);
        const found: string[] = [];
        for (let page: string[] | null = null; page === null || page.length > 0; found.push(...page)) {
          const after = found.at(-1);
          page = await records.owners({ limit, ...(after !== undefined && { after }) });
        }
        expect(found).toEqual(owners.toSorted());
      },
    ),
  ));

it("lists nothing over all shards while one is down: a list that is not complete would be taken for one", async () => {
  const over = <T>(store: T) => [mark, down].map((one) => ({ store, mark: one }));
  await expect(shardedRecords(over(ownersOnly([]))).owners({ limit: 10 })).rejects.toThrow("down");
  await expect(shardedCatalogue(over(catalogueOf([]))).list({ limit: 10 })).rejects.toThrow("down");
});
