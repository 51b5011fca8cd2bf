// SQLite finds the rows of a list by an index that has their filter and their order.
import { env } from "cloudflare:workers";
import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { expect, it } from "vitest";
import { D1AuditLog } from "../../../src/platform/d1/audit-log.ts";
import { D1MemoryRecords } from "../../../src/platform/d1/memory-records.ts";
import { termConditions } from "../../../src/platform/d1/memory-terms.ts";
import { D1ThreadCatalogue } from "../../../src/platform/d1/thread-catalogue.ts";
import { D1UserCatalogue } from "../../../src/platform/d1/user-catalogue.ts";
import { newUser } from "../../call.ts";
import { memories } from "../../../src/domain/memory/table.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import { list, rememberMany } from "../../memory-calls.ts";
import { userHash } from "../../../src/domain/ids.ts";

/** The plans of the statements that a call prepares. */
async function plansOf(act: (database: D1Database) => Promise<unknown>): Promise<string[]> {
  const explained: Promise<string>[] = [];
  const explain = async (text: string, values: unknown[]): Promise<string> => {
    const plan = env.DB.prepare(`EXPLAIN QUERY PLAN ${text}`).bind(...values);
    return (await plan.all<{ detail: string }>()).results.map(({ detail }) => detail).join("\n");
  };
  const prepare = (text: string) => {
    const statement = env.DB.prepare(text);
    const bind = (...values: unknown[]) => {
      explained.push(explain(text, values));
      return statement.bind(...values);
    };
    return new Proxy(statement, { get: (of, name) => (name === "bind" ? bind : Reflect.get(of, name)) });
  };
  const recorder = new Proxy(env.DB, {
    get: (of, name) => (name === "prepare" ? prepare : Reflect.get(of, name)),
  });
  await act(recorder);
  return Promise.all(explained);
}

const after = [1_000, "x"] as const;
const threadsOf = async (page: Omit<Parameters<D1ThreadCatalogue["list"]>[0], "limit">) =>
  plansOf((database) => new D1ThreadCatalogue(database).list({ ...page, limit: 10 }));
const eventsOf = async (page: Omit<Parameters<D1AuditLog["list"]>[0], "limit">) =>
  plansOf((database) => new D1AuditLog(database).list({ ...page, limit: 10 }));
const owner = await userHash(newUser());
const memoriesOf = async (page: Partial<Parameters<D1MemoryRecords["list"]>[1]>) =>
  plansOf((database) =>
    new D1MemoryRecords(database).list(owner, {
      filter: {},
      moment: { now: 1 },
      sort: "createdAt",
      order: "desc",
      limit: 10,
      ...page,
    }),
  );

it.each([
  [
    "all threads",
    () => threadsOf({ after }),
    "SEARCH threads USING INDEX threads_by_age ((created_at,id)<(?,?))",
  ],
  [
    "an agent's threads",
    () => threadsOf({ agent: "a" }),
    "SEARCH threads USING INDEX threads_by_agent (agent_hash=?)",
  ],
  [
    "the next page of an agent's threads",
    () => threadsOf({ agent: "a", after }),
    "SEARCH threads USING INDEX threads_by_agent (agent_hash=? AND (created_at,id)<(?,?))",
  ],
  [
    "a user's threads",
    () => threadsOf({ owner, after }),
    "SEARCH threads USING INDEX threads_by_user (user_hash=? AND (created_at,id)<(?,?))",
  ],
  [
    "the users",
    () => plansOf((database) => new D1UserCatalogue(database).list({ after: owner, limit: 10 })),
    "SEARCH users USING INDEX sqlite_autoindex_users_1 (user_hash>?)",
  ],
  ["the events", () => eventsOf({ from: 1, to: 2, after }), "SEARCH audit USING INDEX audit_by_time"],
  [
    "a user's events",
    () => eventsOf({ user: owner, after }),
    "SEARCH audit USING INDEX audit_by_user (user_hash=? AND (at,id)<(?,?))",
  ],
  [
    "an action's events",
    () => eventsOf({ action: "recall", after }),
    "SEARCH audit USING INDEX audit_by_action (action=? AND (at,id)<(?,?))",
  ],
] as const)("lists %s by an index with their order", async (_, read, plan) => {
  const plans = await read();
  expect(plans).toHaveLength(1);
  expect(plans[0]).toContain(plan);
  expect(plans[0]).not.toMatch(/SCAN|TEMP B-TREE/);
});

it("an agent's and a user's threads are found in one index", async () => {
  const plans = await threadsOf({ owner, agent: "a", after });
  expect(plans.join("\n")).toMatch(/SEARCH threads USING INDEX threads_by_(agent|user)/);
  expect(plans.join("\n")).not.toMatch(/SCAN|TEMP B-TREE/);
});

it.each([
  ["a user's memories", {}, "(user_hash=?)"],
  ["the next page of a user's memories", { after }, "(user_hash=? AND (created_at,id)<(?,?))"],
  [
    "the next page, oldest first,",
    { after, order: "asc" as const },
    "(user_hash=? AND (created_at,id)>(?,?))",
  ],
  ["a user's memories of a tag", { filter: { tags: ["a"] } }, "(user_hash=?)"],
  [
    "a user's memories of a time",
    { filter: { createdAtMin: 1, createdAtMax: 2 } },
    "(user_hash=? AND created_at>? AND created_at<?)",
  ],
])("finds %s by their age", async (_, page: Parameters<typeof memoriesOf>[0], bounds) => {
  const plan = (await memoriesOf(page)).join();
  expect(plan).toContain(`SEARCH memories USING INDEX memories_by_age ${bounds}`);
  expect(plan).not.toMatch(/SCAN memories|TEMP B-TREE/);
  const otherOrder = (await memoriesOf({ ...page, sort: "score" })).join();
  expect(otherOrder).toContain("SEARCH memories USING INDEX memories_by_age");
});

it("passes over most memories that lack a name that is listed, and over none that has it", async () => {
  const user = newUser();
  const notes = Array.from({ length: 300 }, (_, i) => ({
    text: `note ${i}`,
    tags: [`t${i}`, "all"],
    scope: `s${i % 100}`,
    externalId: `e${i}`,
  }));
  await rememberMany(user, notes);
  const of = eq(memories.userHash, await userHash(user));
  const passing = async (filter: MemoryFilter) =>
    drizzle(env.DB).$count(sql`memories`, and(of, ...termConditions(filter)));
  for (const [filter, query, matching] of [
    [{ tags: ["t7", "all"] }, "tag=t7&tag=all", 1],
    [{ anyTags: ["t7", "t9"] }, "anyTag=t7&anyTag=t9", 2],
    [{ scope: ["s7"] }, "scope=s7", 3],
    [{ externalId: ["e7"] }, "externalId=e7", 1],
    [{ subject: "nobody" }, "subject=nobody", 0],
    [{ kinds: ["episode"] }, "kind=episode", 0],
  ] as const) {
    expect(await list(user, query)).toHaveLength(matching);
    expect(await passing(structuredClone(filter) as MemoryFilter), query).toBeLessThan(matching + 60);
  }
  const many = Array.from({ length: 50 }, (_, i) => `anyTag=t${i}`).join("&");
  expect(await list(user, many)).toHaveLength(50);
});
