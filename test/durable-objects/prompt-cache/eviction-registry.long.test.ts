// The registry's objects evicted, and dead, in the middle of a flight.
import { abortAllDurableObjects, evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { shardOf } from "../../../src/domain/ids.ts";
import { call } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";

afterEach(restore);

const remove = (path: string) => call(path, { method: "DELETE" });
const shardOfKey = async (key: string) =>
  env.PROMPT_CACHE.getByName(`shard-${await shardOf(`*/${key}`, 64)}`);

describe("a waiter that is held for a registry entry", () => {
  const newKey = () => `evicted/${crypto.randomUUID()}`;
  const lease = (key: string, json: object) => call(`/v1/cache/${encodeURIComponent(key)}/lease`, { json });
  const put = (key: string, json: unknown, query = "") =>
    call(`/v1/cache/${encodeURIComponent(key)}${query}`, { method: "PUT", json });

  // An eviction waits for the calls that are held: what ends one is an object that dies.
  it("goes on waiting when the object dies, and gets the value", async () => {
    const key = newKey();
    const { id } = (await lease(key, { leaseMs: 60_000 })).body.lease;
    const waiting = [
      lease(key, { leaseMs: 60_000, waitMs: 30_000 }),
      call(`/v1/cache/${encodeURIComponent(key)}?lease=60000&wait=30000`),
    ];
    await scheduler.wait(50);
    await abortAllDurableObjects();
    await scheduler.wait(50);
    expect((await put(key, "there", `?lease=${id}`)).status).toBe(200);
    const [leased, got] = await Promise.all(waiting);
    expect(leased?.body).toMatchObject({ status: "hit", value: "there" });
    expect(got).toMatchObject({ status: 200, body: "there" });
  });

  it("is told to come again when the object dies and the rest of its wait runs out", async () => {
    const key = newKey();
    await lease(key, { leaseMs: 60_000 });
    const waiting = lease(key, { leaseMs: 60_000, waitMs: 300 });
    await scheduler.wait(50);
    await abortAllDurableObjects();
    control.clockAhead += 300;
    expect((await waiting).body).toEqual({ status: "wait", retryAfterMs: expect.any(Number) });
  });

  it("is not held for longer than it asked for", async () => {
    const key = newKey();
    await lease(key, { leaseMs: 120_000 });
    const waiting = lease(key, { leaseMs: 120_000, waitMs: 60_000 });
    await scheduler.wait(50);
    control.clockAhead = 60_000;
    await abortAllDurableObjects();
    expect((await waiting).body.status).toBe("wait");
  });

  it("is the next creator when the lease ends after the object has died", async () => {
    const key = newKey();
    const { id } = (await lease(key, { leaseMs: 60_000 })).body.lease;
    const waiting = lease(key, { leaseMs: 60_000, waitMs: 30_000 });
    await scheduler.wait(50);
    await abortAllDurableObjects();
    await scheduler.wait(50);
    await remove(`/v1/cache/${encodeURIComponent(key)}/lease?id=${id}`);
    expect((await waiting).body.status).toBe("lease");
  });
});

describe("a prompt cache's resource that is being created", () => {
  const resolve = (hash: string, more: object = {}) =>
    call("/v1/prompt-cache/resolve", { json: { provider: "google", model: "m", hash, ...more } });
  const resource = { name: "cachedContents/1", expiresAt: clock() + 3_600_000 };

  it.each<[string, (key: string) => Promise<void>]>([
    ["is evicted", async (key) => evictDurableObject(await shardOfKey(key))],
    ["dies", () => abortAllDurableObjects()],
  ])("stays its creator's when the object %s, and reaches those who wait", async (_, go) => {
    const hash = crypto.randomUUID();
    const { status, key, lease } = (await resolve(hash)).body;
    expect(status).toBe("create");
    await go(key);
    await scheduler.wait(20);
    expect((await resolve(hash)).body.status).toBe("wait");
    const waiting = resolve(hash, { waitMs: 30_000 });
    await scheduler.wait(50);
    if (go.length === 0) await go(key);
    await scheduler.wait(50);
    const written = await call(`/v1/cache/${encodeURIComponent(key)}?lease=${lease.id}`, {
      method: "PUT",
      json: resource,
    });
    expect(written.status).toBe(200);
    expect((await waiting).body).toMatchObject({ status: "hit", name: resource.name });
  });
});
