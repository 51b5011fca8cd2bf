// These tests hit the limits of D1 and SQLite, so that users do not: 100 parameters and 100 KB a statement, 2 MB a value or row.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const rows = async (user: string) => {
  const query = env.DB.prepare("SELECT COUNT(*) AS n FROM memories WHERE user_hash = ?");
  const inD1 = await query.bind(await userHash(user)).first<{ n: number }>();
  const inObject = await runInDurableObject(
    await objectOf(user),
    (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM memories").one().n,
  );
  return { d1: inD1?.n, object: inObject };
};
const batch = (user: string, memories: object[], headers: Record<string, string> = {}) =>
  call(`/v1/users/${user}/memories/batch`, { json: { memories }, headers });
const numbered = (count: number, of: (i: number) => object) => Array.from({ length: count }, (_, i) => of(i));

it("takes a filter of 1,000 values in list, recall and forget", async () => {
  const user = newUser();
  await batch(
    user,
    numbered(20, (i) => ({ text: `memory ${i}`, scope: `scope ${i}`, externalId: `id ${i}` })),
  );
  const scope = numbered(1000, (i) => ({ name: `scope ${i + 10}` })).map((one) => Object.values(one)[0]);
  const filter = { scope, externalId: scope.map((_, i) => `id ${i}`) };
  const recalled = await call(`/v1/users/${user}/recall`, { json: { query: "memory", k: 100, filter } });
  expect(recalled.body.hits).toHaveLength(10);
  const query = scope.slice(0, 600).map((one) => `scope=${encodeURIComponent(one)}`);
  const listed = await call(`/v1/users/${user}/memories?${query.join("&")}`);
  expect(listed.body.items).toHaveLength(10);
  const forgotten = await call(`/v1/users/${user}/memories/forget`, { json: { filter } });
  expect(forgotten.body.count).toBe(10);
  expect(await rows(user)).toEqual({ d1: 10, object: 10 });
});

it("takes 500 memories of 32 KiB in one atomic step, answers them again, and mends them after a fault", async () => {
  const user = newUser();
  const memories = numbered(500, (i) => ({ text: `${i} `.padEnd(32 * 1024, "word ") }));
  const headers = { "Idempotency-Key": "large" };
  control.d1Writes = "before";
  expect((await batch(user, memories, headers)).status).toBe(503);
  control.d1Writes = "ok";
  control.clockAhead = 60_000;
  await runDurableObjectAlarm(await objectOf(user));
  expect(await rows(user)).toEqual({ d1: 500, object: 500 });
  const again = await batch(user, memories, headers);
  expect(again.status).toBe(200);
  expect(again.body.items).toHaveLength(500);
  expect(again.body.items.every(({ created }: { created: boolean }) => created)).toBe(true);
  expect(again.body.items[499].memory.text).toBe(memories.at(-1) && `499 `.padEnd(32 * 1024, "word "));
  expect(await rows(user)).toEqual({ d1: 500, object: 500 });
});

it("takes what JSON escapes sixfold", async () => {
  const user = newUser();
  const metadata = { a: "\u0001".repeat(1_700) };
  const long = "\u0001".repeat(32 * 1024);
  const made = await batch(
    user,
    numbered(20, (i) => ({ kind: "episode", text: `${i}${long.slice(4)}`, context: long, metadata })),
  );
  expect(made.status).toBe(200);
  const { items } = (await call(`/v1/users/${user}/memories?order=asc&limit=1`)).body;
  expect(items[0]).toMatchObject({ text: `0${long.slice(4)}`, context: long, metadata });
  expect(await rows(user)).toEqual({ d1: 20, object: 20 });
});

it("keeps 1,000 versions of one memory, and goes on from them", async () => {
  const user = newUser();
  const heron = { subject: "the heron", predicate: "stands at", cardinality: "one" };
  const fact = (i: number) => ({ ...heron, object: `stone ${i}` });
  const first = await batch(user, numbered(500, fact));
  await batch(
    user,
    numbered(499, (i) => fact(i + 500)),
  );
  const { id } = first.body.items[0].memory;
  expect(await rows(user)).toEqual({ d1: 999, object: 999 });
  const patched = await call(`/v1/users/${user}/memories/${id}`, {
    method: "PATCH",
    json: { tags: ["seen"] },
  });
  expect(patched.body).toMatchObject({ object: "stone 998", tags: ["seen"] });
  const { items } = (await call(`/v1/users/${user}/memories/${id}/history?limit=1000`)).body;
  expect(items).toHaveLength(1000);
  const json = { version: items.at(-1).version };
  const restored = await call(`/v1/users/${user}/memories/${id}/restore`, { json });
  expect(restored.body).toMatchObject({ object: "stone 0" });
  expect((await call(`/v1/users/${user}/memories`)).body.items).toHaveLength(1);
  expect((await call(`/v1/users/${user}/memories/${id}`, { method: "DELETE" })).status).toBe(204);
  expect(await rows(user)).toEqual({ d1: 0, object: 0 });
});

it("forgets 2,500 memories by a filter, and 5,000 at once", async () => {
  const user = newUser();
  for (let part = 0; part < 10; part++)
    await batch(
      user,
      numbered(500, (i) => ({ text: `memory ${part} ${i}`, tags: [part % 2 === 0 ? "even" : "odd"] })),
    );
  const filter = { tags: ["even"] };
  const forgotten = await call(`/v1/users/${user}/memories/forget`, { json: { filter } });
  expect(forgotten.body).toMatchObject({ count: 2500 });
  expect(forgotten.body.ids).toHaveLength(1000);
  expect(await rows(user)).toEqual({ d1: 2500, object: 2500 });
  for (let part = 0; part < 5; part++)
    await batch(
      user,
      numbered(500, (i) => ({ text: `more ${part} ${i}` })),
    );
  expect(await rows(user)).toEqual({ d1: 5000, object: 5000 });
  expect((await call(`/v1/users/${user}/memories`, { method: "DELETE" })).status).toBe(204);
  expect(await rows(user)).toEqual({ d1: 0, object: 0 });
  expect((await call(`/v1/users/${user}/recall`, { json: { query: "memory" } })).body.hits).toEqual([]);
});
