// Figures of a user, and of the tenant over time.
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { counting } from "../../../src/platform/d1/by-day.ts";
import { Isolate } from "../../../src/platform/isolate.ts";
import { createApp } from "../../../src/worker/app.ts";
import { realPorts } from "../../doubles/ports.ts";
import worker from "../../worker.ts";
import { percentile, oneRecall, bothHours } from "../../../src/domain/usage/recall-hours.ts";
import { RecallMeter } from "../../../src/worker/recall-meter.ts";
import { call, newUser, token } from "../../call.ts";
import { emptyTenant } from "../../databases.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { failing } from "../../doubles/language-models.ts";
import { ingest, user as says } from "../../durable-objects/user-memory/ingest/calls.ts";
import { remember } from "../../memory-calls.ts";
import { append, create, say } from "../../thread-calls.ts";

beforeAll(emptyTenant);
afterEach(restore);

const DAY = 24 * 60 * 60_000;
const statistics = async (days = 30) => (await call(`/v1/statistics?days=${days}`)).body;
const sum = (days: { count: number }[]): number => days.reduce((all, { count }) => all + count, 0);

it("counts users, memories and threads by the day", async () => {
  const before = await statistics();
  const user = newUser();
  await remember(user, { subject: "user", predicate: "lives in", object: "Lisbon" });
  await remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
  await remember(user, { text: "from last week", createdAt: clock() - 7 * DAY });
  await remember(user, { text: "from long ago", createdAt: clock() - 90 * DAY });
  await create(user);
  const after = await statistics();
  expect(after.users).toBe(before.users + 1);
  // A fact that changed is one memory.
  expect(sum(after.memories)).toBe(sum(before.memories) + 2);
  expect(sum(after.threads)).toBe(sum(before.threads) + 1);
  const usersOf = (days: { users: number }[]) => days.reduce((all, { users }) => Math.max(all, users), 0);
  expect(usersOf(after.memories)).toBe(usersOf(before.memories) + 1);
  expect(after.memories.every(({ day }: { day: number }) => day % DAY === 0)).toBe(true);
  expect(sum((await statistics(2)).memories)).toBeLessThan(sum(after.memories));
});

it("counts recalls by the hour, with their times, at most a minute late", async () => {
  const user = newUser();
  await remember(user, { text: "I like tea" });
  control.clockAt = Date.UTC(2040, 0, 1, 12);
  const bearer = await token("*", undefined, 80 * 365 * 24 * 3600);
  const hours = async () => (await call("/v1/statistics?days=1", { token: bearer })).body.recalls;
  for (const query of ["tea", "zzz qqq"])
    await call(`/v1/users/${user}/recall`, { json: { query, answerable: "auto" }, token: bearer });
  control.clockAt += 61_000;
  expect(await hours()).toEqual([
    {
      hour: Date.UTC(2040, 0, 1, 12),
      calls: 2,
      abstained: 1,
      degraded: 0,
      p50: expect.any(Number),
      p95: expect.any(Number),
    },
  ]);
  control.embedder = "fail";
  await call(`/v1/users/${user}/recall`, { json: { query: "green tea" }, token: bearer });
  control.clockAt += 61_000;
  expect(await hours()).toMatchObject([{ calls: 3, degraded: 1 }]);
});

describe("the counts of a tenant with many threads", () => {
  const MANY = `WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 5100)
    INSERT INTO threads (id, user_hash, title, created_at, updated_at) SELECT 'many-' || n, 'many-' || (n % 700), '', ?1, ?1 FROM many`;
  const slice = counting.slice;
  afterEach(async () => {
    counting.slice = slice;
    await env.DB.batch([
      env.DB.prepare("DELETE FROM threads WHERE id LIKE 'many-%'"),
      env.DB.prepare("DELETE FROM jobs WHERE name = 'statistics'"),
    ]);
  });

  it("are kept, renewed by the cron and after a day by a call, and read in slices", async () => {
    const before = await statistics();
    await env.DB.prepare(MANY).bind(clock()).run();
    counting.slice = 1_000;
    let counts = 0;
    const app = createApp((bindings) => {
      const real = realPorts(bindings, new Isolate());
      const createdByDay = (from: number) => {
        counts++;
        return real.catalogue.createdByDay(from);
      };
      return { ...real, catalogue: Object.assign(Object.create(real.catalogue), { createdByDay }) };
    });
    const bearer = await token("*", undefined, 100 * 86_400);
    const bound = { ...env };
    const ask = async () =>
      (await app.request("/v1/statistics", { headers: { Authorization: `Bearer ${bearer}` } }, bound)).json<
        Awaited<ReturnType<typeof statistics>>
      >();
    // The recalls are also those of other tests.
    const kept = async () => {
      const { recalls: _, ...counted } = await ask();
      return counted;
    };
    const first = await kept();
    expect(sum(first.threads) - sum(before.threads)).toBe(5_100);
    const usersOf = ({ threads }: typeof first) =>
      threads.reduce((all: number, { users }: { users: number }) => all + users, 0);
    expect(usersOf(first) - usersOf(before)).toBe(700);
    // A call reads what is kept, and counts nothing.
    await create(newUser());
    expect([await kept(), counts]).toEqual([first, 1]);
    // Nor one of hours later: the cron does.
    control.clockAhead += DAY - 60_000;
    expect([await kept(), counts]).toEqual([first, 1]);
    control.clockAhead += 61_000;
    expect(await kept()).toEqual(first);
    await expect.poll(() => counts).toBe(2);
    await expect.poll(async () => sum((await ask()).threads)).toBe(sum(first.threads) + 1);
    const countedAt = (await ask()).countedAt;
    expect(countedAt).toBeGreaterThan(first.countedAt);
    control.clockAhead += DAY / 4;
    await worker.scheduled(createScheduledController(), env);
    const renewedAt = await env.DB.prepare(
      "SELECT started_at AS at FROM jobs WHERE name = 'statistics'",
    ).first("at");
    expect(renewedAt).toBeGreaterThanOrEqual(countedAt + DAY / 4);
    // A tenant that was large is shown as it is.
    await env.DB.exec("DELETE FROM threads WHERE id LIKE 'many-%'");
    control.clockAhead += DAY / 4;
    await worker.scheduled(createScheduledController(), env);
    expect(sum((await ask()).threads)).toBe(sum(first.threads) + 1 - 5_100);
  });
});

it("is for who may see the whole tenant, and says what it takes", async () => {
  expect((await call("/v1/statistics", { token: await token(newUser()) })).body.error.code).toBe("forbidden");
  expect((await call("/v1/statistics?days=0")).body.error.details).toMatchObject([{ path: "query.days" }]);
  control.d1Reads = "fail";
  expect((await call("/v1/statistics")).body.error.code).toBe("storage_unavailable");
});

it("tells what a user holds, and which ingests are not done", async () => {
  const user = newUser();
  control.languageModel = failing();
  expect((await call(`/v1/users/${user}/summary`)).body).toMatchObject({ memories: 0, ingests: [] });
  await remember(user, { text: "I like tea" });
  const thread = await create(user);
  await append(thread.id, [say("hello there")]);
  await call(`/v1/users/${user}/kv/theme`, { method: "PUT", json: "dark" });
  const { body } = await ingest(user, { messages: [says("I live in Porto.")], mode: "background" });
  const summary = (await call(`/v1/users/${user}/summary`)).body;
  expect(summary).toMatchObject({
    memories: 1,
    threads: 2,
    entries: 1,
    documents: { indexed: 3 },
    ingests: [{ id: body.ingestId, threadId: body.threadId, status: "queued" }],
  });
  expect(summary.bytes).toBeGreaterThan(100_000);
  expect(summary.webhook).toBeUndefined();
});

it("says how far the webhook is", async () => {
  control.webhook = { send: async () => ({ ok: false, problem: "it is away" }) };
  const user = newUser();
  await remember(user, { text: "I like tea" });
  expect((await call(`/v1/users/${user}/summary`)).body.webhook).toEqual({ behind: true, failures: 0 });
});

describe("the times of recalls", () => {
  it("are a fifth too long at most", () => {
    for (const ms of [0, 1, 2, 7, 33, 150, 999, 12_345]) {
      const hour = oneRecall(0, { ms, abstained: false, degraded: false });
      expect(percentile(hour, 0.5)).toBeGreaterThanOrEqual(ms);
      expect(percentile(hour, 0.5)).toBeLessThanOrEqual(Math.max(1, ms * 1.2 + 1));
    }
  });

  it("tell the slow ones from the others", () => {
    const recalls = Array.from({ length: 100 }, (_, i) =>
      oneRecall(0, { ms: i < 90 ? 10 : 1_000, abstained: i < 5, degraded: false }),
    );
    const hour = recalls.reduce(bothHours);
    expect(hour).toMatchObject({ calls: 100, abstained: 5 });
    expect(percentile(hour, 0.5)).toBeLessThan(15);
    expect(percentile(hour, 0.95)).toBeGreaterThan(900);
  });

  it("are handed over at most once a minute, and nothing twice", () => {
    const meter = new RecallMeter();
    const one = { ms: 5, hits: 2, abstained: false, degraded: false };
    meter.count(0, one);
    expect(meter.handOver(0)).toMatchObject([{ hour: 0, calls: 1 }]);
    meter.count(1_000, one);
    expect(meter.handOver(2_000)).toEqual([]);
    meter.count(60 * 60_000, one);
    expect(meter.handOver(60 * 60_000)).toMatchObject([{ calls: 1 }, { calls: 1 }]);
    expect(meter.handOver(2 * 60 * 60_000)).toEqual([]);
  });
});
