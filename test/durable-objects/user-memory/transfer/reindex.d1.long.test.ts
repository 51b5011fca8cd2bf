// An index that was lost, or made with another model, comes back from D1 while recall goes on.
import {
  createExecutionContext,
  createScheduledController,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { UserMemory } from "../../../../durable-objects/user-memory.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token } from "../../../call.ts";
import { databaseOf } from "../../../databases.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { bindVectorize } from "../../../doubles/ports.ts";
import { VectorizeDouble } from "../../../doubles/vectorize.ts";
import worker from "../../../worker.ts";
import { threadOf } from "../../../thread-calls.ts";

const vectorize = new VectorizeDouble(256, ["user", "kind", "scope", "model"]);
bindVectorize(vectorize);

beforeEach(() => {
  // Ahead of the real clock, so that no alarm rings but when the test rings it.
  control.clockAt = clock() + 24 * 3_600_000;
});
afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const remember = async (user: string, memory: object) =>
  (await call(`/v1/users/${user}/memories`, { json: memory })).body;
const recalled = async (user: string, query: string) =>
  (await call(`/v1/users/${user}/recall`, { json: { query } })).body;
const texts = async (user: string, query: string): Promise<string[]> =>
  (await recalled(user, query)).hits.map(({ text }: { text: string }) => text);
/** Lets alarms ring until none is set any more. */
async function settle(user: string): Promise<void> {
  const object = await objectOf(user);
  for (let i = 0; i < 100; i++) {
    control.clockAt = (control.clockAt ?? 0) + 60_000;
    if (!(await runDurableObjectAlarm(object))) return;
  }
  throw new Error("alarms go on for ever");
}
const vectorsOf = async (user: string): Promise<string[]> => {
  const hash = await userHash(user);
  return vectorize.ids().filter((id) => id.startsWith(hash));
};
const sqlOf = async (user: string, ...statements: string[]) =>
  runInDurableObject(await objectOf(user), (_: UserMemory, { storage }) => {
    for (const statement of statements) storage.sql.exec(statement);
  });
/** The object forgets all that it knows of memories, as if its storage had been lost. */
async function loseIndex(user: string): Promise<void> {
  await sqlOf(
    user,
    "DELETE FROM memories",
    "DELETE FROM words",
    "DELETE FROM vectors",
    "DELETE FROM unembedded",
  );
  await evictDurableObject(await objectOf(user));
}

it("rebuilds rows, words, vectors and the large index from D1", async () => {
  const user = newUser();
  const id = (await remember(user, { subject: user, predicate: "lives in", object: "Porto" })).id;
  await remember(user, { subject: user, predicate: "lives in", object: "Lisbon" });
  for (let i = 0; i < 5; i++) await remember(user, { text: `the heron number ${i} stands in the lake` });
  await settle(user);
  const held = await vectorsOf(user);
  expect(held).toHaveLength(7);
  await loseIndex(user);
  expect(await texts(user, "heron")).toEqual([]);
  const begun = await call(`/v1/users/${user}/reindex`, { method: "POST" });
  expect(begun.status).toBe(202);
  expect(begun.body).toMatchObject({ status: "running", versions: 0 });
  await settle(user);
  expect((await call(`/v1/users/${user}/reindex`)).body).toMatchObject({
    status: "done",
    versions: 7,
    pending: 0,
  });
  expect((await texts(user, "heron")).filter((text) => text.includes("heron"))).toHaveLength(5);
  expect(await texts(user, "Lisbon")).toContain(`${user} lives in Lisbon`);
  // The next version of the fact is decided on what came back.
  const moved = await remember(user, { subject: user, predicate: "lives in", object: "Faro" });
  expect(moved.id).toBe(id);
  const history = (await call(`/v1/users/${user}/memories/${id}/history`)).body.items;
  expect(history.map(({ object }: { object: string }) => object)).toEqual(["Faro", "Lisbon", "Porto"]);
  await settle(user);
  expect(await vectorsOf(user)).toHaveLength(8);
  expect(await vectorsOf(user)).toEqual(expect.arrayContaining(held));
});

it("takes away what D1 does not have", async () => {
  const user = newUser();
  await remember(user, { text: "the kettle is blue" });
  const { id } = await remember(user, { text: "a memory that only the object has" });
  await (await databaseOf(user)).prepare("DELETE FROM memories WHERE id = ?").bind(id).run();
  expect(await texts(user, "kettle")).toHaveLength(2);
  await call(`/v1/users/${user}/reindex`, { method: "POST" });
  await settle(user);
  expect(await texts(user, "kettle")).toEqual(["the kettle is blue"]);
});

it("goes on where it was after an outage and an eviction", async () => {
  const user = newUser();
  const memories = Array.from({ length: 450 }, (_, i) => ({ text: `note ${i} about herons` }));
  await call(`/v1/users/${user}/memories/batch`, { json: { memories } });
  await loseIndex(user);
  await call(`/v1/users/${user}/reindex`, { method: "POST" });
  control.d1Reads = "fail";
  await runDurableObjectAlarm(await objectOf(user));
  await evictDurableObject(await objectOf(user));
  expect((await call(`/v1/users/${user}/reindex`)).body).toMatchObject({ status: "running", versions: 0 });
  control.d1Reads = "ok";
  // A slice an alarm: other calls run between.
  await runDurableObjectAlarm(await objectOf(user));
  const { status, versions } = (await call(`/v1/users/${user}/reindex`)).body;
  expect(status).toBe("running");
  expect(versions).toBeGreaterThan(0);
  expect(versions).toBeLessThanOrEqual(100);
  await settle(user);
  expect((await call(`/v1/users/${user}/reindex`)).body).toMatchObject({
    status: "done",
    versions: 450,
    pending: 0,
  });
  expect((await recalled(user, "herons")).freshness).toEqual({ indexed: 450, pending: 0 });
});

it("does not bring back what is forgotten while D1 answers", async () => {
  const user = newUser();
  const { id } = await remember(user, { text: "the secret about herons" });
  await remember(user, { text: "the lake of herons" });
  await call(`/v1/users/${user}/reindex`, { method: "POST" });
  const [read, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  control.duringD1Read = async () => {
    read.resolve();
    await answer.promise;
  };
  const rang = runDurableObjectAlarm(await objectOf(user));
  await read.promise;
  const forgotten = call(`/v1/users/${user}/memories/${id}`, { method: "DELETE" });
  await scheduler.wait(5);
  control.duringD1Read = async () => {};
  answer.resolve();
  await rang;
  expect(await texts(user, "herons")).toEqual(["the lake of herons"]);
  expect((await forgotten).status).toBe(204);
  await settle(user);
  expect(await texts(user, "herons")).toEqual(["the lake of herons"]);
});

it("searches vectors of the former model until each has one of the new model", async () => {
  const user = newUser();
  // The Worker's embedder is down, so it is the object that embeds, with the former model.
  [control.formerModel, control.embedder] = [true, "fail"];
  await remember(user, { text: "my sister lives in Porto" });
  await settle(user);
  [control.formerModel, control.embedder] = [false, "ok"];
  await evictDurableObject(await objectOf(user));
  const during = await recalled(user, "the home of a sibling");
  expect(during.hits).toMatchObject([{ why: { vector: 1 } }]);
  expect(during.freshness).toEqual({ indexed: 1, pending: 1 });
  await settle(user);
  const after = await recalled(user, "the home of a sibling");
  expect(after.hits).toMatchObject([{ why: { vector: 1 } }]);
  expect(after.freshness).toEqual({ indexed: 1, pending: 0 });
});

it("makes vectors anew at the first recall where nothing has their model any more", async () => {
  const user = newUser();
  await remember(user, { text: "my sister lives in Porto" });
  await threadOf(user, ["we sailed to the island of herons"]);
  await settle(user);
  const object = await objectOf(user);
  const stored = () =>
    runInDurableObject(object, (_, { storage: { sql } }) => ({
      models: sql.exec("SELECT name FROM models").toArray(),
      vectors: sql.exec("SELECT n, hex(vector) AS vector FROM vectors ORDER BY n").toArray(),
    }));
  const fresh = await stored();
  // As a version before left it: another name of the space, other numbers.
  await runInDurableObject(object, (_, { storage: { sql } }) => {
    sql.exec("UPDATE models SET name = 'static-en-256'");
    sql.exec("UPDATE index_state SET model = replace(model, 'static2-en-256', 'static-en-256')");
    sql.exec("UPDATE vectors SET vector = CAST(substr(vector, 1, 4) || randomblob(256) AS BLOB)");
  });
  await evictDurableObject(object);
  const during = await recalled(user, "the home of a sibling of Porto");
  expect(during.hits[0]).toMatchObject({ text: "my sister lives in Porto", why: { lexical: 1 } });
  expect(during.hits[0].why).not.toHaveProperty("vector");
  expect(during.freshness).toEqual({ indexed: 2, pending: 2 });
  await settle(user);
  const after = await recalled(user, "the home of a sibling");
  expect(after.hits[0]).toMatchObject({ text: "my sister lives in Porto", why: { vector: 1 } });
  expect(after.freshness).toEqual({ indexed: 2, pending: 0 });
  const { vectors, models } = await stored();
  expect(vectors).toEqual(fresh.vectors);
  expect(models).toEqual(fresh.models);
});

it("reaches users who have messages and no memories", async () => {
  const user = newUser();
  await threadOf(user, ["about herons"]);
  await call("/v1/reindex", { method: "POST" });
  await expect.poll(async () => (await call(`/v1/users/${user}/reindex`)).body.startedAt).toBeGreaterThan(0);
});

it("is told to every user of the tenant, by the cron when the index is another than before", async () => {
  const users = [newUser(), newUser()];
  for (const user of users) {
    await remember(user, { text: "about herons" });
    await loseIndex(user);
  }
  const cron = async () => {
    const context = createExecutionContext();
    await worker.scheduled(createScheduledController(), env);
    await waitOnExecutionContext(context);
  };
  const state = async () => (await call("/v1/reindex")).body;
  await cron();
  await env.DB.prepare("UPDATE jobs SET detail = 'another index'").run();
  // Of a pass before it, which did not end.
  await env.DB.prepare(
    "INSERT INTO jobs (name, detail, started_at) VALUES ('reindex 1 ', '[\"h\"]', 1)",
  ).run();
  await cron();
  expect(await state()).toMatchObject({ status: "done" });
  expect(await env.DB.prepare("SELECT name FROM jobs WHERE name LIKE 'reindex %'").first()).toBeNull();
  for (const user of users) {
    await settle(user);
    expect(await texts(user, "herons")).toEqual(["about herons"]);
    await loseIndex(user);
  }
  // Nothing is new: the next run leaves the indexes alone.
  const before = await state();
  await cron();
  expect(await state()).toEqual(before);
  const asked = await call("/v1/reindex", { method: "POST" });
  expect(asked.status).toBe(202);
  for (const user of users) {
    await expect
      .poll(async () => (await call(`/v1/users/${user}/reindex`)).body.startedAt)
      .toBeGreaterThan(before.startedAt);
    await settle(user);
    expect(await texts(user, "herons")).toEqual(["about herons"]);
  }
  expect((await call("/v1/reindex", { token: await token("alice", ["read", "write"]) })).status).toBe(403);
  const admin = await token("alice", ["read", "write", "admin"]);
  for (const method of ["GET", "POST"])
    expect((await call("/v1/reindex", { method, token: admin })).status).toBe(403);
});
