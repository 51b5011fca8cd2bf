// An object keeps the catalogue of threads in D1 up to date.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser, token, tokenWith } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import { ring } from "../ingest/calls.ts";
import { append, create, say } from "../../../thread-calls.ts";

afterEach(restore);

it("never lets an older state of a thread reach the catalogue after a newer one", async () => {
  const user = newUser();
  const { id } = await create(user, { title: "first" });
  const patch = (title: string) => call(`/v1/threads/${id}`, { method: "PATCH", json: { title } });
  // D1 takes its time with the first write, and none with those after it.
  const held = Promise.withResolvers<void>();
  const waits = [held.promise];
  control.duringD1Write = () => waits.pop() ?? Promise.resolve();
  const older = patch("older");
  await scheduler.wait(20);
  const newer = patch("newer");
  await scheduler.wait(20);
  held.resolve();
  await Promise.all([older, newer]);
  const { items } = (await call("/v1/threads", { token: await token(user) })).body;
  expect(items).toMatchObject([{ id, title: "newer" }]);
});

it("takes a deleted thread from the list within five minutes of an outage of hours", async () => {
  const user = newUser();
  const [kept, gone] = [await create(user), await create(user)];
  const object = env.USER_MEMORY.getByName(await userHash(user));
  const wait = async () =>
    ((await runInDurableObject(object, (_, { storage }) => storage.getAlarm())) ?? Infinity) - clock();
  control.d1Writes = "before";
  await append(kept.id, [say("an append is listed later")]);
  await call(`/v1/threads/${kept.id}`, { method: "PATCH", json: { title: "new" } });
  await call(`/v1/threads/${gone.id}`, { method: "DELETE" });
  for (let i = 0; i < 30; i++) {
    expect(await wait()).toBeLessThan(5 * 60_000 + 1);
    control.clockAhead += Math.max(0, await wait());
    await ring(user);
  }
  control.d1Writes = "ok";
  control.clockAhead += await wait();
  // The second alarm writes what waited for D1 besides.
  for (let i = 0; i < 2; i++) await ring(user);
  const bearer = await tokenWith({ user, ttlSeconds: 86_400 });
  const { items } = (await call("/v1/threads", { token: bearer })).body;
  expect(items).toMatchObject([{ id: kept.id, title: "new" }]);
});

it("lists a thread by its new agent once that changed", async () => {
  const user = newUser();
  const { id } = await create(user, { agent: `${user} before` });
  const listed = async (agent: string) =>
    (await call(`/v1/threads?agent=${encodeURIComponent(`${user} ${agent}`)}`)).body.items;
  expect(await listed("before")).toMatchObject([{ id }]);
  await call(`/v1/threads/${id}`, { method: "PATCH", json: { agent: `${user} after` } });
  expect(await listed("before")).toEqual([]);
  expect(await listed("after")).toMatchObject([{ id, agent: `${user} after` }]);
  await call(`/v1/threads/${id}`, { method: "PATCH", json: { agent: null } });
  expect(await listed("after")).toEqual([]);
});
