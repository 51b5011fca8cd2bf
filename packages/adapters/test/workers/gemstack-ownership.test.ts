// Whose thread GemStack goes on with, while D1 fails and recovers. The SDK looks for the owner in the list of all threads.
import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cairnConversations } from "../../src/gemstack.ts";
import { type Cairn, cairn } from "../../../client/src/index.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { continued, OwnershipError, prompted } from "../gemstack-host.ts";
import { call, newUser, token } from "../../../../test/call.ts";
import { control, type D1Write, restore } from "../../../../test/doubles/control.ts";

afterEach(restore);

let memory: Cairn;
beforeEach(async () => {
  memory = cairn({ fetch: exports.default, token: await token("*"), retry: false });
});
const store = () => cairnConversations({ memory });
const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const secretOf = (user: string) => ({ role: "user" as const, content: `of ${user}` });

/** Each begins a thread of a user, with a message that is the user's alone, and answers its id. */
const ways: Record<string, (user: string) => Promise<string>> = {
  "a first prompt": (user) => prompted(store(), user, "support"),
  "a create for a user": async (user) => {
    const id = await store().create("t", { userId: user });
    await store().append(id, [secretOf(user)]);
    return id;
  },
  "a resume": async (user) => {
    const id = await store().resume({ userId: user });
    await store().append(id, [secretOf(user)]);
    return id;
  },
};
/** As above, of a thread that began while D1 was well. */
const copies: Record<string, (user: string, origin: string) => Promise<string>> = {
  "a fork": async (_user, origin) => (await memory.threads.fork(origin)).id,
  "an import": async (user, origin) => {
    const lines = await new Response(await memory.transfer.export(user)).text();
    const how = control.d1Writes;
    control.d1Writes = "ok";
    await memory.threads.delete(origin); // the catalogue has it no more
    control.d1Writes = how;
    await memory.transfer.import(user, lines);
    return origin;
  },
};

/** Alice, with nobody and with herself as the user, gets nothing of Bob's thread; nor does she write there. */
async function refusesAlice(id: string): Promise<void> {
  const alice = newUser();
  for (const given of [{ user: alice }, {}]) {
    const text = `forged by ${alice}`;
    const history = await continued(store(), id, { ...given, text }).catch((error: unknown) => error);
    expect(history).toBeInstanceOf(Error);
  }
  const { items } = await memory.threads.read(id, { limit: 1000 });
  expect(JSON.stringify(items)).not.toContain("forged");
}

describe.each<D1Write>(["before", "after", "late"])("while D1's writes fail (%s)", (how) => {
  it.each(Object.entries(ways))("nobody goes on with another's thread that came of %s", async (_, begin) => {
    const bob = newUser();
    await begin(newUser()); // there are other threads: the list is not empty
    control.d1Writes = how;
    const id = await begin(bob);
    await refusesAlice(id);
    expect(await continued(store(), id, { user: bob })).toEqual([secretOf(bob)]);
    // D1 is back, and Bob's object has not heard of it yet; nor does it when it starts anew.
    control.d1Writes = "ok";
    await refusesAlice(id);
    await evictDurableObject(await objectOf(bob));
    await refusesAlice(id);
    control.clockAhead = 31_000;
    await runDurableObjectAlarm(await objectOf(bob));
    const refusal = continued(store(), id, { user: newUser() });
    await expect(refusal).rejects.toBeInstanceOf(OwnershipError);
    await expect(continued(store(), id, {})).rejects.toBeInstanceOf(OwnershipError);
    expect(await continued(store(), id, { user: bob })).toHaveLength(3);
  });

  it.each(Object.entries(copies))("nobody goes on with another's thread that came of %s", async (_, copy) => {
    const bob = newUser();
    const origin = await prompted(store(), bob, "support");
    control.d1Writes = how;
    const id = await copy(bob, origin);
    await refusesAlice(id);
    control.d1Writes = "ok";
    await refusesAlice(id);
    control.clockAhead = 31_000;
    await runDurableObjectAlarm(await objectOf(bob));
    await refusesAlice(id);
    expect(await continued(store(), id, { user: bob })).toEqual([secretOf(bob)]);
  });
});

it("lists all threads with a failure only while one is missing, and says why", async () => {
  const [alice, bob] = [newUser(), newUser()];
  await prompted(store(), alice, "support");
  control.d1Writes = "before";
  await prompted(store(), bob, "support");
  control.d1Writes = "ok";
  await expect(store().list()).rejects.toMatchObject({ code: "catalogue_behind", status: 503 });
  // What is of one user is complete.
  expect(await store().list(bob)).toHaveLength(1);
  const own = await call("/v1/threads", { token: await token(alice) });
  expect(own.body.items).toHaveLength(1);
  expect((await call("/v1/threads", { token: await token(bob) })).status).toBe(503);
  control.clockAhead = 31_000;
  await runDurableObjectAlarm(await objectOf(bob));
  const listed = await store().list();
  expect(listed.map(({ userId }) => userId)).toEqual(expect.arrayContaining([alice, bob]));
});

it("fails to list all threads while it is not known whether one is missing", async () => {
  control.unlisted = "fail";
  await expect(store().list()).rejects.toMatchObject({ code: "storage_unavailable" });
});

it("shows a thread to nobody before the catalogue has heard of it", async () => {
  const bob = newUser();
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  control.duringD1Write = () => {
    reached.resolve();
    return held.promise;
  };
  const creating = store().create("t", { userId: bob });
  await reached.promise;
  expect(await store().list(bob)).toEqual([]);
  control.duringD1Write = async () => {};
  held.resolve();
  const id = await creating;
  expect((await store().list()).find((thread) => thread.id === id)).toMatchObject({ userId: bob });
});

it("begins no thread that can neither be listed nor be marked as missing", async () => {
  const bob = newUser();
  const headers = { "Idempotency-Key": "one" };
  const begin = () => call(`/v1/users/${bob}/threads`, { json: {}, headers });
  control.d1Writes = "before";
  control.unlisted = "fail";
  expect(await begin()).toMatchObject({ status: 503, body: { error: { code: "storage_unavailable" } } });
  expect(await store().list(bob)).toEqual([]);
  control.unlisted = "ok";
  control.d1Writes = "ok";
  const made = await begin();
  expect(made.status).toBe(201);
  control.clockAhead = 61_000;
  await runDurableObjectAlarm(await objectOf(bob));
  const ids = (await store().list()).filter(({ userId }) => userId === bob).map(({ id }) => id);
  expect(ids).toEqual([made.body.id]);
});

it("takes a thread out of the list that was announced and never began", async () => {
  const bob = newUser();
  const [held, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  control.duringD1Write = () => {
    reached.resolve();
    return held.promise;
  };
  const creating = call(`/v1/users/${bob}/threads`, { json: {} });
  await reached.promise;
  control.quotas = { ...control.quotas, threads: 0 };
  control.duringD1Write = async () => {};
  held.resolve();
  expect(await creating).toMatchObject({ status: 403, body: { error: { code: "quota_threads" } } });
  const ofBob = async () => (await store().list()).filter(({ userId }) => userId === bob);
  expect(await ofBob()).toEqual([]);
  expect(await store().list(bob)).toEqual([]);
});

it("lets the list be complete again when the user of a missing thread is erased", async () => {
  const bob = newUser();
  await store().create("t", { userId: newUser() });
  control.d1Writes = "before";
  const id = await store().create("t", { userId: bob });
  control.d1Writes = "ok";
  await call(`/v1/users/${bob}`, { method: "DELETE" });
  control.clockAhead = 31_000;
  await runDurableObjectAlarm(await objectOf(bob));
  expect((await store().list()).map((thread) => thread.id)).not.toContain(id);
});
