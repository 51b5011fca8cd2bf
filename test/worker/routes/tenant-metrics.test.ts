// GET /metrics: the tenant's figures for a monitor.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { UNFINISHED } from "../../../src/platform/d1/erasure-records.ts";
import { WAITING } from "../../../src/platform/d1/memory-records.ts";
import { call, newUser, token } from "../../call.ts";
import { emptyTenant } from "../../databases.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { remember } from "../../memory-calls.ts";
import { create } from "../../thread-calls.ts";

const DAY = 24 * 60 * 60_000;
const forgetCount = () => env.DB.prepare("DELETE FROM jobs WHERE name = 'statistics'").run();
beforeAll(emptyTenant);
beforeEach(forgetCount);
afterEach(async () => {
  restore();
  await forgetCount();
});

/** The values by their names. */
async function figures(): Promise<Record<string, number>> {
  const { status, text } = await call("/metrics");
  expect(status).toBe(200);
  return Object.fromEntries(
    Array.from(text.matchAll(/^([a-z_]+) (\S+)$/gm), ([, name = "", value]) => [name, Number(value)]),
  );
}

it("is Prometheus' text: each figure with its help and type, and a number", async () => {
  const { headers, text } = await call("/metrics");
  expect(headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(text).toMatch(/^(# HELP (cairn_[a-z_]+) \S.*\n# TYPE \2 gauge\n\2 \d+(\.\d+)?\n)+$/);
});

it("counts users, memories of any age and threads, once an hour", async () => {
  const before = await figures();
  const user = newUser();
  await remember(user, { text: "I keep bees" });
  await remember(user, { text: "I kept goats", createdAt: clock() - 900 * DAY });
  await create(user);
  // A small tenant is counted once an hour.
  expect((await figures()).cairn_memories).toBe(before.cairn_memories);
  control.clockAhead += 61 * 60_000;
  const after = await figures();
  expect(after.cairn_users).toBe((before.cairn_users ?? 0) + 1);
  expect(after.cairn_memories).toBe((before.cairn_memories ?? 0) + 2);
  expect(after.cairn_threads).toBe((before.cairn_threads ?? 0) + 1);
  expect(after.cairn_count_age_seconds).toBeLessThan(1);
});

it("counts the memories in quarantine as they are now", async () => {
  const before = (await figures()).cairn_waiting_memories ?? 0;
  const user = newUser();
  await env.DB.prepare(QUARANTINED).bind(user).run();
  expect((await figures()).cairn_waiting_memories).toBe(before + 1);
  await env.DB.prepare("DELETE FROM memories WHERE user_hash = ?").bind(user).run();
  expect((await figures()).cairn_waiting_memories).toBe(before);
});

const QUARANTINED = `INSERT INTO memories (user_hash, id, version, user_id, kind, status, text, trust, dedupe_key, created_at, updated_at, valid_from, recorded_at)
  VALUES (?1, 'm', 1, 'u', 'fact', 'quarantined', 't', 'model', 'd', 1, 1, 1, 1)`;

it("tells how many erasures are not done, and how old the first is", async () => {
  const before = await figures();
  const state = JSON.stringify({ status: "running", requestedAt: 1_000 });
  await env.DB.prepare("INSERT INTO erasures (id, revision, state) VALUES ('x.1', 1, ?)").bind(state).run();
  const after = await figures();
  expect(after.cairn_unfinished_erasures).toBe((before.cairn_unfinished_erasures ?? 0) + 1);
  expect(after.cairn_oldest_erasure_age_seconds).toBeGreaterThan(clock() / 1000 - 2);
  await env.DB.prepare("DELETE FROM erasures WHERE id = 'x.1'").run();
});

it("tells who waits for the webhook, and what the model cost since midnight", async () => {
  const day = Math.floor(clock() / DAY);
  const [before, user] = [await figures(), newUser()];
  await env.DB.batch([
    env.DB.prepare("INSERT INTO webhook_waiting (user_hash) VALUES (?)").bind(user),
    env.DB.prepare("DELETE FROM tenant_model_usage"),
    env.DB.prepare("INSERT INTO tenant_model_usage VALUES (?1, 3, 700), (?1 - 1, 5, 900)").bind(day),
  ]);
  expect(await figures()).toMatchObject({
    cairn_webhook_waiting_users: (before.cairn_webhook_waiting_users ?? 0) + 1,
    cairn_model_calls_today: 3,
    cairn_model_tokens_today: 700,
  });
  await env.DB.batch([
    env.DB.prepare("DELETE FROM webhook_waiting WHERE user_hash = ?").bind(user),
    env.DB.prepare("DELETE FROM tenant_model_usage"),
  ]);
});

it("counts the recalls of the day, and those that were degraded", async () => {
  const user = newUser();
  control.clockAt = Date.UTC(2041, 0, 1, 12);
  const bearer = await token("*", undefined, 80 * 365 * 24 * 3600);
  const recalls = async () => {
    control.clockAt = (control.clockAt ?? 0) + 61_000;
    const { text } = await call("/metrics", { token: bearer });
    return Array.from(text.matchAll(/^cairn_(?:degraded_)?recalls_today (\d+)$/gm), ([, n]) => Number(n));
  };
  const recall = (query: string) => call(`/v1/users/${user}/recall`, { json: { query }, token: bearer });
  await recall("tea");
  expect(await recalls()).toEqual([1, 0]);
  control.embedder = "fail";
  await recall("green tea");
  expect(await recalls()).toEqual([2, 1]);
});

it("counts no large tenant: it gives the last count, whose renewal is the cron's", async () => {
  const kept = JSON.stringify({ users: 7, memories: [{ day: 0, count: 9_000, users: 7 }], threads: [] });
  await env.DB.prepare(
    "INSERT INTO jobs (name, detail, done, started_at, finished_at) VALUES ('statistics', ?1, 9007, ?2, ?2)",
  )
    .bind(kept, clock() - 20 * 3600_000)
    .run();
  await remember(newUser(), { text: "one more" });
  const found = await figures();
  expect(found).toMatchObject({ cairn_users: 7, cairn_memories: 9_000, cairn_threads: 0 });
  expect(Math.round(found.cairn_count_age_seconds ?? 0)).toBe(20 * 3600);
});

it("reads the index of what waits, and no table", async () => {
  const plan = async (sql: string) =>
    (await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).all<{ detail: string }>()).results.map(
      (row) => row.detail,
    );
  expect((await plan(WAITING)).join("\n")).toContain("USING COVERING INDEX memories_waiting");
  expect((await plan(UNFINISHED)).join("\n")).toContain("USING INDEX erasures_running");
});

it("is for an admin of all users, and says when D1 is away", async () => {
  expect((await call("/metrics", { token: null })).status).toBe(401);
  expect((await call("/metrics", { token: await token("*", ["read", "write"]) })).status).toBe(403);
  expect((await call("/metrics", { token: await token(newUser()) })).status).toBe(403);
  control.d1Reads = "fail";
  expect((await call("/metrics")).body.error.code).toBe("storage_unavailable");
});

it("leaves no event in the audit log, however often it is asked", async () => {
  const asked = `/v1/audit?action=${encodeURIComponent("GET /metrics")}`;
  await figures();
  expect((await call(asked)).body.items ?? []).toEqual([]);
});
