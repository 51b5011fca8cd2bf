import fc from "fast-check";
import { Keyv, type KeyvStoreAdapter } from "keyv";
import { Keyv as Keyv6 } from "keyv6";
import { describe, expect, it } from "vitest";
import { cairnKeyv, type CairnKeyvStore } from "../src/keyv.ts";
import { CairnError } from "../../client/src/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import { counting, failing, losing, silent } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";
import { clocked, pass } from "./clocked.ts";

/** What the compiler checks: the store is one of Keyv 5. */
const asKeyvSays = (store: CairnKeyvStore): KeyvStoreAdapter => store;

async function storeOf(user = newUser(), more: Parameters<typeof clientOf>[1] = {}) {
  const memory = await clientOf(user, more);
  return { user, memory, store: cairnKeyv({ memory, user }) };
}

describe("a Keyv over Cairn", () => {
  it("keeps falsy values, null and binary ones, and knows what was never there", async () => {
    const { store } = await storeOf();
    const keyv = new Keyv({ store: asKeyvSays(store) });
    const values = { zero: 0, no: false, empty: "", none: null, bytes: Buffer.from([0, 255]), colon: ":x" };
    for (const [key, value] of Object.entries(values)) await keyv.set(key, value);
    for (const [key, value] of Object.entries(values)) expect(await keyv.get(key)).toEqual(value);
    expect(await keyv.get("never")).toBeUndefined();
    expect(await keyv.has("none")).toBe(true);
    expect(await keyv.has("never")).toBe(false);
  });

  it("sets, asks for, reads and deletes many in one call each", async () => {
    const { fetch, calls } = counting();
    const { store } = await storeOf(newUser(), { fetch });
    const keyv = new Keyv({ store });
    const entries = Array.from({ length: 50 }, (_, i) => ({ key: `k${i}`, value: i }));
    const keys = [...entries.map(({ key }) => key), "missing"];
    expect(await keyv.setMany(entries)).toEqual(entries.map(() => true));
    expect(await keyv.getMany(keys)).toEqual([...entries.map(({ value }) => value), undefined]);
    expect(await keyv.hasMany(keys)).toEqual([...entries.map(() => true), false]);
    expect(await keyv.deleteMany(keys)).toBe(false);
    expect(await keyv.hasMany(keys)).toEqual(keys.map(() => false));
    expect(calls).toHaveLength(5);
  });

  it("takes more entries, and larger ones, than one call of the server's does", async () => {
    const { store } = await storeOf();
    const many = Array.from({ length: limits.operationsPerBatch + 5 }, (_, i) => ({ key: `${i}`, value: i }));
    await store.setMany(many);
    expect(await store.getMany(many.map(({ key }) => key))).toEqual(many.map(({ value }) => value));
    const large = Array.from({ length: 20 }, (_, i) => ({ key: `large ${i}`, value: "x".repeat(1_000_000) }));
    await store.setMany(large);
    const read = await store.getMany<string>(large.map(({ key }) => key));
    expect(read.map((value) => value?.length)).toEqual(large.map(() => 1_000_000));
  });

  it("lets an entry expire in the store too, to the millisecond", async () => {
    const user = newUser();
    const { store, memory } = await storeOf(user, await clocked(user));
    const keyv = new Keyv({ store, useKeyPrefix: false });
    await keyv.set("long", "x", 60_000);
    await keyv.set("ever", "x");
    const { items } = await memory.kv.list(user);
    expect(items.map(({ key, expiresAt, updatedAt }) => [key, expiresAt && expiresAt - updatedAt])).toEqual([
      ["keyv/keyv:ever", undefined],
      ["keyv/keyv:long", 60_000],
    ]);
    await keyv.set("brief", "x", 1);
    await pass(2);
    expect(await store.get("brief")).toBeUndefined();
    expect(await keyv.has("brief")).toBe(false);
    await keyv.set("long", "y");
    expect((await memory.kv.list(user, { prefix: "keyv/keyv:long" })).items[0]?.expiresAt).toBeUndefined();
  });

  it("keeps what is to live for more than ten years until Keyv says otherwise", async () => {
    const user = newUser();
    const { store, memory } = await storeOf(user, await clocked(user));
    for (const ttl of [0, limits.ttlMs + 1, Infinity, Number.NaN]) {
      await store.set("k", "x", ttl);
      expect((await memory.kv.list(user)).items).toMatchObject([{ key: "keyv/:k" }]);
      expect((await memory.kv.list(user)).items[0]?.expiresAt).toBeUndefined();
    }
    await store.set("k", "x", -5);
    await pass(1);
    expect(await store.get("k")).toBeUndefined();
  });

  it("keeps a plain value as JSON that the API reads, if Keyv is not to make a text of it", async () => {
    const { store, memory, user } = await storeOf();
    const keyv = new Keyv({
      store,
      namespace: "weather",
      useKeyPrefix: false,
      serialize: undefined,
      deserialize: undefined,
    });
    await keyv.set("lisbon", { degrees: 21 });
    expect(await memory.kv.get(user, "keyv/weather:lisbon")).toEqual({ value: { degrees: 21 } });
    expect(await keyv.get("lisbon")).toEqual({ degrees: 21 });
  });
});

it("is what Keyv 6 takes for a store of promises that manages its namespaces", async () => {
  const store = (await storeOf()).store;
  expect("namespace" in store).toBe(true);
  // It tells such a store by the constructor of its methods.
  for (const method of ["get", "has", "hasMany", "set", "setMany", "delete", "deleteMany", "clear"] as const)
    expect(store[method].constructor.name).toBe("AsyncFunction");
});

it("takes what one worker sets whole, though another sets the same keys at once", async () => {
  const { memory, user } = await storeOf();
  const keys = Array.from({ length: 20 }, (_, i) => `k${i}`);
  const workers = ["a", "b", "c"].map((value) => ({
    value,
    keyv: new Keyv({ store: cairnKeyv({ memory, user }) }),
  }));
  await Promise.all(workers.map(({ value, keyv }) => keyv.setMany(keys.map((key) => ({ key, value })))));
  expect(new Set(await workers[0]?.keyv.getMany(keys)).size).toBe(1);
});

describe("namespaces", () => {
  it("are cleared one by one, whatever characters they hold, and with Keyv's own prefix or without", async () => {
    const { user, memory } = await storeOf();
    const name = fc.string({ unit: fc.constantFrom("a", ":", "%", "3", "A", "_", "/"), maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name, { minLength: 2, maxLength: 3 }),
        fc.boolean(),
        name,
        async (names, useKeyPrefix, key) => {
          await memory.kv.deletePrefix(user, "");
          const all = names.map(
            (namespace) => new Keyv({ store: cairnKeyv({ memory, user }), namespace, useKeyPrefix }),
          );
          await Promise.all(all.map((keyv, i) => keyv.set(key, i)));
          await all[0]?.clear();
          expect(await Promise.all(all.map((keyv) => keyv.get(key)))).toEqual(
            all.map((_, i) => (i === 0 ? undefined : i)),
          );
        },
      ),
      { numRuns: 25 },
    );
  });

  it("are iterated one by one, page after page, under the keys that were set", async () => {
    const { user, memory, store } = await storeOf();
    const keyv = new Keyv({ store, namespace: "mine", useKeyPrefix: false });
    const keys = Array.from({ length: 1200 }, (_, i) => `k:${String(i).padStart(4, "0")}`);
    await keyv.setMany(keys.map((key) => ({ key, value: key })));
    await cairnKeyv({ memory, user }).set("k", "of no namespace");
    const found: string[] = [];
    for await (const [key, value] of keyv.iterator?.({}) ?? []) {
      expect(value).toBe(key);
      found.push(String(key));
    }
    expect(found).toEqual(keys);
  });

  it("keep users apart: another user's token reads and changes nothing", async () => {
    const { user, store } = await storeOf();
    await store.set("k", "secret");
    const stranger = cairnKeyv({ memory: await clientOf(newUser()), user });
    expect(await stranger.get("k")).toBeUndefined();
    await expect(stranger.has("k")).rejects.toMatchObject({ code: "not_found" });
    await expect(stranger.set("k", "forged")).rejects.toMatchObject({ code: "not_found" });
    await expect(stranger.clear()).rejects.toMatchObject({ code: "not_found" });
    expect(await store.get("k")).toBe("secret");
  });
});

describe("in Keyv 6", () => {
  it("keeps the values of its namespace, with their lifetimes", async () => {
    const { user, memory, store } = await storeOf();
    const keyv = new Keyv6({ store, namespace: "a" });
    const other = new Keyv6({ store: cairnKeyv({ memory, user }), namespace: "b" });
    expect(await keyv.set("k", { n: 1 })).toBe(true);
    await keyv.setMany([
      { key: "one", value: 1 },
      { key: "gone", value: 2, ttl: 1 },
    ]);
    await other.set("k", "of b");
    expect(await keyv.get("k")).toEqual({ n: 1 });
    await expect.poll(() => keyv.get("gone")).toBeUndefined();
    expect(await keyv.getMany(["one", "none", "k"])).toEqual([1, undefined, { n: 1 }]);
    expect(await keyv.has("one")).toBe(true);
    expect(await keyv.delete("one")).toBe(true);
    expect(await keyv.has("one")).toBe(false);
    await keyv.clear();
    expect([await keyv.get("k"), await other.get("k")]).toEqual([undefined, "of b"]);
  });

  it("rejects in an outage that nobody listens to", async () => {
    const { store } = await storeOf(newUser(), { fetch: failing(503), retry: false });
    const keyv = new Keyv6({ store });
    const failed = { code: "storage_unavailable" };
    await expect(keyv.get("k")).rejects.toMatchObject(failed);
    await expect(keyv.set("k", 1)).rejects.toMatchObject(failed);
    await expect(keyv.has("k")).rejects.toMatchObject(failed);
    await expect(keyv.delete("k")).rejects.toMatchObject(failed);
    await expect(keyv.clear()).rejects.toMatchObject(failed);
  });

  it("tells a listener of an outage, and gives the results of a miss", async () => {
    const { store } = await storeOf(newUser(), { fetch: failing(503), retry: false });
    const keyv = new Keyv6({ store });
    const told: unknown[] = [];
    keyv.on("error", (error: unknown) => told.push(error));
    const calls = [
      () => keyv.get("k"),
      () => keyv.getMany(["k"]),
      () => keyv.set("k", 1),
      () => keyv.has("k"),
      () => keyv.delete("k"),
    ];
    const results: unknown[] = [];
    for (const call of calls) results.push(await call());
    expect(results).toEqual([undefined, [undefined], false, false, false]);
    expect(new Set(told.map((error) => (error as CairnError).code))).toEqual(
      new Set(["storage_unavailable"]),
    );
    expect(told.length).toBeGreaterThanOrEqual(calls.length);
  });
});

describe("failures", () => {
  const retry = false;

  it("reject, and are told to whoever listens to Keyv", async () => {
    for (const [status, code] of [
      [503, "storage_unavailable"],
      [429, "rate_limited"],
    ] as const) {
      const { store } = await storeOf(newUser(), { fetch: failing(status, { code }), retry });
      const keyv = new Keyv({ store, throwOnErrors: true });
      const told: unknown[] = [];
      keyv.on("error", (error) => told.push(error));
      await expect(keyv.get("k")).rejects.toBeInstanceOf(CairnError);
      await expect(keyv.set("k", 1)).rejects.toMatchObject({ code });
      await expect(keyv.setMany([{ key: "k", value: 1 }])).rejects.toMatchObject({ code });
      await expect(keyv.getMany(["k"])).rejects.toMatchObject({ code });
      await expect(keyv.has("k")).rejects.toMatchObject({ code });
      await expect(keyv.hasMany(["k"])).rejects.toMatchObject({ code });
      await expect(keyv.delete("k")).rejects.toMatchObject({ code });
      await expect(keyv.clear()).rejects.toMatchObject({ code });
      expect(told).toHaveLength(5);
    }
  });

  it("are told though Keyv gives undefined for them", async () => {
    const { store } = await storeOf(newUser(), { fetch: failing(503), retry });
    const keyv = new Keyv({ store });
    const told: unknown[] = [];
    keyv.on("error", (error) => told.push(error));
    expect(await keyv.get("k")).toBeUndefined();
    expect(told).toMatchObject([{ code: "storage_unavailable" }]);
  });

  it("of an answer that is lost delete once, and say that there was one", async () => {
    const fetch = losing(({ url }) => url.endsWith("/batch"));
    const { store } = await storeOf(newUser(), { fetch });
    await store.set("k", "x");
    expect(await store.delete("k")).toBe(true);
  });

  it("of a server that never answers are the client's to end", async () => {
    const patience = AbortSignal.timeout(50);
    const { store } = await storeOf(newUser(), {
      fetch: (request) => silent(new Request(request, { signal: patience })),
      retry,
    });
    // On a busy machine, the limit of the call ends it first.
    await expect(store.get("k")).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:network|timeout)$/),
    });
  });

  it("of a value that is too large say so, and change nothing", async () => {
    const { store } = await storeOf();
    await store.set("k", "before");
    await expect(store.set("k", "x".repeat(64 * 1024 * 1024))).rejects.toMatchObject({
      code: "value_too_large",
    });
    expect(await store.get("k")).toBe("before");
  });
});
