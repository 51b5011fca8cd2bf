// What survives the eviction of an object, and what its alarm does.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../../src/ids.ts";
import { call, newUser } from "../call.ts";
import { control, restore } from "../doubles/control.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const count = async (user: string, table: string): Promise<number> =>
  runInDurableObject(await objectOf(user), (_, { storage }) =>
    Number(storage.sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n),
  );
const shardsWith = async (key: string) => {
  const { shardOf } = await import("../../src/ids.ts");
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
  const recall = async () =>
    (await call(`/v1/users/${user}/recall`, { json: { query: "vegetables in the yard" } })).text;
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
  const key = crypto.randomUUID();
  await call(`/v1/cache/${key}`, { method: "PUT", json: 1 });
  await evictDurableObject(await shardsWith(`*/${key}`));
  expect((await call(`/v1/cache/${key}`)).body).toBe(1);
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
  // The catalogue is written within a minute; then all is quiet.
  control.clockAhead = 61_000;
  await runDurableObjectAlarm(await objectOf(user));
  expect(await runDurableObjectAlarm(await objectOf(user))).toBe(false);
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
  expect(await count(user, "message_pieces")).toBe(3);
  await call(`/v1/threads/${id}`, { method: "DELETE" });
  for (const table of [
    "threads",
    "messages",
    "message_pieces",
    "documents",
    "vectors",
    "unembedded",
    "words",
  ])
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
    storage.sql.exec("UPDATE vectors SET model = 'an older one'");
  });
  await evictDurableObject(await objectOf(user));
  const recall = async () => (await call(`/v1/users/${user}/recall`, { json: { query: "ship" } })).body;
  expect(await recall()).toMatchObject({ hits: [], freshness: { pending: 1 } });
  await runDurableObjectAlarm(await objectOf(user));
  expect((await recall()).hits).toMatchObject([{ why: { vector: 1 } }]);
});
