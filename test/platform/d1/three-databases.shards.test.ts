// Users over three databases: what one of them does not answer, and one that is bound as another.
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { type Bindings, portsOf } from "../../../src/platform/bindings.ts";
import { ofUser } from "../../../src/platform/d1/shards.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser, pagesOf, token } from "../../call.ts";
import { databaseOf, shards } from "../../databases.ts";
import { restore } from "../../doubles/control.ts";
import { realPorts } from "../../doubles/ports.ts";
import { erased, eraseUser, rowsOf } from "../../erasure-calls.ts";

afterEach(restore);

const [first, second, third] = shards;
if (first === undefined || second === undefined || third === undefined) throw new Error("three shards");

/** A user whose memories are in this database. */
async function userIn(database: D1Database): Promise<string> {
  for (;;) {
    const user = newUser();
    if ((await databaseOf(user)) === database) return user;
  }
}
async function ask(bindings: object, path: string, json?: unknown) {
  const response = await createApp(realPorts).request(
    path,
    {
      headers: { Authorization: `Bearer ${await token("*")}`, "Content-Type": "application/json" },
      ...(json !== undefined && { method: "POST", body: JSON.stringify(json) }),
    },
    { ...env, ...bindings },
  );
  return { status: response.status, body: await response.json<Record<string, unknown>>() };
}
const countIn = (database: D1Database, table: string, user: string) =>
  database.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE user_id = ?`).bind(user).first<number>("n");

it("keeps each user's memories and threads in one database, and none in DB", async () => {
  for (const own of shards) {
    const user = await userIn(own);
    await call(`/v1/users/${user}/memories`, { json: { text: "the heron stands in the lake" } });
    await call(`/v1/users/${user}/threads`, { json: { title: "herons" } });
    for (const database of [env.DB, ...shards]) {
      expect(await countIn(database, "memories", user)).toBe(database === own ? 1 : 0);
      expect(await countIn(database, "threads", user)).toBe(database === own ? 1 : 0);
    }
  }
});

it("lists the threads of all users over all databases, newest first, page by page", async () => {
  const agent = newUser();
  const made: string[] = [];
  for (let i = 0; i < 9; i++) {
    const user = await userIn(shards[(i * 2) % 3] ?? env.DB);
    made.push((await call(`/v1/users/${user}/threads`, { json: { agent } })).body.id);
  }
  const found: string[] = [];
  for await (const { items } of pagesOf(`/v1/threads?agent=${agent}&limit=2`))
    found.push(...items.map(({ id }: { id: string }) => id));
  expect(found).toHaveLength(9);
  expect(new Set(found)).toEqual(new Set(made));
});

it("a database that is down fails its own users and the lists of all, and nobody else", async () => {
  const down = () => Promise.reject(new Error("D1_ERROR: the network went away"));
  const statement = { bind: () => statement, first: down, all: down, raw: down, run: down };
  const failing = { batch: down, prepare: () => statement };
  const bindings = { FACTS_1: failing };
  for (const database of shards) {
    const user = await userIn(database);
    const { status } = await ask(bindings, `/v1/users/${user}/memories`);
    expect(status).toBe(database === second ? 503 : 200);
    const owner = await userHash(user);
    const own = await ask(bindings, `/v1/users/${user}/kv`);
    expect([owner, own.status]).toEqual([owner, 200]);
  }
  const all = await ask(bindings, "/v1/threads");
  expect(all.status).toBe(503);
  expect(all.body).toMatchObject({ error: { code: "storage_unavailable" } });
  const health = await ask(bindings, "/health");
  expect(health.status).toBe(503);
  expect(health.body).toMatchObject({ problems: [expect.stringContaining("D1 does not answer")] });
});

it.each([
  ["fewer shards", { FACTS_2: undefined }, "spread over 3 database(s), and 2 are bound"],
  ["more shards", { FACTS_3: third }, "spread over 3 database(s), and 4 are bound"],
  ["no shards", { FACTS_0: undefined, FACTS_1: undefined, FACTS_2: undefined }, "spread over 3"],
  ["a gap", { FACTS_1: undefined }, "FACTS_2 is bound, and FACTS_1 is not"],
])("refuses all calls with %s", async (_, change, reason) => {
  const user = await userIn(first);
  expect((await call(`/v1/users/${user}/memories`)).status).toBe(200);
  const bindings: Record<string, unknown> & Bindings = { ...env, ...change };
  for (const [name, value] of Object.entries(change)) if (value === undefined) delete bindings[name];
  const app = createApp(realPorts);
  const headers = { Authorization: `Bearer ${await token("*")}` };
  const answer = await app.request(`/v1/users/${user}/memories`, { headers }, bindings);
  expect(await answer.json()).toMatchObject({
    error: { code: "deployment_changed", message: expect.stringContaining(reason) },
  });
  const health = await app.request("/health", {}, bindings);
  expect(await health.json()).toMatchObject({ problems: [expect.stringContaining(reason)] });
});

it("does not read or write in a database that is bound in another's place", async () => {
  const swapped = { FACTS_0: second, FACTS_1: first };
  // Every shard has been used by then.
  for (const database of shards) await call(`/v1/users/${await userIn(database)}/memories`);
  const user = await userIn(first);
  expect((await ask(swapped, `/v1/users/${user}/memories`)).status).toBe(503);
  const { status, body } = await ask(swapped, "/health");
  expect(status).toBe(503);
  expect(body).toMatchObject({ problems: [expect.stringContaining("bound as shard 0 that was shard 1")] });
  expect((await ask(swapped, `/v1/users/${await userIn(third)}/memories`)).status).toBe(200);
});

it("lists all users over all databases, in the order of their hashes, page by page", async () => {
  const users = await Promise.all([...shards, ...shards].map(userIn));
  for (const user of users) await call(`/v1/users/${user}/memories`, { json: { text: "a note" } });
  const found: { userId: string; userHash: string }[] = [];
  for await (const { items } of pagesOf("/v1/users?limit=2")) found.push(...items);
  const hashes = found.map(({ userHash: hash }) => hash);
  expect(hashes).toEqual([...new Set(hashes)].toSorted());
  for (const user of users) expect(found.map(({ userId }) => userId)).toContain(user);
});

it("notes an erasure with its fence in the user's database, and the receipt's key in DB", async () => {
  for (const own of shards) {
    const user = await userIn(own);
    await call(`/v1/users/${user}/memories`, { json: { text: "a note" } });
    const { id } = (await eraseUser(user)).body;
    const fenced = "SELECT epoch FROM memory_writes WHERE user_hash = ?";
    expect(
      await own
        .prepare(fenced)
        .bind(await userHash(user))
        .first("epoch"),
    ).toBeGreaterThan(0);
    expect((await erased(user, id)).receipt).toBeTruthy();
    for (const database of [env.DB, ...shards]) {
      const noted = database.prepare("SELECT COUNT(*) AS n FROM erasures WHERE id = ?").bind(id);
      expect(await noted.first("n")).toBe(database === own ? 1 : 0);
      const keys = await database.prepare("SELECT COUNT(*) AS n FROM receipt_keys").first("n");
      expect(keys).toBe(database === env.DB ? 1 : 0);
    }
    expect(await rowsOf(user)).toEqual({ memories: 0, threads: 0, users: 0 });
  }
});

it("tells every owner of every shard to rebuild its index", async () => {
  const users = await Promise.all(shards.map(userIn));
  for (const user of users) await call(`/v1/users/${user}/memories`, { json: { text: "a note" } });
  const owners = await portsOf(env).records.owners({ limit: 1000 });
  expect(owners).toEqual(owners.toSorted());
  for (const user of users) expect(owners).toContain(await userHash(user));
  expect(ofUser([0], await userHash(users[0] ?? ""))).toBe(0);
});
