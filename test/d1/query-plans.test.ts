// How SQLite finds the rows of a list: by an index that has their filter and their order.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { D1AuditLog } from "../../src/platform/d1/audit-log.ts";
import { D1ThreadCatalogue } from "../../src/platform/d1/thread-catalogue.ts";
import { D1UserCatalogue } from "../../src/platform/d1/user-catalogue.ts";
import { newUser } from "../call.ts";
import { userHash } from "../../src/domain/ids.ts";

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
] as const)("lists %s by an index with their order", async (_, list, plan) => {
  const plans = await list();
  expect(plans).toHaveLength(1);
  expect(plans[0]).toContain(plan);
  expect(plans[0]).not.toMatch(/SCAN|TEMP B-TREE/);
});

it("an agent's and a user's threads are found in one index", async () => {
  const plans = await threadsOf({ owner, agent: "a", after });
  expect(plans.join("\n")).toMatch(/SEARCH threads USING INDEX threads_by_(agent|user)/);
  expect(plans.join("\n")).not.toMatch(/SCAN|TEMP B-TREE/);
});
