import fc from "fast-check";
import { createStorage, type Driver, prefixStorage, restoreSnapshot, snapshot } from "unstorage";
import memoryDriver from "unstorage/drivers/memory";
import { describe, expect, it } from "vitest";
import { type CairnDriver, cairnDriver, type CairnDriverOptions } from "../src/unstorage.ts";
import type { CairnOptions } from "../../client/src/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import { counting, failing, losing, silent } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";
import { clocked, pass } from "./clocked.ts";
import { anyCharacter } from "../../../test/any-character.ts";

/** What the compiler checks: the driver is one. */
const asUnstorageSays = (driver: CairnDriver): Driver => driver;

type Made = { client?: Partial<CairnOptions> } & Partial<CairnDriverOptions>;

async function storageOf({ client = {}, user = newUser(), ...options }: Made = {}) {
  const memory = await clientOf(user, client);
  const driver = cairnDriver({ memory, user, ...options });
  return { user, memory, driver, storage: createStorage({ driver: asUnstorageSays(driver) }) };
}

describe("what every driver of unstorage does", () => {
  it("begins empty", async () => {
    const { storage } = await storageOf();
    expect(await storage.hasItem("s1:a")).toBe(false);
    expect(await storage.getItem("s1:a")).toBeNull();
    expect(await storage.getItemRaw("s1:a")).toBeNull();
    expect(await storage.getKeys()).toEqual([]);
    expect(await storage.getMeta("s1:a")).toEqual({});
  });

  it("sets, has and gets an item, under its key without the query", async () => {
    const { storage } = await storageOf();
    await storage.setItem("s1:a", "text");
    await storage.setItem("s3:a?q=1", "other");
    expect(await storage.hasItem("s1:a")).toBe(true);
    expect(await storage.hasItem("s1")).toBe(false);
    expect(await storage.getItem("s1:a")).toBe("text");
    expect(await storage.getItem("s3/a?q=2")).toBe("other");
  });

  it("lists all keys, or those under a base", async () => {
    const { storage } = await storageOf();
    for (const key of ["s1:a", "s1:b:c", "s10:a", "s2:a"]) await storage.setItem(key, "x");
    expect(await storage.getKeys()).toEqual(["s10:a", "s1:a", "s1:b:c", "s2:a"]);
    expect(await storage.getKeys("s1")).toEqual(["s1:a", "s1:b:c"]);
    expect(await storage.getKeys("s1:b")).toEqual(["s1:b:c"]);
    expect(await storage.getKeys("s3")).toEqual([]);
  });

  it("lists keys to a depth", async () => {
    const { storage, driver } = await storageOf();
    for (const key of ["a", "b:a", "b:b", "b:c:a"]) await storage.setItem(key, "x");
    const at = async (maxDepth: number, base?: string) => storage.getKeys(base, { maxDepth });
    expect(await at(0)).toEqual(["a"]);
    expect(await at(1)).toEqual(["a", "b:a", "b:b"]);
    expect(await at(2)).toEqual(["a", "b:a", "b:b", "b:c:a"]);
    expect(await at(1, "b")).toEqual(["b:a", "b:b"]);
    expect(await driver.getKeys("b", { maxDepth: 1 })).toEqual(["b:a", "b:b"]);
  });

  it("keeps objects, primitives, what falsy is, and what has a toJSON; and refuses other things", async () => {
    const { storage } = await storageOf();
    const values = { object: { json: "works" }, yes: true, no: false, zero: 0, none: null, list: [1, [2]] };
    for (const [key, value] of Object.entries(values)) await storage.setItem(key, value);
    for (const [key, value] of Object.entries(values)) expect(await storage.getItem(key)).toEqual(value);
    await storage.setItem("date", new Date(0));
    expect(await storage.getItem("date")).toBe("1970-01-01T00:00:00.000Z");
    await expect(storage.setItem("other", new Map())).rejects.toThrow("Cannot stringify");
  });

  it("keeps bytes", async () => {
    const { storage } = await storageOf();
    const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => i % 256);
    await storage.setItemRaw("file.bin", bytes);
    expect(new Uint8Array((await storage.getItemRaw<Uint8Array>("file.bin")) ?? [])).toEqual(bytes);
    await storage.setItemRaw("empty.bin", new Uint8Array());
    expect(await storage.getItemRaw("empty.bin")).toEqual(new Uint8Array());
  });

  it("sets and gets many, and says null of those that are not there", async () => {
    const { storage } = await storageOf();
    await storage.setItems([
      { key: "t:1", value: "one" },
      { key: "t:2", value: '{"two":2}' },
    ]);
    expect(await storage.getItems([{ key: "t:1" }, "t:2?q=1", "t:3"])).toEqual([
      { key: "t:1", value: "one" },
      { key: "t:2", value: { two: 2 } },
      { key: "t:3", value: null },
    ]);
  });

  it("removes an item, with its metadata if asked; no error if there is none", async () => {
    const { storage } = await storageOf();
    await storage.setItem("a", "x");
    await storage.setMeta("a", { tag: "blue" });
    expect(await storage.getMeta("a")).toMatchObject({ tag: "blue" });
    expect(await storage.getKeys()).toEqual(["a"]);
    await storage.removeItem("a", { removeMeta: true });
    await storage.removeItem("a");
    expect(await storage.getItem("a")).toBeNull();
    expect(await storage.getMeta("a")).toEqual({});
  });

  it("clears a base, or everything, also of nothing", async () => {
    const { storage, driver } = await storageOf();
    for (const key of ["s1:a", "s1:b:c", "s10:a"]) await storage.setItem(key, "x");
    // The storage itself clears whole mounts only, whatever their driver.
    await driver.clear("s1");
    expect(await storage.getKeys()).toEqual(["s10:a"]);
    await storage.clear();
    await storage.clear();
    expect(await storage.getKeys()).toEqual([]);
    await storage.dispose();
  });

  it("is mounted, prefixed, taken a snapshot of and restored", async () => {
    const { driver } = await storageOf();
    const storage = createStorage({ driver: memoryDriver() });
    storage.mount("cairn", driver);
    await restoreSnapshot(storage, { "cairn:a": "1", "cairn:b:c": "2", own: "3" });
    expect(await driver.getKeys()).toEqual(["a", "b:c"]);
    expect((await storage.getKeys()).toSorted()).toEqual(["cairn:a", "cairn:b:c", "own"]);
    expect(await storage.getKeys(undefined, { maxDepth: 1 })).toEqual(
      expect.arrayContaining(["cairn:a", "own"]),
    );
    expect(await prefixStorage(storage, "cairn:b").getItem("c")).toBe(2);
    expect(await snapshot(storage, "cairn")).toEqual({ a: 1, "b:c": 2 });
    await storage.clear("cairn");
    expect(await storage.getKeys()).toEqual(["own"]);
  });

  it("tells those who watch the storage of its own writes, as it cannot of others'", async () => {
    const { storage, driver } = await storageOf();
    const seen: string[] = [];
    await storage.watch((event, key) => void seen.push(`${event} ${key}`));
    await storage.setItem("a", "x");
    await storage.removeItem("a");
    expect(seen).toEqual(["update a", "remove a"]);
    expect("watch" in driver).toBe(false);
  });
});

describe("the law of values", () => {
  it("is that a text comes back as it was, and reads as the memory driver reads it", async () => {
    const { driver, storage } = await storageOf();
    const reference = createStorage({ driver: memoryDriver() });
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify(value, null, 1)),
      fc.constantFrom(
        "1.0",
        "1e400",
        "-0",
        '"x"',
        "{}",
        '{"$bytes":"AQ=="}',
        "base64:AQ==",
        '{"__proto__":1}',
        "",
      ),
    );
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        await driver.setItem("k", value);
        expect(await driver.getItem("k")).toBe(value);
        expect(await driver.getItemRaw("k")).toBe(value);
        expect(await driver.getItems([{ key: "k" }])).toEqual([{ key: "k", value }]);
        await reference.setItem("k", value);
        expect(await storage.getItem("k")).toEqual(await reference.getItem("k"));
      }),
      { numRuns: 60 },
    );
  });

  it("is that bytes come back as they were, from every kind of buffer", async () => {
    const { driver } = await storageOf();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), async (bytes) => {
        const whole = bytes.slice();
        for (const given of [whole, whole.buffer, new DataView(whole.buffer), new Blob([whole])]) {
          await driver.setItemRaw("k", given);
          expect(await driver.getItemRaw("k")).toEqual(whole);
        }
        expect(await driver.getItem("k")).toBe(`base64:${Buffer.from(bytes).toString("base64")}`);
      }),
      { numRuns: 10 },
    );
    await driver.setItemRaw("k", "text");
    expect(await driver.getItemRaw("k")).toBe("text");
    await expect(driver.setItemRaw("k", { a: 1 })).rejects.toThrow(TypeError);
  });

  it("is that JSON is kept as what it says, for the API to read", async () => {
    const { storage, memory, user } = await storageOf();
    await storage.setItem("settings:theme", { dark: true });
    expect(await memory.kv.get(user, "unstorage:settings:theme")).toEqual({ dark: true });
    await memory.kv.set(user, "unstorage:other", { by: "the API" });
    expect(await storage.getItem("other")).toEqual({ by: "the API" });
  });
});

describe("a time to live", () => {
  it("is in seconds: of a call, of one item of many, or else of the driver", async () => {
    const { storage, driver } = await storageOf({ ttl: 100 });
    await storage.setItem("usual", "x");
    await storage.setItem("own", "x", { ttl: 1000 });
    await storage.setItem("ever", "x", { ttl: 0 });
    await storage.setItemRaw("raw", new Uint8Array([1]), { ttl: 1000 });
    await storage.setItems(
      [
        { key: "one", value: "x", options: { ttl: 10 } },
        { key: "two", value: "x" },
      ],
      {
        ttl: 1000,
      },
    );
    const ttl = async (key: string) => (await driver.getMeta(key))?.ttl ?? null;
    const left = await Promise.all(["usual", "own", "ever", "raw", "one", "two"].map(ttl));
    expect(left.map((seconds) => (seconds === null ? null : Math.round(seconds / 10) * 10))).toEqual([
      100,
      1000,
      null,
      1000,
      10,
      1000,
    ]);
  });

  it("ends with the item", async () => {
    const user = newUser();
    const { storage } = await storageOf({ user, client: await clocked(user) });
    await storage.setItem("k", "x", { ttl: 1000 });
    expect(await storage.getItem("k")).toBe("x");
    await storage.setItem("k", "x", { ttl: 0.001 });
    await pass(2);
    expect(await storage.getItem("k")).toBeNull();
    expect(await storage.hasItem("k")).toBe(false);
    expect(await storage.getKeys()).toEqual([]);
  });
});

describe("a driver over Cairn", () => {
  it("tells when an item was set, and its version", async () => {
    const { storage, memory, user } = await storageOf();
    await storage.setItem("k", "x");
    const { mtime, version } = await storage.getMeta("k");
    const [entry] = (await memory.kv.list(user, { prefix: "unstorage:k" })).items;
    expect(Number(mtime)).toBe(entry?.updatedAt);
    expect(version).toBe((await memory.kv.getVersioned(user, "unstorage:k"))?.version);
  });

  it("keeps bases apart", async () => {
    const user = newUser();
    const { storage: a } = await storageOf({ user, base: "a" });
    const { storage: ab } = await storageOf({ user, base: "ab" });
    await a.setItem("k", "of a");
    await ab.setItem("k", "of ab");
    await a.clear();
    expect(await ab.getItem("k")).toBe("of ab");
    expect(await a.getKeys()).toEqual([]);
  });

  it("makes one call of many items, and as many as it takes of very many", async () => {
    const { fetch, calls } = counting();
    const { storage } = await storageOf({ client: { fetch } });
    const items = Array.from({ length: limits.operationsPerBatch + 1 }, (_, i) => ({
      key: `k:${String(i).padStart(4, "0")}`,
      value: `v${i}`,
    }));
    await storage.setItems(items.slice(0, 50));
    expect(await storage.getItems(items.slice(0, 50).map(({ key }) => key))).toEqual(items.slice(0, 50));
    expect(calls).toHaveLength(2);
    await storage.setItems(items);
    expect(await storage.getItems(items.map(({ key }) => key))).toEqual(items);
    expect(await storage.getKeys("k")).toEqual(items.map(({ key }) => key));
  });

  it("lets nobody else's token in", async () => {
    const { storage, user } = await storageOf();
    await storage.setItem("k", "secret");
    const stranger = createStorage({ driver: cairnDriver({ memory: await clientOf(newUser()), user }) });
    expect(await stranger.getItem("k")).toBeNull();
    await expect(stranger.setItem("k", "forged")).rejects.toMatchObject({ code: "not_found" });
    await expect(stranger.clear()).rejects.toMatchObject({ code: "not_found" });
    expect(await storage.getItem("k")).toBe("secret");
  });
});

describe("failures", () => {
  it("reject every call", async () => {
    for (const [status, code] of [
      [503, "storage_unavailable"],
      [429, "rate_limited"],
    ] as const) {
      const { storage } = await storageOf({ client: { fetch: failing(status, { code }), retry: false } });
      await expect(storage.hasItem("k")).rejects.toMatchObject({ code });
      await expect(storage.getItem("k")).rejects.toMatchObject({ code });
      await expect(storage.getItemRaw("k")).rejects.toMatchObject({ code });
      await expect(storage.getItems(["k"])).rejects.toMatchObject({ code });
      await expect(storage.setItem("k", "x")).rejects.toMatchObject({ code });
      await expect(storage.setItems([{ key: "k", value: "x" }])).rejects.toMatchObject({ code });
      await expect(storage.setItemRaw("k", "x")).rejects.toMatchObject({ code });
      await expect(storage.removeItem("k")).rejects.toMatchObject({ code });
      await expect(storage.getKeys()).rejects.toMatchObject({ code });
      await expect(storage.clear()).rejects.toMatchObject({ code });
      await expect(storage.getMeta("k")).rejects.toMatchObject({ code });
    }
  });

  it("of which the answer is lost lose nothing", async () => {
    const { storage } = await storageOf({ client: { fetch: losing(({ method }) => method === "PUT") } });
    await storage.setItem("k", "x");
    expect(await storage.getItem("k")).toBe("x");
  });

  it("of a server that never answers end with the signal of the call", async () => {
    const { storage } = await storageOf({ client: { fetch: silent } });
    const signal = () => AbortSignal.timeout(30);
    const ended = { name: "TimeoutError" };
    await expect(storage.getItem("k", { signal: signal() })).rejects.toMatchObject(ended);
    await expect(storage.setItem("k", "x", { signal: signal() })).rejects.toMatchObject(ended);
    await expect(storage.getKeys("", { signal: signal() })).rejects.toMatchObject(ended);
    await expect(storage.getItems(["k"], { signal: signal() })).rejects.toMatchObject(ended);
    await expect(storage.clear("", { signal: signal() })).rejects.toMatchObject(ended);
  });

  it("of an item that is too large, or lives too long, say so and change nothing", async () => {
    const { storage } = await storageOf();
    await storage.setItem("k", "before");
    await expect(storage.setItem("k", "x".repeat(64 * 1024 * 1024))).rejects.toMatchObject({
      code: "value_too_large",
    });
    await expect(storage.setItem("k", "x", { ttl: limits.ttlMs })).rejects.toMatchObject({
      code: "limit_exceeded",
    });
    expect(await storage.getItem("k")).toBe("before");
  });
});
