import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Cairn } from "../../src/cairn.ts";
import { delayOf, realTime } from "../../src/retry.ts";
import { down, failure, faked } from "./faked.ts";

const lost = new TypeError("fetch failed");
const done = () => Response.json({ ok: true });
const key = (request: Request | undefined) => request?.headers.get("Idempotency-Key");

describe("what is sent again", () => {
  it.each([
    ["no answer", lost],
    ["429", failure(429, "rate_limited")],
    ["502 of a proxy", new Response("<html>", { status: 502 })],
    ["503", down()],
    ["504", new Response(null, { status: 504 })],
  ])("is a read that got %s", async (_, answer) => {
    const { client, requests } = faked([answer, done()]);
    expect(await client.kv.get("u", "k")).toEqual({ ok: true });
    expect(requests).toHaveLength(2);
  });

  it("is a read whose answer broke off", async () => {
    const broken = () =>
      new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) }));
    const { client, requests } = faked([broken, done()]);
    expect(await client.kv.get("u", "k")).toEqual({ ok: true });
    expect(requests).toHaveLength(2);
  });

  it.each([400, 401, 403, 409, 412, 500, 501])("is nothing that got %d", async (status) => {
    const { client, requests } = faked([failure(status, "x")]);
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({ status });
    expect(requests).toHaveLength(1);
  });

  it.each<[string, (client: Cairn) => Promise<unknown>]>([
    ["memories.remember", ({ memories }) => memories.remember("u", { text: "t" })],
    ["memories.rememberMany", ({ memories }) => memories.rememberMany("u", [])],
    ["memories.update", ({ memories }) => memories.update("u", "m", { score: 1 }, { ifVersion: 1 })],
    ["memories.restore", ({ memories }) => memories.restore("u", "m", 1)],
    ["memories.release", ({ memories }) => memories.release("u", "m")],
    ["threads.create", ({ threads }) => threads.create("u")],
    ["threads.createForNobody", ({ threads }) => threads.createForNobody()],
    ["threads.append", ({ threads }) => threads.append("t", [])],
    ["threads.fork", ({ threads }) => threads.fork("t")],
    ["threads.compact", ({ threads }) => threads.compact("t", { summary: "s", to: 1 })],
    ["kv.batch", ({ kv }) => kv.batch("u", [{ op: "delete", key: "k" }])],
    [
      "promptCache.report",
      ({ promptCache }) =>
        promptCache.report({
          provider: "openai",
          model: "m",
          cachedInputTokens: 1,
          uncachedInputTokens: 1,
        }),
    ],
  ])("is %s, under one key of its own that no other call has", async (_, write) => {
    const { client, requests } = faked([lost, down(), done()]);
    await write(client);
    await write(client);
    const keys = requests.map(key);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]]);
    expect(keys[3]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it("goes under the caller's own key", async () => {
    const { client, requests } = faked([lost, done()]);
    await client.threads.append("t", [{ role: "user", content: "hi" }], { idempotencyKey: "mine" });
    expect(requests.map(key)).toEqual(["mine", "mine"]);
    expect(await requests[1]?.json()).toEqual({ messages: [{ role: "user", content: "hi" }] });
  });

  it.each<[string, (client: Cairn) => Promise<unknown>]>([
    ["a recall", (client) => client.recall("u", { query: "q" })],
    ["a validation", ({ threads }) => threads.validate("t", { messages: [] })],
    ["a resume", ({ threads }) => threads.resume("u")],
    ["an unconditional PUT", ({ kv }) => kv.set("u", "k", 1)],
    ["a DELETE", ({ kv }) => kv.delete("u", "k")],
    ["a batch that only reads", ({ kv }) => kv.batch("u", [{ op: "get", key: "k" }])],
    [
      "a review by ids",
      ({ memories }) => memories.review("u", { decision: "reject", memories: [{ id: "m" }] }),
    ],
    ["a forgetting that is only tried", ({ memories }) => memories.forgetWhere("u", {}, { dryRun: true })],
  ])("is %s, which needs no key", async (_, call) => {
    const { client, requests } = faked([lost, done()]);
    await call(client);
    expect(requests.map(key)).toEqual([null, null]);
  });

  it.each<[string, (client: Cairn) => Promise<unknown>]>([
    ["a take", ({ cache }) => cache.take("k")],
    ["a lease", ({ cache }) => cache.lease("k", { leaseMs: 1 })],
    ["a value under a lease", ({ cache }) => cache.set("k", 1, { lease: "l" })],
    ["a resolve", ({ promptCache }) => promptCache.resolve({ provider: "openai", model: "m", hash: "h" })],
    ["a PUT under a condition", ({ kv }) => kv.set("u", "k", 1, { ifVersion: "v" })],
    ["a PUT of what must not be there", ({ kv }) => kv.set("u", "k", 1, { ifVersion: null })],
    ["a DELETE under a condition", ({ kv }) => kv.delete("u", "k", { ifVersion: "v" })],
    ["a change of a thread", ({ threads }) => threads.patch("t", { title: "x" })],
    ["a review by filter", ({ memories }) => memories.review("u", { decision: "reject", filter: {} })],
    [
      "a review under versions",
      ({ memories }) => memories.review("u", { decision: "release", memories: [{ id: "m", ifVersion: 1 }] }),
    ],
    ["a forgetting by filter", ({ memories }) => memories.forgetWhere("u", { key: "k" })],
    [
      "a batch that reads and writes",
      ({ kv }) =>
        kv.batch("u", [
          { op: "get", key: "k" },
          { op: "delete", key: "k" },
        ]),
    ],
    [
      "a batch that appends to more than one thread",
      ({ kv }) =>
        kv.batch("u", [
          { op: "append", threadId: "t1", messages: [{ role: "user", content: "a" }] },
          { op: "append", threadId: "t2", messages: [{ role: "user", content: "b" }] },
        ]),
    ],
  ])("is not %s", async (_, call) => {
    const { client, requests } = faked([lost, done()]);
    await expect(call(client)).rejects.toMatchObject({ code: "network" });
    expect(requests).toHaveLength(1);
  });

  it("is nothing where retry is false", async () => {
    const { client, requests } = faked([down(), done()], { retry: false });
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({ status: 503 });
    expect(requests).toHaveLength(1);
  });

  it("and then not found, was deleted by a try whose answer was lost", async () => {
    const { client } = faked([lost, failure(404, "not_found")]);
    expect(await client.memories.forget("u", "m")).toBeUndefined();
    const first = faked([failure(404, "not_found")]);
    await expect(first.client.memories.forget("u", "m")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the time between two tries", () => {
  it("doubles, at random up to its ceiling", async () => {
    const { client, waits } = faked([down()], { retry: { attempts: 8, withinMs: 1e6 } });
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(waits).toEqual([125, 250, 500, 1000, 2000, 4000, 4000]);
  });

  it("is no shorter than Retry-After, in seconds or as a date", async () => {
    const date = new Date(1_000_000 + 2_000 + 5_000).toUTCString();
    const { client, waits } = faked([down({ "Retry-After": "2" }), down({ "Retry-After": date }), done()]);
    await client.kv.get("u", "k");
    expect(waits).toEqual([2000, 5000]);
  });

  it("ends after four tries, with the last failure", async () => {
    const { client, requests } = faked([lost, lost, lost, down({ "Retry-After": "1" }), done()]);
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({
      status: 503,
      code: "storage_unavailable",
      requestId: "r1",
      retryAfter: 1,
    });
    expect(requests).toHaveLength(4);
  });

  it("is not waited for where it would go past the time for all", async () => {
    const { client, requests, waits } = faked([down({ "Retry-After": "31" })]);
    await expect(client.kv.get("u", "k")).rejects.toMatchObject({ retryAfter: 31 });
    expect([requests.length, waits.length]).toEqual([1, 0]);
  });

  it("is within its bounds whatever happens", () => {
    const retryAfter = fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 0, max: 60_000 }),
        retryAfter,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, elapsedMs, after, chance) => {
          const so = { attempt, elapsedMs, retryAfter: after };
          const least = (after ?? 0) * 1000;
          const delay = delayOf(so, { attempts: 10 }, () => chance);
          // Nothing is given up that could have been sent again in time, and nothing sent again too late.
          const mayEnd = attempt >= 10 || elapsedMs + Math.max(8000, least) > 30_000;
          const mayGoOn = attempt < 10 && elapsedMs + least <= 30_000;
          expect(delay === null ? mayEnd : mayGoOn).toBe(true);
          expect(delay ?? least).toBeGreaterThanOrEqual(least);
          expect(delay === null || elapsedMs + delay <= 30_000).toBe(true);
        },
      ),
    );
  });
});

describe("a signal", () => {
  const reason = new Error("the user went away");

  it("that has gone off keeps the call from being sent", async () => {
    const { client, requests } = faked([done()]);
    await expect(client.kv.get("u", "k", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(requests).toEqual([]);
  });

  it("that goes off on the way ends the call with its reason, and it is not sent again", async () => {
    const controller = new AbortController();
    const { client, requests } = faked([
      () => {
        controller.abort(reason);
        throw lost;
      },
    ]);
    await expect(client.kv.get("u", "k", { signal: controller.signal })).rejects.toBe(reason);
    expect(requests).toHaveLength(1);
  });

  it("that goes off while the call waits to be sent again ends it", async () => {
    const controller = new AbortController();
    const waiting = realTime.sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(realTime.sleep(0, undefined)).resolves.toBeUndefined();
  });

  it("goes along with the request", async () => {
    const controller = new AbortController();
    const { client, requests } = faked([done()]);
    await client.kv.get("u", "k", { signal: controller.signal });
    controller.abort();
    expect(requests[0]?.signal.aborted).toBe(true);
  });
});
