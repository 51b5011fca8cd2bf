// An object keeps the catalogue of threads in D1 up to date.
import { afterEach, expect, it } from "vitest";
import { call, newUser, token } from "../call.ts";
import { control, restore } from "../doubles/control.ts";
import { create } from "../thread-calls.ts";

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
