// The list of all threads of the tenant.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../src/domain/ids.ts";
import { call, newUser, pagesOf, token } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { append, create, fork, say } from "../../thread-calls.ts";

afterEach(restore);

const MINUTE = 60_000;

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const patch = (id: string, fields: object) => call(`/v1/threads/${id}`, { method: "PATCH", json: fields });

describe("the catalogue of all threads", () => {
  const catalogued = async (query = "", bearer?: string) => {
    const found: { id: string; updatedAt: number; title: string }[] = [];
    const as = bearer === undefined ? {} : { token: bearer };
    for await (const { items } of pagesOf(`/v1/threads?limit=7&${query}`, as)) found.push(...items);
    return found;
  };

  it("is complete across users, also while threads change between its pages, and tells each thread's user", async () => {
    const users = Array.from({ length: 5 }, newUser);
    const ids: string[] = [];
    for (const user of users)
      for (let i = 0; i < 5; i++) ids.push((await create(user, { agent: "catalogue" })).id);
    const { id: nobodys } = (await call("/v1/threads", { json: { agent: "catalogue" } })).body;
    const found: string[] = [];
    for await (const { items } of pagesOf("/v1/threads?agent=catalogue&limit=4")) {
      found.push(...items.map((thread: { id: string }) => thread.id));
      await patch(ids[found.length] ?? nobodys, { title: "moved" });
    }
    expect(found).toHaveLength(ids.length + 1);
    expect(new Set(found)).toEqual(new Set([...ids, nobodys]));
    const [one] = (await call(`/v1/threads?agent=catalogue&limit=1000`)).body.items.filter(
      (thread: { id: string }) => thread.id === ids[0],
    );
    const stored = (await call(`/v1/threads/${ids[0]}`)).body;
    const { length: _length, ...shown } = stored;
    expect(one).toEqual(shown);
  });

  it("follows renames, forks and deletes at once, and appends within an hour without a write for each", async () => {
    const user = newUser();
    const bearer = await token(user);
    const { id } = await create(user, { title: "Old" });
    await patch(id, { title: "New" });
    expect(await catalogued("", bearer)).toMatchObject([{ id, title: "New" }]);
    let writes = 0;
    control.duringD1Write = async () => void writes++;
    control.clockAhead = 5_000;
    for (let i = 0; i < 10; i++) await append(id, [say(`${i}`)]);
    expect(writes).toBe(0);
    control.clockAhead = 61 * MINUTE;
    await runDurableObjectAlarm(await objectOf(user));
    expect(writes).toBe(1);
    const { updatedAt } = (await call(`/v1/threads/${id}`)).body;
    expect(await catalogued("", bearer)).toMatchObject([{ id, updatedAt }]);
    const { id: forked } = (await fork(id)).body;
    await call(`/v1/threads/${id}`, { method: "DELETE" });
    expect(await catalogued("", bearer)).toMatchObject([{ id: forked }]);
  });

  it("hears of what is appended while it is being written", async () => {
    const user = newUser();
    const { id } = await create(user);
    const held = Promise.withResolvers<void>();
    control.clockAhead = 1_000;
    control.duringD1Write = () => held.promise;
    const patched = patch(id, { title: "x" });
    await scheduler.wait(10);
    control.clockAhead = 2_000;
    await append(id, [say("meanwhile")]);
    control.duringD1Write = async () => {};
    held.resolve();
    await patched;
    control.clockAhead = 61 * MINUTE;
    await runDurableObjectAlarm(await objectOf(user));
    const { updatedAt } = (await call(`/v1/threads/${id}`)).body;
    expect(await catalogued("", await token(user))).toMatchObject([{ id, updatedAt }]);
  });

  it("hears of appends within an hour of the first, however steadily they come", async () => {
    const user = newUser();
    const { id } = await create(user);
    let writes = 0;
    control.duringD1Write = async () => void writes++;
    for (let minutes = 10; minutes <= 80; minutes += 10) {
      control.clockAhead = minutes * MINUTE;
      await append(id, [say(`${minutes}`)]);
      await runDurableObjectAlarm(await objectOf(user));
    }
    expect(writes).toBe(1);
  });

  it("has a thread when its creation returns, whatever else is due", async () => {
    const user = newUser();
    control.d1Writes = "before";
    const headers = { "Idempotency-Key": "x" };
    for (let i = 0; i < 120; i++)
      await call(`/v1/users/${user}/threads`, { json: {}, headers: { "Idempotency-Key": `${i}` } });
    control.d1Writes = "ok";
    control.clockAhead = 60_000;
    const { body } = await call(`/v1/users/${user}/threads`, { json: { title: "the last" }, headers });
    // D1 has this one, and not yet those before it: until then there is no list.
    const bearer = await token(user);
    expect((await call("/v1/threads", { token: bearer })).body.error.code).toBe("catalogue_behind");
    for (let rest = 120; rest > 0; rest -= 100) await runDurableObjectAlarm(await objectOf(user));
    const listed = await catalogued("", bearer);
    expect(listed).toHaveLength(121);
    expect(listed.map((thread) => thread.id)).toContain(body.id);
  });

  it("catches up after an outage, which no thread fails for", async () => {
    const user = newUser();
    const bearer = await token(user);
    for (const moment of ["before", "after"] as const) {
      control.d1Writes = moment;
      const made = await call(`/v1/users/${user}/threads`, { json: {} });
      expect(made.status).toBe(201);
      const gone = await create(user);
      await call(`/v1/threads/${gone.id}`, { method: "DELETE" });
      await evictDurableObject(await objectOf(user));
      control.d1Writes = "ok";
      control.clockAhead += 31_000;
      await runDurableObjectAlarm(await objectOf(user));
      const ids = (await catalogued("", bearer)).map((thread) => thread.id);
      expect(ids).toContain(made.body.id);
      expect(ids).not.toContain(gone.id);
    }
  });

  it("tries ever more seldom while D1 is away, once an hour at last, and at once when it is back", async () => {
    const user = newUser();
    const { id } = await create(user);
    control.clockAt = clock();
    control.d1Writes = "before";
    await patch(id, { title: "New" });
    const [object, waits] = [await objectOf(user), [] as number[]];
    // The one that was set before the call's own attempt.
    await runDurableObjectAlarm(object);
    for (let i = 0; i < 14; i++) {
      const due = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
      waits.push((due ?? 0) - control.clockAt);
      control.clockAt = due ?? 0;
      await evictDurableObject(object);
      await runDurableObjectAlarm(object);
    }
    // Each wait is half of its longest at least: 5 s, 10 s, 20 s, … 1 h.
    for (const [i, wait] of waits.entries()) {
      const longest = Math.min(60 * MINUTE, 5_000 * 2 ** i);
      expect.soft([i, wait >= longest / 2, wait <= longest]).toEqual([i, true, true]);
    }
    control.d1Writes = "ok";
    const other = await create(user, { title: "Other" });
    await runDurableObjectAlarm(object);
    expect(await catalogued("", await token(user))).toMatchObject([{ id: other.id }, { id, title: "New" }]);
  });

  it("shows a token of one user that user's threads only", async () => {
    const [alice, bob] = [newUser(), newUser()];
    const { id } = await create(alice);
    await create(bob);
    expect((await catalogued("", await token(alice))).map((thread) => thread.id)).toEqual([id]);
  });
});
