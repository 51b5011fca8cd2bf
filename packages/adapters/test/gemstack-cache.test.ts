import { expect, it, onTestFinished, vi } from "vitest";
import {
  type CacheAdapter,
  type CairnCache,
  cairnCache,
  type CairnCacheOptions,
  cairnRuns,
  type RunStore,
} from "../src/gemstack.ts";
import { BoundedMap } from "../src/gemstack/bounded-map.ts";
import { ttlSecondsOf } from "../src/gemstack/ttl-seconds.ts";
import type { Fetch } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import { failing, losing, counting, silent } from "./broken.ts";
import { fromNow } from "../../../test/from-now.ts";
import { clocked, pass } from "./clocked.ts";

/** The cache of a worker of its own. */
const workerOf = async (user: string, options: Partial<CairnCacheOptions> = {}): Promise<CairnCache> =>
  cairnCache({ memory: await clientOf(user), ...options });
const workersOf = (count: number, user: string, options: Partial<CairnCacheOptions> = {}) =>
  Promise.all(Array.from({ length: count }, () => workerOf(user, options)));

const threeOf = async (user: string, options: Partial<CairnCacheOptions> = {}) =>
  [await workerOf(user, options), await workerOf(user, options), await workerOf(user, options)] as const;

const GOOGLE = "gemstack:ai:google-cache:";
const RUN = "gemstack:ai:agent-run:";
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));
/** Longer than a test may take: what is held so long that it ends by itself fails. */
const ENDLESS = { leaseMs: 600_000 };

type Resource = { name: string; expiresAt: number };
/** As the SDK's registry does: look, create, store. */
async function resolve(cache: CacheAdapter, key: string, create: () => Promise<string>, ttlMs = 3_600_000) {
  const found = await cache.get<Resource>(key);
  if (found !== null) return found.name;
  const name = await create();
  await cache.set(key, { name, expiresAt: fromNow(ttlMs) }, Math.ceil(ttlMs / 1000));
  return name;
}

it("is a CacheAdapter", async () => {
  const cache: CacheAdapter = await workerOf(newUser());
  expect(cache).toBeDefined();
});

it("gives null for what is not there, and forgets without an error", async () => {
  const cache = await workerOf(newUser());
  for (const key of ["plain", "", ".", "..", "a/b ✓", `${RUN}1`, `${GOOGLE}1`]) {
    expect(await cache.get(key)).toBeNull();
    await cache.forget(key);
    for (const value of [{ name: "cachedContents/1", expiresAt: 1 }, 0, "", false, [null]]) {
      await cache.set(key, value);
      expect(await cache.get(key)).toEqual(value);
    }
    await cache.forget(key);
    expect(await cache.get(key)).toBeNull();
    await cache.forget(key);
    await cache.forget(key);
  }
});

it("keeps a value for seconds", async () => {
  const user = newUser();
  const cache = cairnCache({ memory: await clientOf(user, await clocked(user)) });
  await cache.set("none", 0);
  await cache.set("none", 1, 0);
  await cache.set("ever", 1, 1);
  await cache.set("ever", 1);
  await cache.set("long", 1, 1e12);
  await cache.set("infinite", 1, Infinity);
  await cache.set("half", 0.5, 0.5); // rounded up
  expect(await cache.get("none")).toBeNull();
  await cache.set("three", 3, 3);
  expect(await cache.get("three")).toBe(3);
  await pass(1100);
  expect(await cache.get("half")).toBeNull();
  expect(await cache.get("three")).toBe(3);
  await pass(2000);
  expect(await cache.get("three")).toBeNull();
  for (const key of ["ever", "long", "infinite"]) expect(await cache.get(key)).toBe(1);
});

it("keeps namespaces and tokens apart", async () => {
  const [alice, bob] = [newUser(), newUser()];
  const cache = await workerOf(alice);
  const others = [
    await workerOf(bob),
    await workerOf(alice, { namespace: "other" }),
    await workerOf(alice, { namespace: "gemstack/a" }),
  ];
  await cache.set("a/b", 1);
  await cache.set(`${RUN}x`, 1);
  for (const other of others)
    for (const key of ["a/b", "b", `${RUN}x`]) {
      expect(await other.get(key)).toBeNull();
      await other.set(key, 2);
    }
  expect(await cache.get("a/b")).toBe(1);
  expect(await cache.get(`${RUN}x`)).toBe(1);
  expect(await (await workerOf(alice)).get("a/b")).toBe(1);
});

it("holds the second misser until the first one sets", async () => {
  const [first, second, third] = await threeOf(newUser(), ENDLESS);
  const key = `${GOOGLE}h`;
  expect(await first.get(key)).toBeNull();
  let answered = 0;
  const held = [second, third].map(async (worker) => {
    const value = await worker.get(key);
    answered++;
    return value;
  });
  await wait(500);
  expect(answered).toBe(0);
  await first.set(key, { name: "cachedContents/1", expiresAt: fromNow(60_000) }, 60);
  for (const value of await Promise.all(held)) expect(value).toMatchObject({ name: "cachedContents/1" });
});

it("holds a second caller in the same worker, too", async () => {
  const cache = await workerOf(newUser());
  const key = `${GOOGLE}h`;
  expect(await cache.get(key)).toBeNull();
  const held = cache.get(key);
  await wait(200);
  await cache.set(key, 7, 60);
  expect(await held).toBe(7);
});

it("lets the second misser create when the first one forgets", async () => {
  const [first, second] = await threeOf(newUser(), ENDLESS);
  const key = `${GOOGLE}h`;
  expect(await first.get(key)).toBeNull();
  const held = second.get(key);
  await wait(300);
  await first.forget(key);
  expect(await held).toBeNull();
  // It is the second one's to create now, and the first one is held in its turn.
  const again = first.get(key);
  await wait(100);
  await second.set(key, "second's", 60);
  expect(await again).toBe("second's");
});

it("lets the second misser create when the lease of the first one runs out", async () => {
  const [first, second, third] = await threeOf(newUser(), { leaseMs: 2000, waitMs: 10_000 });
  const key = `${GOOGLE}h`;
  expect(await first.get(key)).toBeNull();
  const held = second.get(key);
  await wait(200);
  const last = third.get(key);
  expect(await held).toBeNull();
  await second.set(key, "second's", 60);
  expect(await last).toBe("second's");
  // The first one is late: its resource is as good.
  await first.set(key, "first's", 60);
  expect(await third.get(key)).toBe("first's");
});

it("holds nobody for longer than it may wait", async () => {
  const [first, second, third] = await threeOf(newUser(), { ...ENDLESS, waitMs: 300 });
  const key = `${GOOGLE}h`;
  expect(await first.get(key)).toBeNull();
  expect(await second.get(key)).toBeNull();
  const impatient = await workerOf(newUser(), { ...ENDLESS, waitMs: 0 });
  expect(await impatient.get(key)).toBeNull();
  expect(await impatient.get(key)).toBeNull();
  // Who created without a lease stores for all.
  await second.set(key, "second's", 60);
  expect(await third.get(key)).toBe("second's");
});

it("does not hold for a key again whose creation fails", async () => {
  const user = newUser();
  const waits: number[] = [];
  const noting = await clientOf(user, {
    fetch: async (request) => {
      if (request.url.endsWith("/lease")) {
        const { waitMs } = (await request.clone().json()) as { waitMs: number };
        waits.push(waitMs);
      }
      return fetch(request);
    },
  });
  const cache = cairnCache({ memory: noting, leaseMs: 2000 });
  const key = `${GOOGLE}h`;
  expect(await cache.get(key)).toBeNull(); // and the creation fails
  expect(await cache.get(key)).toBeNull();
  expect(waits.filter((ms) => ms > 0)).toHaveLength(1);
  await Promise.all([cache.get(key), cache.get(key), cache.get(key)]);
  expect(waits.filter((ms) => ms > 0)).toHaveLength(1);
  await cache.set(key, 1, 60);
  expect(await cache.get(key)).toBe(1);
});

it("goes on holding for a key whose creator has given up in time", async () => {
  const [first, second] = await threeOf(newUser(), { leaseMs: 10_000 });
  const key = `${GOOGLE}h`;
  for (let i = 0; i < 2; i++) {
    expect(await first.get(key)).toBeNull();
    const held = second.get(key);
    await wait(100);
    await first.forget(key);
    expect(await held).toBeNull();
    await second.forget(key);
  }
  expect(await first.get(key)).toBeNull();
  const held = second.get(key);
  await wait(100);
  await first.set(key, 1, 60);
  expect(await held).toBe(1);
});

it("holds a second misser also where calls take long", async () => {
  const user = newUser();
  const slow: Fetch = async (request) => {
    await wait(1200);
    return fetch(request);
  };
  const first = cairnCache({ memory: await clientOf(user, { fetch: slow }) });
  const second = await workerOf(user);
  const key = `${GOOGLE}h`;
  expect(await first.get(key)).toBeNull();
  await first.forget(key);
  expect(await second.get(key)).toBeNull();
  const held = first.get(key);
  await wait(2600);
  await second.set(key, 1, 60);
  expect(await held).toBe(1);
});

it("never holds the keys of agent runs", async () => {
  const { fetch, calls } = counting();
  const user = newUser();
  const cache = cairnCache({ memory: await clientOf(user, { fetch }) });
  for (const prefix of [RUN, "gemstack:ai:sub-agent-run:", "anything"]) {
    const keys = Array.from({ length: 5 }, () => `${prefix}x`);
    await Promise.all(keys.map((key) => cache.get(key)));
  }
  expect(calls.filter((call) => call.endsWith("/lease"))).toEqual([]);
});

it("lets other keys fly single, if told so", async () => {
  const [first, second] = await threeOf(newUser(), { ...ENDLESS, singleFlight: ["mine:"] });
  expect(await first.get("mine:1")).toBeNull();
  const held = second.get("mine:1");
  await wait(100);
  await first.set("mine:1", "one", 60);
  expect(await held).toBe("one");
  for (const worker of [first, second]) expect(await worker.get(`${GOOGLE}1`)).toBeNull();
});

it("creates one resource for many workers that miss at once", async () => {
  const workers = await workersOf(12, newUser());
  let created = 0;
  const create = async () => {
    const name = `cachedContents/${++created}`;
    await wait(300);
    return name;
  };
  const names = await Promise.all(workers.map((cache) => resolve(cache, `${GOOGLE}h`, create)));
  expect(created).toBe(1);
  expect(new Set(names)).toEqual(new Set(["cachedContents/1"]));
});

it("creates one resource at a time while they expire", async () => {
  const user = newUser();
  const client = await clocked(user);
  const workers = await Promise.all(
    Array.from({ length: 6 }, async () => cairnCache({ memory: await clientOf(user, client) })),
  );
  let [creating, most, created] = [0, 0, 0];
  const create = async () => {
    most = Math.max(most, ++creating);
    await wait(30);
    creating--;
    return `cachedContents/${++created}`;
  };
  for (const round of [1, 2, 3]) {
    await Promise.all(workers.map((cache) => resolve(cache, `${GOOGLE}h`, create, 600_000)));
    expect([created, most]).toEqual([round, 1]);
    await pass(601_000);
  }
});

it("tells all workers that a prompt is too small", async () => {
  const [first, second] = await threeOf(newUser());
  const key = `${GOOGLE}small`;
  expect(await first.get(key)).toBeNull();
  const held = second.get(key);
  const value = { tooSmall: true, expiresAt: fromNow(300_000) };
  await first.set(key, value, 300);
  expect(await held).toEqual(value);
});

it("does not drop a new resource for a late 404 of the old one", async () => {
  const [first, second] = await threeOf(newUser());
  const key = `${GOOGLE}h`;
  const make = (name: string) => async () => name;
  for (const cache of [first, second])
    expect(await resolve(cache, key, make("cachedContents/old"))).toBe("cachedContents/old");
  // The provider has dropped it. Both hear of it, one of them late.
  await first.forget(key);
  expect(await resolve(first, key, make("cachedContents/new"))).toBe("cachedContents/new");
  await second.forget(key);
  expect(await resolve(second, key, make("cachedContents/newer"))).toBe("cachedContents/new");
});

it("does not end the lease of another with a late forget", async () => {
  const [first, second, third] = await threeOf(newUser());
  const key = `${GOOGLE}h`;
  await first.set(key, "old", 60);
  expect(await second.get(key)).toBe("old");
  await first.forget(key);
  expect(await first.get(key)).toBeNull(); // and creates the new one
  await second.forget(key);
  const held = third.get(key);
  await wait(200);
  await first.set(key, "new", 60);
  expect(await held).toBe("new");
});

it("forgets the version that it names, and no newer one", async () => {
  for (const key of [`${GOOGLE}h`, "plain"]) {
    const cache = await workerOf(newUser());
    expect(await cache.getVersioned(key)).toBeNull();
    await cache.set(key, "old");
    const old = await cache.getVersioned(key);
    expect(old?.value).toBe("old");
    await cache.set(key, "new");
    await cache.forget(key, { version: old?.version });
    expect(await cache.get(key)).toBe("new");
    await cache.forget(key, { version: (await cache.getVersioned(key))?.version });
    expect(await cache.getVersioned(key)).toBeNull();
  }
});

it("hands a value to one of many takers at once", async () => {
  const workers = await workersOf(10, newUser());
  await workers[0]?.set("taken", { run: 1 }, 60);
  const taken = await Promise.all(workers.map((cache) => cache.consume("taken")));
  expect(taken.filter((value) => value !== null)).toEqual([{ run: 1 }]);
  expect(await workers[0]?.get("taken")).toBeNull();
  expect(await workers[0]?.consume("taken")).toBeNull();
});

it("hands a run to one of many at once", async () => {
  const user = newUser();
  type Run = { messages: string[] };
  const stores: RunStore<Run>[] = (await workersOf(8, user)).map((cache) => cairnRuns<Run>({ cache }));
  const [store] = stores;
  expect(await store?.load("run-1")).toBeNull();
  expect(await store?.consume("run-1")).toBeNull();
  await store?.store("run-1", { messages: ["hi"] });
  expect(await stores[1]?.load("run-1")).toEqual({ messages: ["hi"] });
  const taken = await Promise.all(stores.map((one) => one.consume("run-1")));
  expect(taken.filter((run) => run !== null)).toEqual([{ messages: ["hi"] }]);
  expect(await store?.load("run-1")).toBeNull();
});

it("parks runs where the SDK's own store finds them", async () => {
  const cache = await workerOf(newUser());
  await cairnRuns({ cache }).store("r", { a: 1 });
  // As the SDK's store over a CacheAdapter takes a run.
  const run = await cache.get(`${RUN}r`);
  await cache.forget(`${RUN}r`);
  expect(run).toEqual({ a: 1 });
  expect(await cairnRuns({ cache }).load("r")).toBeNull();
  const subRuns = cairnRuns({ cache, keyPrefix: "gemstack:ai:sub-agent-run:", ttlSeconds: 5 });
  await subRuns.store("r", { b: 2 });
  expect(await cairnRuns({ cache }).load("r")).toBeNull();
  expect(await subRuns.load("r")).toEqual({ b: 2 });
  await wait(5_100);
  expect(await subRuns.load("r")).toBeNull();
});

it("reads without a lease when there is none to be had", async () => {
  const user = newUser();
  const key = `${GOOGLE}h`;
  const busy = cairnCache({ memory: await clientOf(user, { fetch: failing(503, { times: 1 }) }) });
  expect(await busy.get(key)).toBeNull();
  await busy.set(key, 1, 60);
  const busyAgain = cairnCache({ memory: await clientOf(user, { fetch: failing(429, { times: 2 }) }) });
  expect(await busyAgain.get(key)).toBe(1);
  const away = cairnCache({ memory: await clientOf(user, { fetch: failing(503), retry: { attempts: 2 } }) });
  for (const call of [
    () => away.get(key),
    () => away.get("plain"),
    () => away.set(key, 2, 60),
    () => away.forget(key),
    () => away.consume(key),
  ])
    await expect(call()).rejects.toMatchObject({ name: "CairnError", status: 503 });
  expect(await busy.get(key)).toBe(1);
});

it("stores a value, though the answer is lost, and frees who is held", async () => {
  const user = newUser();
  const key = `${GOOGLE}h`;
  const fetch = losing(({ method }) => method === "PUT");
  const first = cairnCache({ memory: await clientOf(user, { fetch }) });
  const second = await workerOf(user);
  expect(await first.get(key)).toBeNull();
  const held = second.get(key);
  await first.set(key, "made", 60);
  expect(await held).toBe("made");
});

it("ends a held get with its signal", async () => {
  // A Cairn that does not notice who has left hands them the lease: it runs out.
  const [first, second, third] = await threeOf(newUser(), { leaseMs: 2000 });
  const key = `${GOOGLE}h`;
  expect(await first.get(key)).toBeNull();
  const signal = AbortSignal.timeout(200);
  await expect(second.get(key, { signal })).rejects.toMatchObject({ name: "TimeoutError" });
  const held = third.get(key);
  await wait(200);
  await first.forget(key);
  expect(await held).toBeNull();
  const hung = cairnCache({ memory: await clientOf(newUser(), { fetch: silent }) });
  await expect(hung.get(key, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
    name: "TimeoutError",
  });
});

it("keeps a resource until a second before it expires, and anything else as long as told", () => {
  const now = Date.UTC(2026, 0, 1);
  vi.useFakeTimers({ toFake: ["Date"], now });
  onTestFinished(() => void vi.useRealTimers());
  const inMs = (ms: number) => ({ name: "n", expiresAt: now + ms });
  expect(ttlSecondsOf(undefined, inMs(60_000))).toBeUndefined();
  expect(ttlSecondsOf(60, inMs(60_000))).toBe(59);
  expect(ttlSecondsOf(60, inMs(600_000))).toBe(60);
  expect(ttlSecondsOf(60, inMs(-5))).toBe(60);
  expect(ttlSecondsOf(1, inMs(900))).toBe(1);
  for (const value of [undefined, null, 7, "x", { expiresAt: "soon" }])
    expect(ttlSecondsOf(60, value)).toBe(60);
});

it("notes no more keys than it is told", () => {
  const latest = new BoundedMap<number>(2);
  for (const [key, value] of Object.entries({ a: 1, b: 2 })) latest.set(key, value);
  latest.set("a", 3);
  latest.set("c", 4);
  expect([latest.get("a"), latest.get("b"), latest.take("c"), latest.get("c")]).toEqual([
    3,
    undefined,
    4,
    undefined,
  ]);
});
