// An alarm works in pieces, and other calls of the isolate are answered between two of them.
import { env } from "cloudflare:workers";
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { AlarmScheduler } from "../../../durable-objects/storage/alarm-scheduler.ts";
import { Chores } from "../../../durable-objects/storage/chores.ts";
import { call, newUser } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { objectOf, ring } from "../../erasure-calls.ts";
import { ingest, readIngest } from "../user-memory/ingest/calls.ts";
import { threadOf } from "../../thread-calls.ts";

// A day from now, so that no alarm rings but when a test rings it.
beforeEach(() => void (control.clockAt = clock() + 24 * 3600_000));
afterEach(restore);

/** All values that a call answers until some work has ended, each once. */
async function seenDuring<T>(work: Promise<unknown>, read: () => Promise<T>): Promise<T[]> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  const seen = new Set<T>();
  while (!state.isDone) {
    seen.add(await read());
    // Calls within one process wait for nothing from outside, and would let no timer go off.
    await scheduler.wait(1);
  }
  await done;
  return [...seen];
}

it("extracts by rules 40 messages at a time, and answers other calls meanwhile", async () => {
  const owner = newUser();
  const { id: threadId } = await threadOf(
    owner,
    Array.from({ length: 800 }, (_, i) => `I walked to lake number ${i}.`),
  );
  const { body } = await ingest(owner, { threadId, extract: ["facts"], mode: "background" });
  const seen = await seenDuring(
    ring(owner),
    async () => (await readIngest(body.ingestId)).messages.extracted as number,
  );
  expect(seen.filter((extracted) => extracted % 40 !== 0)).toEqual([]);
  expect(seen.filter((extracted) => extracted > 0 && extracted < 800).length).toBeGreaterThan(3);
  expect(await readIngest(body.ingestId)).toMatchObject({ status: "done", messages: { extracted: 800 } });
});

it("makes episodes by rules one at a time, and answers other calls meanwhile", async () => {
  const owner = newUser();
  const hour = 3600_000;
  const messages = Array.from({ length: 40 }, (_, i) => ({
    role: "user",
    content: `I walked to lake number ${i} with Anna.`,
  }));
  const createdAt = messages.map((_, i) => (control.clockAt ?? 0) - (100 - i) * hour);
  const { body } = await ingest(owner, {
    messages,
    createdAt,
    extract: ["episodes"],
    mode: "background",
  });
  const seen = await seenDuring(
    ring(owner),
    async () => (await readIngest(body.ingestId)).messages.extracted as number,
  );
  expect(seen.filter((extracted) => extracted > 0 && extracted < 40).length).toBeGreaterThan(3);
  expect((await readIngest(body.ingestId)).counts).toEqual({ created: 40 });
});

it("answers a call of another user between two pieces", async () => {
  const [owner, other] = [newUser(), newUser()];
  const { id: threadId } = await threadOf(
    owner,
    Array.from({ length: 400 }, (_, i) => `I walked to lake number ${i}.`),
  );
  await ingest(owner, { threadId, extract: ["facts"], mode: "background" });
  let written = 0;
  await seenDuring(ring(owner), async () => {
    await call(`/v1/users/${other}/kv/lake`, { method: "PUT", json: written++ });
  });
  expect(written).toBeGreaterThan(3);
});

it("lets other calls run after a chore that has changed something, and goes on after another", async () => {
  const order: string[] = [];
  await runInDurableObject(await objectOf(newUser()), async (_, { storage: { sql }, storage }) => {
    const chore = (name: string, work: () => void) => ({
      run: () => {
        work();
        order.push(name);
        setTimeout(() => order.push(`a call after ${name}`));
      },
      nextDue: () => null,
    });
    const changing = () => void sql.exec("UPDATE free_pages SET peak = peak");
    const chores = {
      first: chore("the first", changing),
      idle: chore("an idle one", () => {}),
      second: chore("the second", changing),
      third: chore("the third", changing),
    };
    await new Chores({ sql, alarms: new AlarmScheduler(storage), now: () => 0 }, chores).run();
  });
  expect(order.slice(0, 6)).toEqual([
    "the first",
    "a call after the first",
    "an idle one",
    "the second",
    "a call after an idle one",
    "a call after the second",
  ]);
});

it("removes what has expired 100 rows at a time", async () => {
  const object = env.PROMPT_CACHE.getByName(crypto.randomUUID());
  const expired = (storage: DurableObjectStorage) =>
    storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM entries").one().n;
  const value = new TextEncoder().encode("1");
  await runInDurableObject(object, (shard) => {
    for (let i = 0; i < 300; i++) shard.set({ key: `k${i}`, value, ttlMs: 1_000 });
  });
  control.clockAt = (control.clockAt ?? 0) + 24 * 3600_000;
  const left: number[] = [];
  await runInDurableObject(object, async (shard, { storage }) => {
    const state = { isDone: false };
    const done = shard.alarm().finally(() => (state.isDone = true));
    while (!state.isDone) {
      left.push(expired(storage));
      await new Promise((resolve) => setTimeout(resolve));
    }
    await done;
  });
  expect(new Set(left)).toContain(200);
  expect(new Set(left)).toContain(100);
});
