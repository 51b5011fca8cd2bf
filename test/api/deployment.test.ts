// A deployment that is bound to other databases or objects than its data were stored with.
import { createExecutionContext, createScheduledController, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { type Bindings, portsOf } from "../../src/bindings.ts";
import { createWorker } from "../../src/worker.ts";
import { newUser, token } from "../call.ts";

/** The same database with every test, in a binding of its own: what an isolate knows of a binding, it knows for good. */
let DB: D1Database;
const bound = (more: object = {}): Bindings => ({ ...env, DB, ...more });

beforeEach(async () => {
  await env.DB.exec("DELETE FROM deployment");
  const bind = (database: D1Database, name: string): unknown => {
    const member: unknown = Reflect.get(database, name);
    return typeof member === "function" ? member.bind(database) : member;
  };
  DB = new Proxy(env.DB, { get: (database, name) => bind(database, String(name)) });
});
afterEach(() => env.DB.exec("DELETE FROM deployment"));

async function ask(bindings: Bindings, path: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${await token("*")}`, "Content-Type": "application/json" };
  // A new app: one that has been seen to be right is believed.
  const response = await createApp(portsOf).request(path, { headers, ...init }, bindings);
  return { status: response.status, body: await response.json<Record<string, unknown>>().catch(() => null) };
}
const write = (bindings: Bindings, user: string) =>
  ask(bindings, `/v1/users/${user}/kv/a`, { method: "PUT", body: "1" });

/** Objects of a platform that has jurisdictions: workerd alone has none. Notes which were asked for. */
function held(asked: string[]): Bindings {
  const within = <T extends Rpc.DurableObjectBranded>(objects: DurableObjectNamespace<T>) =>
    // What else a namespace has is not called here.
    ({
      getByName: () => {
        throw new Error("asked for an object outside of the jurisdiction");
      },
      jurisdiction: (name: string) => {
        asked.push(name);
        return objects;
      },
    }) as unknown as DurableObjectNamespace<T>;
  const [USER_MEMORY, PROMPT_CACHE] = [within(env.USER_MEMORY), within(env.PROMPT_CACHE)];
  return bound({ USER_MEMORY, PROMPT_CACHE, JURISDICTION: "eu" });
}

it("has all its objects in the jurisdiction that it names", async () => {
  const asked: string[] = [];
  const bindings = held(asked);
  expect((await write(bindings, newUser())).status).toBe(200);
  expect((await ask(bindings, "/v1/cache/a", { method: "PUT", body: "1" })).status).toBe(200);
  expect((await ask(bindings, "/v1/prompt-cache/stats?provider=google")).status).toBeLessThan(500);
  expect(new Set(asked)).toEqual(new Set(["eu"]));
  expect((await ask(bindings, "/health")).body).toMatchObject({ status: "ok" });
});

const eu = (): Bindings => held([]);
const none = (): Bindings => bound();
const us = (): Bindings => ({ ...eu(), JURISDICTION: "us" });
const oneShard = (): Bindings => bound({ FACTS_0: DB });

it.each([
  [
    "from none to a jurisdiction",
    none,
    eu,
    "in no jurisdiction, and JURISDICTION names the jurisdiction 'eu'",
  ],
  [
    "from a jurisdiction to none",
    eu,
    none,
    "in the jurisdiction 'eu', and JURISDICTION names no jurisdiction",
  ],
  ["from one to another", eu, us, "in the jurisdiction 'eu', and JURISDICTION names the jurisdiction 'us'"],
  ["from no shards to one", none, oneShard, "bound as DB beside shards that was shard 0"],
])("refuses a change %s, reads too, until it is undone", async (_, before, after, reason) => {
  const user = newUser();
  expect((await write(before(), user)).status).toBe(200);
  for (const method of ["PUT", "GET"]) {
    const { status, body } = await ask(after(), `/v1/users/${user}/kv/a`, {
      method,
      ...(method === "PUT" && { body: "2" }),
    });
    expect(status).toBe(503);
    expect(body).toMatchObject({
      error: { code: "deployment_changed", message: expect.stringContaining(reason) },
    });
  }
  const health = await ask(after(), "/health");
  expect(health.status).toBe(503);
  expect(health.body).toMatchObject({ problems: [expect.stringContaining(reason)] });
  expect((await ask(before(), `/v1/users/${user}/kv/a`)).body).toBe(1);
});

it.each([
  [{ JURISDICTION: "moon" }, "JURISDICTION is 'moon': it is one of eu, fedramp, us"],
  [{ FACTS_1: env.DB }, "FACTS_1 is bound, and FACTS_0 is not"],
])("refuses bindings that cannot be right, and notes nothing of them", async (bindings, reason) => {
  const wrong = bound(bindings);
  expect((await write(wrong, newUser())).body).toMatchObject({
    error: { code: "deployment_changed", message: expect.stringContaining(reason) },
  });
  expect((await ask(wrong, "/health")).body).toMatchObject({ problems: [expect.stringContaining(reason)] });
  expect(await env.DB.prepare("SELECT * FROM deployment").first()).toBeNull();
});

it("asks who calls before it says what is wrong with it", async () => {
  const answer = await createApp(portsOf).request("/v1/users/a/kv/a", {}, bound({ JURISDICTION: "moon" }));
  expect(answer.status).toBe(401);
});

it("does not stop what is in objects for a D1 that does not answer", async () => {
  const first = () => Promise.reject(new Error("D1_ERROR: the network went away"));
  // The list of revoked tokens is read: without it, an isolate that begins lets nobody in.
  const prepare = (query: string) => (query.includes("deployment") ? { first } : env.DB.prepare(query));
  const batch: D1Database["batch"] = (statements) => env.DB.batch(statements);
  const answer = await write(bound({ DB: { prepare, batch } }), newUser());
  expect(answer.status).toBe(200);
});

it("carries on no work of the cron, and tells no object anything", async () => {
  await write(none(), newUser());
  await env.DB.exec("DELETE FROM jobs");
  const worker = createWorker(portsOf);
  const context = createExecutionContext();
  await worker.scheduled(createScheduledController(), bound({ JURISDICTION: "moon" }));
  await waitOnExecutionContext(context);
  expect(await env.DB.prepare("SELECT * FROM jobs").first()).toBeNull();
});

it("keeps the data of a tenant that is older than the mark: it has one database and no jurisdiction", async () => {
  const migration = env.MIGRATIONS.find(({ name }) => name.startsWith("0008"));
  await env.DB.exec("INSERT INTO memory_writes (user_hash, seq) VALUES ('h', 1)");
  await env.DB.exec("DROP TABLE deployment");
  for (const query of migration?.queries ?? []) await env.DB.prepare(query).run();
  expect(await env.DB.prepare("SELECT * FROM deployment").first()).toEqual({
    one: 1,
    shards: 1,
    shard: 0,
    jurisdiction: "",
  });
});
