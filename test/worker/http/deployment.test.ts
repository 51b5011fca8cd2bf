// A deployment that is bound to other databases or objects than its data were stored with.
import { createExecutionContext, createScheduledController, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { type Bindings, portsOf } from "../../../src/platform/bindings.ts";
import type { Deployment } from "../../../src/platform/d1/deployment.ts";
import { Isolate } from "../../../src/platform/isolate.ts";
import { createWorker } from "../../../src/worker/worker.ts";
import { newUser, token } from "../../call.ts";
import { clock } from "../../doubles/control.ts";
import { realPorts } from "../../doubles/ports.ts";

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
  const response = await createApp(realPorts).request(path, { headers, ...init }, bindings);
  return { status: response.status, body: await response.json<Record<string, unknown>>().catch(() => null) };
}
const write = (bindings: Bindings, user: string) =>
  ask(bindings, `/v1/users/${user}/kv/a`, { method: "PUT", body: "1" });

/** Objects of a platform that has jurisdictions: workerd alone has none. Notes which were asked for. */
function held(asked: string[]): Bindings {
  const within = <T extends Rpc.DurableObjectBranded>(objects: DurableObjectNamespace<T>) =>
    // Nothing here calls the other methods of a namespace.
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
  const answer = await createApp(realPorts).request("/v1/users/a/kv/a", {}, bound({ JURISDICTION: "moon" }));
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
  const worker = createWorker(realPorts);
  const context = createExecutionContext();
  await worker.scheduled(createScheduledController(), bound({ JURISDICTION: "moon" }));
  await waitOnExecutionContext(context);
  expect(await env.DB.prepare("SELECT * FROM jobs").first()).toBeNull();
});

it("is not marked by who is nobody, nor by the cron, but by the first call with a token", async () => {
  const marks = async () => (await env.DB.prepare("SELECT * FROM deployment").all()).results;
  await createApp(realPorts).request("/health", {}, none());
  await createApp(realPorts).request("/v1/users/a/kv/a", {}, none());
  await env.DB.exec("DELETE FROM jobs");
  // That was of another index than now: the second run tells every user.
  await env.DB.exec(
    "INSERT INTO jobs (name, detail, position, done, started_at) VALUES ('reindex', '?', '', 0, 1)",
  );
  await createWorker(realPorts).scheduled(createScheduledController(), none());
  expect(await marks()).toEqual([]);
  expect((await ask(eu(), "/v1/users/a/kv")).status).toBe(200);
  expect(await marks()).toMatchObject([{ shards: 1, shard: 0, jurisdiction: "eu" }]);
});

it("is what one of two isolates said that begin at once, and the other refuses its calls", async () => {
  const uses = [bound(), bound({ JURISDICTION: "eu" })];
  // Each isolate has a binding of its own, and knows nothing of the other. Both have read before either writes.
  let reads = 0;
  let bothRead = () => {};
  const both = new Promise<void>((resolve) => (bothRead = resolve));
  const isolate = (own: Bindings): Deployment => {
    const prepare = (query: string) => {
      const statement = env.DB.prepare(query);
      if (!query.startsWith("SELECT shards")) return statement;
      const first = async () => {
        const found = await statement.first();
        if (++reads === 2) bothRead();
        await both;
        return found;
      };
      return new Proxy(statement, {
        get: (target, name) => (name === "first" ? first : Reflect.get(target, name)),
      });
    };
    const batch: D1Database["batch"] = (statements) => env.DB.batch(statements);
    // Nothing here calls the other methods of a database.
    return portsOf({ ...own, DB: { prepare, batch } as unknown as D1Database }).deployment;
  };
  const [one, other] = uses.map(isolate);
  const refusals = await Promise.all([one?.refusal(clock()), other?.refusal(clock())]);
  expect(refusals.filter((refusal) => refusal === null)).toHaveLength(1);
  expect(refusals.filter((refusal) => refusal !== null)).toEqual([expect.stringContaining("JURISDICTION")]);
});

it("is asked for by /health once in some seconds, whoever asks how often", async () => {
  await write(none(), newUser());
  const app = createApp(realPorts);
  let reads = 0;
  const prepare = (query: string) => {
    if (query.includes("FROM deployment")) reads++;
    return env.DB.prepare(query);
  };
  const wrong = eu();
  const bindings = { ...wrong, DB: { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database };
  for (let i = 0; i < 3; i++) expect((await app.request("/health", {}, bindings)).status).toBe(503);
  expect(reads).toBe(1);
});

it("keeps the cron from dropping anything of a database that is used otherwise", async () => {
  await write(none(), newUser());
  await env.DB.exec("INSERT INTO audit (id, at, action, outcome) VALUES ('old', 1, 'x', 'ok')");
  const old = () => env.DB.prepare("SELECT id FROM audit WHERE id = 'old'").first();
  await createWorker(realPorts).scheduled(createScheduledController(), eu());
  expect(await old()).not.toBeNull();
  await createWorker(realPorts).scheduled(createScheduledController(), none());
  expect(await old()).toBeNull();
});

it("is known to be right by the isolate that has asked, and by no other one", async () => {
  const [first, second] = [new Isolate(), new Isolate()];
  const problemIn = (isolate: Isolate) => portsOf(bound(), isolate).deployment.problem();
  expect(await portsOf(bound(), first).deployment.refusal(0)).toBeNull();
  await env.DB.exec("UPDATE deployment SET jurisdiction = 'eu'");
  expect(await problemIn(first)).toBeNull();
  expect(await problemIn(second)).toContain("the jurisdiction 'eu'");
});
