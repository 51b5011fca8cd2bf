// An object's one alarm does several chores: one that fails holds up no other, and there is always a next alarm.
import { createScheduledController, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { eraseUser, erased, erasure, objectOf, ring } from "../../erasure-calls.ts";
import { evict } from "../../evict.ts";
import { remember, remembered } from "../../memory-calls.ts";
import { threadOf } from "../../thread-calls.ts";
import worker from "../../worker.ts";

// A day from now, so that no alarm rings but when a test rings it, and tokens still hold.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

const HOUR_MS = 3600_000;
type Stub = Awaited<ReturnType<typeof objectOf>> | ReturnType<typeof env.PROMPT_CACHE.getByName>;

const alarmOf = (object: Stub): Promise<number | null> =>
  runInDurableObject(object, (_, { storage }) => storage.getAlarm());
const run = (object: Stub, statement: string) =>
  runInDurableObject(object, (_, { storage: { sql } }) => sql.exec(statement).toArray());

it("does all other chores of a user's object when one throws, and tries that one again", async () => {
  const user = newUser();
  const object = await objectOf(user);
  await call(`/v1/users/${user}/kv/colour?ttlMs=1000`, { method: "PUT", json: "green" });
  await remember(user, { text: "I play the cello" });
  // Each is the table of a chore: the first one to run, one in the middle, and one that only says when it is due.
  for (const table of ["unembedded", "reindex", "erasures"]) {
    await run(object, `ALTER TABLE ${table} RENAME TO broken`);
    await call(`/v1/users/${user}/kv/colour?ttlMs=1000`, { method: "PUT", json: "green" });
    control.clockAt = (control.clockAt ?? 0) + HOUR_MS;
    await runDurableObjectAlarm(object);
    expect(await run(object, "SELECT key FROM entries")).toEqual([]);
    const next = await alarmOf(object);
    expect(next).toBeGreaterThan(control.clockAt);
    expect(next).toBeLessThanOrEqual(control.clockAt + 5_000);
    // Later and later.
    control.clockAt = next ?? 0;
    await runDurableObjectAlarm(object);
    expect(await alarmOf(object)).toBeGreaterThanOrEqual(control.clockAt + 5_000);
    expect(await alarmOf(object)).toBeLessThanOrEqual(control.clockAt + 10_000);
    await run(object, `ALTER TABLE broken RENAME TO ${table}`);
    control.clockAt += 10_000;
    await runDurableObjectAlarm(object);
  }
});

it("sweeps what expires within a minute of its end, each object at its own second", async () => {
  const value = new TextEncoder().encode("1");
  const ttlMs = 3 * HOUR_MS;
  const alarms = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const object = env.PROMPT_CACHE.getByName(crypto.randomUUID());
      await runInDurableObject(object, (shard) => shard.set({ key: "k", value, ttlMs }));
      return alarmOf(object);
    }),
  );
  const end = (control.clockAt ?? 0) + ttlMs;
  for (const alarm of alarms) {
    expect(alarm).toBeGreaterThan(end);
    expect(alarm).toBeLessThanOrEqual(end + 60_000);
  }
  expect(new Set(alarms).size).toBeGreaterThan(1);
});

it("sweeps all else of the registry when one kind cannot be swept, and tries that one again", async () => {
  const object = env.PROMPT_CACHE.getByName(crypto.randomUUID());
  const value = new TextEncoder().encode("1");
  await runInDurableObject(object, (shard) => {
    shard.set({ key: "k", value, ttlMs: 1000 });
    shard.lease({ key: "l", leaseMs: 1000, waitMs: 0 });
  });
  await run(object, "ALTER TABLE entries RENAME TO broken");
  control.clockAt = (control.clockAt ?? 0) + HOUR_MS;
  await runDurableObjectAlarm(object);
  expect(await run(object, "SELECT * FROM leases")).toEqual([]);
  expect(await alarmOf(object)).toBeGreaterThanOrEqual(control.clockAt + 2_500);
  expect(await alarmOf(object)).toBeLessThanOrEqual(control.clockAt + 5_000);
  await run(object, "ALTER TABLE broken RENAME TO entries");
  control.clockAt += 5_000;
  await runDurableObjectAlarm(object);
  expect(await run(object, "SELECT * FROM entries")).toEqual([]);
});

it("wakes the objects of erasures that take longer than an hour, by the cron", async () => {
  const cron = () => worker.scheduled(createScheduledController(), env);
  // The cron takes a hundred at a time: those that other files left would take turns with these.
  await env.DB.exec("DELETE FROM erasures");
  const users = [newUser(), newUser()];
  const begun = await Promise.all(
    users.map(async (user) => {
      await threadOf(user, ["I play the cello"]);
      return { user, id: (await eraseUser(user)).body.id as string };
    }),
  );
  // As after an alarm that the platform has given up: the object is awake, and knows of none.
  for (const { user } of begun)
    await runInDurableObject(await objectOf(user), (_, { storage }) => storage.deleteAlarm());
  const woken = async () =>
    Promise.all(begun.map(async ({ user }) => (await alarmOf(await objectOf(user))) !== null));
  await cron();
  expect(await woken()).toEqual([false, false]);
  control.clockAt = (control.clockAt ?? 0) + HOUR_MS + 1;
  await cron();
  expect(await woken()).toEqual([true, true]);
  for (const { user, id } of begun) {
    await ring(user);
    expect((await erased(user, id)).status).toBe("done");
  }
  // The alarm leaves alone the work that is done.
  await cron();
  for (const { id } of begun) expect((await erasure(id)).status).toBe("done");
});

it("deletes the kept answer of a repeat that wrote nothing else", async () => {
  const user = newUser();
  const object = await objectOf(user);
  await remembered(user, { text: "likes tea" });
  await runInDurableObject(object, (_, { storage }) => storage.deleteAlarm());
  await evict(user);
  await remember(user, { text: "likes tea" }, { "Idempotency-Key": "again" });
  expect(await alarmOf(object)).not.toBeNull();
});
