// An object's state survives its eviction, and its alarm does the work that is due.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import type { UserMemory } from "../../../durable-objects/user-memory.ts";
import { hash32 } from "../../../src/domain/hash.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const count = async (user: string, table: string): Promise<number> =>
  runInDurableObject(await objectOf(user), (_, { storage }) =>
    Number(storage.sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n),
  );
const shardsWith = async (key: string) => {
  const { shardOf } = await import("../../../src/domain/ids.ts");
  return env.PROMPT_CACHE.getByName(`shard-${await shardOf(key, 64)}`);
};

it("keeps threads, entries, memories and their vectors through an eviction", async () => {
  const user = newUser();
  const thread = (await call(`/v1/users/${user}/threads`, { json: { title: "kept" } })).body;
  const messages = [{ role: "user", content: "I grow tomatoes" }];
  await call(`/v1/threads/${thread.id}/messages`, { json: { messages } });
  await call(`/v1/users/${user}/kv/k`, { method: "PUT", json: { a: 1 } });
  await call(`/v1/users/${user}/memories`, { json: { text: "the garden faces south" } });
  await runDurableObjectAlarm(await objectOf(user));
  // A score falls with the time that goes by.
  const query = { query: "vegetables in the yard", weights: { recency: 0 } };
  const recall = async () =>
    (await call(`/v1/users/${user}/recall`, { json: query })).text.replaceAll(
      /"ms":\d+|"recallId":"[^"]+"/g,
      "",
    );
  const before = await recall();
  await evictDurableObject(await objectOf(user));
  expect(await recall()).toBe(before);
  expect((await call(`/v1/threads/${thread.id}`)).body).toMatchObject({
    title: "kept",
    length: 1,
    userId: user,
  });
  expect((await call(`/v1/threads/${thread.id}/messages`)).body.items[0].message).toEqual(messages[0]);
  expect((await call(`/v1/users/${user}/kv/k`)).body).toEqual({ a: 1 });
});

it("keeps registry entries through an eviction", async () => {
  // Tests of other files share the shards: an object that somebody still waits for is not evicted.
  let evicted: string | undefined;
  for (let i = 0; i < 8 && evicted === undefined; i++) {
    const key = crypto.randomUUID();
    await call(`/v1/cache/${key}`, { method: "PUT", json: 1 });
    const isEvicted = evictDurableObject(await shardsWith(`*/${key}`)).then(
      () => true,
      (error: Error) => {
        if (!error.message.includes("active references")) throw error;
        return false;
      },
    );
    if (await isEvicted) evicted = key;
  }
  expect((await call(`/v1/cache/${evicted}`)).body).toBe(1);
});

it("sweeps expired entries with the alarm, and only those", async () => {
  const user = newUser();
  for (let i = 0; i < 5; i++)
    await call(`/v1/users/${user}/kv/gone-${i}?ttlMs=1000`, { method: "PUT", json: i });
  await call(`/v1/users/${user}/kv/later?ttlMs=600000`, { method: "PUT", json: 1 });
  await call(`/v1/users/${user}/kv/kept`, { method: "PUT", json: 1 });
  control.clockAhead = 120_000;
  expect(await runDurableObjectAlarm(await objectOf(user))).toBe(true);
  expect(await count(user, "entries")).toBe(2);
  control.clockAhead = 1_200_000;
  expect(await runDurableObjectAlarm(await objectOf(user))).toBe(true);
  expect(await count(user, "entries")).toBe(1);
  expect(await runDurableObjectAlarm(await objectOf(user))).toBe(false);
});

it("sweeps expired registry entries with the shard's alarm", async () => {
  const key = crypto.randomUUID();
  await call(`/v1/cache/${key}?ttlSeconds=1`, { method: "PUT", json: 1 });
  const shard = await shardsWith(`*/${key}`);
  control.clockAhead = 120_000;
  await runDurableObjectAlarm(shard);
  const left = await runInDurableObject(shard, (_, { storage }) =>
    storage.sql.exec("SELECT key FROM entries WHERE key = ?", `*/${key}`).toArray(),
  );
  expect(left).toEqual([]);
});

it("embeds messages soon after they are appended, a bounded number an alarm", async () => {
  const user = newUser();
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  const messages = Array.from({ length: 150 }, (_, i) => ({
    role: "user",
    content: `about the number ${i}`,
  }));
  await call(`/v1/threads/${id}/messages`, { json: { messages } });
  const pending = async () =>
    (await call(`/v1/users/${user}/recall`, { json: { query: "number" } })).body.freshness.pending;
  expect(await pending()).toBe(150);
  await runDurableObjectAlarm(await objectOf(user));
  expect(await pending()).toBe(50);
  await runDurableObjectAlarm(await objectOf(user));
  expect(await pending()).toBe(0);
  // The catalogue is written within an hour; then all is quiet.
  control.clockAhead = 61 * 60_000;
  await runDurableObjectAlarm(await objectOf(user));
  expect(await runDurableObjectAlarm(await objectOf(user))).toBe(false);
});

it("embeds appended messages at once while the model is in memory, and the alarm what is long", async () => {
  const user = newUser();
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  const recall = async () =>
    (await call(`/v1/users/${user}/recall`, { json: { query: "a ship in the port" } })).body;
  // Loads the model.
  await recall();
  await runDurableObjectAlarm(await objectOf(user));
  control.embedsNow = true;
  const append = async (...texts: string[]) => {
    const messages = texts.map((content) => ({ role: "user", content }));
    expect((await call(`/v1/threads/${id}/messages`, { json: { messages } })).status).toBe(201);
  };
  await append("the boat is in the harbour", "I like tea");
  expect(await count(user, "unembedded")).toBe(0);
  const at = await runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
  // The note of the thread in D1.
  expect(at).toBeGreaterThan(clock() + 30_000);
  const { hits, freshness } = await recall();
  expect(freshness).toEqual({ indexed: 2, pending: 0 });
  expect(hits[0]).toMatchObject({ text: "the boat is in the harbour", why: { vector: 1 } });
  await append("tea ".repeat(4_000), "milk ".repeat(2_000), "the ferry leaves at nine");
  expect(await count(user, "unembedded")).toBe(2);
  await runDurableObjectAlarm(await objectOf(user));
  expect((await recall()).freshness).toEqual({ indexed: 5, pending: 0 });
  expect(await count(user, "vectors")).toBe(5);
});

it("leaves nothing of a deleted thread behind, its pieces and vectors included", async () => {
  const user = newUser();
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  const messages = [
    { role: "user", content: "x".repeat(3 * 1024 * 1024) },
    { role: "user", content: "short" },
  ];
  await call(`/v1/threads/${id}/messages`, { json: { messages } });
  await runDurableObjectAlarm(await objectOf(user));
  expect(await count(user, "message_parts")).toBe(3);
  await call(`/v1/threads/${id}`, { method: "DELETE" });
  for (const table of ["threads", "messages", "message_parts", "vectors", "unembedded", "words"])
    expect(await count(user, table), table).toBe(0);
});

it("does not give a new thread the messages of a deleted one", async () => {
  const user = newUser();
  const first = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  await call(`/v1/threads/${first.id}/messages`, { json: { messages: [{ role: "user", content: "old" }] } });
  await call(`/v1/threads/${first.id}`, { method: "DELETE" });
  const second = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  expect((await call(`/v1/threads/${second.id}/messages`)).body.items).toEqual([]);
});

it("embeds again what was embedded by another model", async () => {
  const user = newUser();
  await call(`/v1/users/${user}/memories`, { json: { text: "the boat is in the harbour" } });
  await runInDurableObject(await objectOf(user), (_, { storage }) => {
    storage.sql.exec("UPDATE models SET name = 'an older one'");
  });
  await evictDurableObject(await objectOf(user));
  const recall = async () => (await call(`/v1/users/${user}/recall`, { json: { query: "ship" } })).body;
  expect(await recall()).toMatchObject({ hits: [], freshness: { pending: 1 } });
  expect(await count(user, "vectors")).toBe(1);
  await runDurableObjectAlarm(await objectOf(user));
  expect((await recall()).hits).toMatchObject([{ why: { vector: 1 } }]);
});

it("sets the alarm for what is to be done: for messages to embed, for entries that expire", async () => {
  const user = newUser();
  const alarm = async () => runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
  await call(`/v1/users/${user}/kv/k?ttlMs=3600000`, { method: "PUT", json: 1 });
  // The catalogue of users waits for a minute, or for the first thread.
  expect(await alarm()).toBeLessThanOrEqual(clock() + 60_000);
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  await runDurableObjectAlarm(await objectOf(user));
  const late = await alarm();
  expect(late).toBeGreaterThan(clock() + 3_500_000);
  await call(`/v1/threads/${id}/messages`, { json: { messages: [{ role: "user", content: "embed me" }] } });
  const soon = await alarm();
  expect(soon).toBeLessThanOrEqual(clock() + 1_000);
  await call(`/v1/users/${user}/kv/k2?ttlMs=3600000`, { method: "PUT", json: 1 });
  expect(await alarm()).toBe(soon);
  await evictDurableObject(await objectOf(user));
  await call(`/v1/users/${user}/kv/k3?ttlMs=1800000`, { method: "PUT", json: 1 });
  expect(await alarm()).toBe(soon);
});

it("sets the alarm for a memory that the embedder failed on", async () => {
  const user = newUser();
  control.embedder = "fail";
  await call(`/v1/users/${user}/memories`, { json: { text: "later" } });
  const alarm = await runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
  expect(alarm).toBeLessThanOrEqual(clock());
});

it("stores nothing of an append of which one message cannot be stored, and keeps its alarm and index right", async () => {
  const user = newUser();
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  await runDurableObjectAlarm(await objectOf(user));
  const body = (text: string) => new TextEncoder().encode(text);
  const good = body('{"role":"user","content":"the first is fine"}');
  const failed = await runInDurableObject(await objectOf(user), (instance: UserMemory) => {
    try {
      instance.appendMessages(id, { bodies: [good, body("{")] });
      return false;
    } catch {
      return true;
    }
  });
  expect(failed).toBe(true);
  expect((await call(`/v1/threads/${id}`)).body.length).toBe(0);
  for (const table of ["messages", "words", "unembedded"]) expect(await count(user, table), table).toBe(0);
  const recall = async () => (await call(`/v1/users/${user}/recall`, { json: { query: "fine" } })).body;
  expect((await recall()).freshness).toEqual({ indexed: 0, pending: 0 });
  await call(`/v1/threads/${id}/messages`, {
    json: { messages: [{ role: "user", content: "this one is fine" }] },
  });
  const alarm = await runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
  expect(alarm).toBeLessThanOrEqual(clock() + 1_000);
  expect((await recall()).freshness).toEqual({ indexed: 1, pending: 1 });
});

it("drops a vector that comes for a document which has gone meanwhile", async () => {
  const user = newUser();
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  await call(`/v1/threads/${id}/messages`, { json: { messages: [{ role: "user", content: "soon gone" }] } });
  const held = Promise.withResolvers<void>();
  control.duringEmbed = () => held.promise;
  const alarm = runDurableObjectAlarm(await objectOf(user));
  await scheduler.wait(10);
  control.duringEmbed = async () => {};
  await call(`/v1/threads/${id}`, { method: "DELETE" });
  held.resolve();
  await alarm;
  expect(await count(user, "vectors")).toBe(0);
});

it("forgets the answers of one minute with one alarm", async () => {
  const user = newUser();
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  // Each object sweeps at its own second of the minute.
  const sweeps = hash32((await objectOf(user)).id.toString()) % 60_000;
  const begun = Math.ceil(clock() / 60_000) * 60_000 + sweeps;
  for (let second = 0; second < 5; second++) {
    control.clockAt = begun + second * 1_000;
    await call(`/v1/threads/${id}/messages`, {
      json: { messages: [] },
      headers: { "Idempotency-Key": `${second}` },
    });
  }
  // The catalogue is written within an hour.
  control.clockAt = begun + 61 * 60_000;
  await runDurableObjectAlarm(await objectOf(user));
  const alarm = await runInDurableObject(await objectOf(user), (_, { storage }) => storage.getAlarm());
  control.clockAt = alarm;
  expect(alarm).toBeGreaterThan(begun + 24 * 3_600_000 + 4_000);
  await runDurableObjectAlarm(await objectOf(user));
  expect(await count(user, "answers")).toBe(0);
  expect(await runDurableObjectAlarm(await objectOf(user))).toBe(false);
});
