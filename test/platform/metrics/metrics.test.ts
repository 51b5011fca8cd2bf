// The point of each call: what it says, what it never says, and that no call fails for it.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import type { Bindings } from "../../../src/platform/bindings.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { AnalyticsEngine, type Dataset } from "../../../src/platform/metrics/analytics-engine.ts";
import { FullDatabase, OvertakenWrite, RefusedWrite } from "../../../src/platform/d1/write-errors.ts";
import { measuredRecords } from "../../../src/platform/metrics/measured-records.ts";
import { measuredModel } from "../../../src/platform/metrics/measured-model.ts";
import type { MetricPoint } from "../../../src/platform/metrics/metrics.ts";
import { ModelRefusal } from "../../../src/platform/models/language-model.ts";
import { createApp } from "../../../src/worker/app.ts";
import { createWorker } from "../../../src/worker/worker.ts";
import { newUser, token } from "../../call.ts";
import { declared } from "../../declared.ts";
import { control, restore } from "../../doubles/control.ts";
import { faultyPorts, realPorts } from "../../doubles/ports.ts";
import { objectOf } from "../../erasure-calls.ts";
import { remember } from "../../memory-calls.ts";
import { operationOf } from "../../../src/worker/http/guard.ts";

afterEach(restore);

type Point = Parameters<Dataset["writeDataPoint"]>[0];

/** Calls a Worker of its own, to which a dataset is bound. */
async function measured(makePorts = realPorts, failure?: Error) {
  const points: Point[] = [];
  const METRICS = {
    writeDataPoint: (point: Point) => {
      if (failure !== undefined) throw failure;
      points.push(point);
    },
  };
  const app = createApp((bindings) => makePorts(bindings));
  const bound: Bindings = { ...env, METRICS };
  const bearer = await token("*");
  const call = async (path: string, json?: unknown, given = bearer) => {
    const answer = await app.request(
      path,
      {
        method: json === undefined ? "GET" : "POST",
        headers: { Authorization: `Bearer ${given}`, "Content-Type": "application/json" },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      },
      bound,
    );
    await answer.text();
    return answer.status;
  };
  return { points, call };
}

/** The point of the last call, which is written after its answer. */
async function pointOf(points: readonly Point[], calls: number) {
  await expect.poll(() => points.length).toBe(calls);
  const { blobs = [], doubles = [], indexes = [] } = points[calls - 1] ?? {};
  return { blobs, doubles, indexes };
}

it("tells the template of the route, the code, the times and the hashed owner of each call", async () => {
  const user = newUser();
  const { points, call } = await measured();
  expect(await call(`/v1/users/${user}/memories`, { text: "I keep bees in Évora" })).toBe(201);
  const written = await pointOf(points, 1);
  const route = "POST /v1/users/{user}/memories";
  expect(written.indexes).toEqual([route]);
  expect(written.blobs).toEqual(["call", route, "ok", await userHash(user)]);
  expect(written.doubles).toHaveLength(8);
  const [ms = 0, object = 0] = written.doubles;
  expect(written.doubles[7]).toBe(201);
  expect(ms).toBeGreaterThan(0);
  expect(object).toBeGreaterThan(0);
  expect(object).toBeLessThanOrEqual(ms);

  expect(await call(`/v1/users/${user}/recall`, { query: "bees" })).toBe(200);
  expect((await pointOf(points, 2)).blobs).toEqual([
    "call",
    "POST /v1/users/{user}/recall",
    "ok",
    await userHash(user),
  ]);
  expect(await call("/v1/statistics")).toBe(200);
  const { doubles, blobs } = await pointOf(points, 3);
  expect(blobs).toEqual(["call", "GET /v1/statistics", "ok", ""]);
  expect(doubles[2]).toBeGreaterThan(0);
});

it("tells the code of a refusal, also where no route takes the call", async () => {
  const user = newUser();
  const { points, call } = await measured();
  expect(await call(`/v1/users/${user}/memories`, {})).toBe(400);
  expect((await pointOf(points, 1)).blobs[2]).toBe("invalid_request");
  expect(await call(`/v1/users/${user}/kv/nothing-here`)).toBe(404);
  expect((await pointOf(points, 2)).blobs.slice(1, 3)).toEqual([
    "GET /v1/users/{user}/kv/{key}",
    "not_found",
  ]);
  expect(await call(`/v1/nobody-home/${user}`)).toBe(404);
  expect((await pointOf(points, 3)).blobs).toEqual(["call", "none", "route_not_found", ""]);
  expect(await call(`/v1/users/${user}/memories`, undefined, "no-token")).toBe(401);
  expect((await pointOf(points, 4)).blobs[2]).toBe("invalid_token");
});

it("has no user id, key, text or URL", async () => {
  const user = newUser();
  const { points, call } = await measured();
  const [key, words] = ["private-key-name", "zanzibar quicksilver"];
  await call(`/v1/users/${user}/memories`, { text: words, tags: [key] });
  await call(`/v1/users/${user}/recall`, { query: words });
  await call(`/v1/users/${user}/kv/${key}`);
  await call(`/nowhere/${user}/${key}`);
  await expect.poll(() => points.length).toBe(4);
  const all = JSON.stringify(points);
  for (const secret of [user, key, "zanzibar", "nowhere"]) expect(all).not.toContain(secret);
});

it("tells of a recall that was degraded", async () => {
  const user = newUser();
  const { points, call } = await measured((bindings) => ({
    ...faultyPorts(bindings),
    metrics: realPorts(bindings).metrics,
  }));
  await call(`/v1/users/${user}/recall`, { query: "tea" });
  expect((await pointOf(points, 1)).doubles[6]).toBe(0);
  control.embedder = "fail";
  await call(`/v1/users/${user}/recall`, { query: "green tea" });
  expect((await pointOf(points, 2)).doubles[6]).toBe(1);
});

it("costs no call when it fails, and one line of the log", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const { call } = await measured(realPorts, new Error("the dataset is away"));
  for (let i = 0; i < 3; i++) expect(await call(`/v1/users/${newUser()}/kv`)).toBe(200);
  await expect.poll(() => log.mock.calls.length).toBe(1);
  expect(log.mock.calls[0]?.[0]).toMatchObject({ message: "metrics could not be written" });
  log.mockRestore();
});

it("measures a call over a binding", async () => {
  const points: MetricPoint[] = [];
  const worker = createWorker((bindings) => ({
    ...realPorts(bindings),
    metrics: { write: (point) => points.push(point) },
  }));
  const waiting: Promise<unknown>[] = [];
  const ctx = { waitUntil: (work: Promise<unknown>) => waiting.push(work), passThroughOnException() {} };
  const user = newUser();
  const answer = await worker.answer(
    { method: "GET", path: `/v1/users/${user}/kv/none`, headers: {} },
    // The parts of a context that the app uses.
    { props: { users: ["*"], scopes: ["read"] }, env, ctx: ctx as unknown as ExecutionContext },
  );
  await Promise.all(waiting);
  expect(points).toMatchObject([
    { kind: "call", name: "GET /v1/users/{user}/kv/{key}", owner: await userHash(user) },
  ]);
  expect(answer.status).toBe(404);
  expect(points[0]).toMatchObject({ code: "not_found", status: 404 });
});

it("tells the tokens of each call of the language model, and how one failed", async () => {
  const points: MetricPoint[] = [];
  const usage = { inputTokens: 40, outputTokens: 2 };
  const outcomes = [
    async () => ({ text: "{}", usage }),
    () => Promise.reject(new ModelRefusal("messages", "too long", usage)),
    () => Promise.reject(new Error("away")),
  ];
  const model = measuredModel(
    { name: "@cf/some/model", generate: () => outcomes.shift()?.() ?? Promise.reject(new Error("no more")) },
    { write: (point) => points.push(point) },
  );
  const request = { system: "", messages: [], schema: {}, maxTokens: 10 };
  expect(await model.generate(request, { withinMs: 1_000 })).toMatchObject({ text: "{}" });
  await expect(model.generate(request, { withinMs: 1_000 })).rejects.toThrow("too long");
  await expect(model.generate(request, { withinMs: 1_000 })).rejects.toThrow("away");
  expect(points).toMatchObject([
    { kind: "model", name: "@cf/some/model", code: "ok", usage },
    { code: "refused", usage },
    { code: "failed" },
  ]);
  expect(points[2]).not.toHaveProperty("usage");
});

it("tells of a write that D1 did not confirm, and of no other", async () => {
  const points: MetricPoint[] = [];
  const outcomes = [
    null,
    new Error("D1_ERROR"),
    new FullDatabase("full"),
    new OvertakenWrite(2),
    new RefusedWrite("no"),
  ];
  const write = async () => {
    const outcome = outcomes.shift();
    if (outcome !== null) throw outcome;
  };
  const records = measuredRecords(
    { ...realPorts(env).records, write },
    { write: (point) => points.push(point) },
  );
  const given = { owner: { hash: "h", id: "u" }, seq: 1, put: [], forget: [] };
  await records.write(given);
  for (const said of ["D1_ERROR", "full", /./, "no"])
    await expect(records.write(given)).rejects.toThrow(said);
  expect(points.map(({ kind, name, code }) => [kind, name, code])).toEqual(
    ["pending", "full", "refused"].map((code) => ["write", "memories", code]),
  );
});

it("tells of a chore of an alarm that failed", async () => {
  const points: MetricPoint[] = [];
  control.metrics = { write: (point) => points.push(point) };
  const user = newUser();
  await remember(user, { text: "I play the cello" });
  const object = await objectOf(user);
  await runInDurableObject(object, (_, { storage: { sql } }) =>
    sql.exec("ALTER TABLE reindex RENAME TO broken"),
  );
  await runDurableObjectAlarm(object);
  expect(points).toContainEqual({ kind: "chore", name: "reindex", code: "failed" });
  await runInDurableObject(object, (_, { storage: { sql } }) =>
    sql.exec("ALTER TABLE broken RENAME TO reindex"),
  );
});

it("keeps the index within the platform's 96 bytes", () => {
  for (const one of declared) expect(operationOf(one).length).toBeLessThanOrEqual(96);
  const indexes: unknown[] = [];
  new AnalyticsEngine({ writeDataPoint: (point) => indexes.push(point.indexes[0]) }).write({
    kind: "model",
    name: "m".repeat(300),
    code: "ok",
  });
  expect(indexes).toEqual(["m".repeat(96)]);
});
