import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { cairnMemoryStore, type CairnMemoryStore, type MemoryStore } from "../src/ai-employee.ts";
import { CairnError } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import { ODD_KEYS } from "./keys.ts";
import { busy, observed, silentServer } from "./observed.ts";
import { clocked, pass } from "./clocked.ts";

let user: string;
let store: CairnMemoryStore;
beforeEach(async () => {
  user = newUser();
  store = cairnMemoryStore({ memory: await clientOf(user), user });
});

/** The store over a Cairn whose clock the test puts forward. */
const clockedStore = async () =>
  cairnMemoryStore({ memory: await clientOf(user, await clocked(user)), user });

describe("the store", () => {
  it("gives back every JSON value as it was set", async () => {
    const values = [0, "", false, [], {}, "text", 1.5, { a: [{ b: null }] }, "\u0000\n\u2028😀"];
    for (const value of values) {
      await store.set("memory:value", value);
      expect(await store.get("memory:value")).toEqual(value);
    }
  });

  it("gives null for a key that is not there", async () => {
    expect(await store.get("nothing")).toBeNull();
  });

  it("gives null for what has expired, and does not list it", async () => {
    store = await clockedStore();
    await store.set("long", 1, 60_000);
    await store.set("short", 1, 2_000);
    expect(await store.get("short")).toBe(1);
    await pass(2_001);
    expect(await store.get("short")).toBeNull();
    expect(await store.list()).toEqual(["long"]);
  });

  it("lets an entry of 0 ms go at once", async () => {
    store = await clockedStore();
    await store.set("now", 1, 0);
    await pass(1);
    expect(await store.get("now")).toBeNull();
  });

  it("replaces the expiry with the value", async () => {
    store = await clockedStore();
    await store.set("a", 1, 100);
    await store.set("a", 2);
    await store.set("b", 1);
    await store.set("b", 2, 100);
    await pass(101);
    expect(await store.get("a")).toBe(2);
    expect(await store.get("b")).toBeNull();
  });

  it("takes times to live that are no whole number, have no end, or are over", async () => {
    await store.set("a", 1, 60_000.7);
    await store.set("b", 1, Infinity);
    await store.set("c", 1);
    await store.set("c", 2, -1);
    expect(await Promise.all(["a", "b", "c"].map((key) => store.get(key)))).toEqual([1, 1, null]);
    await expect(store.set("d", 1, 11 * 365 * 86_400_000)).rejects.toMatchObject({ code: "limit_exceeded" });
  });

  it("deletes, and what is not there too", async () => {
    await store.set("a", 1);
    await store.delete("a");
    await store.delete("a");
    expect(await store.get("a")).toBeNull();
  });

  it("lists by a literal prefix, of whatever characters", async () => {
    const keys = ["a%b", "a%", "a_b", "axb", "a*b", "a?b", "a[b]", "a\\b", "A%b"];
    for (const key of keys) await store.set(key, 1);
    for (const prefix of ["a%", "a_", "a*", "a?", "a[", "a\\", "", "a", "b"])
      expect((await store.list(prefix)).toSorted()).toEqual(
        keys.filter((key) => key.startsWith(prefix)).toSorted(),
      );
  });

  it("lists in byte order", async () => {
    // By UTF-16 units, the emoji would come before U+FF5E.
    const keys = ["", "B", "a", "a/", "a0", "é", "\uff5e", "😀"].filter((key) => key !== "");
    for (const key of keys.toReversed()) await store.set(key, 1);
    expect(await store.list()).toEqual(keys);
  });

  it("lists more keys than a page holds", async () => {
    const memory = await clientOf(user);
    const keys = Array.from({ length: 1_234 }, (_, i) => `k${String(i).padStart(4, "0")}`);
    for (const some of [keys.slice(0, 1000), keys.slice(1000)])
      await memory.kv.batch(
        user,
        some.map((key) => ({ op: "set", key, value: 1 })),
      );
    expect(await store.list("k")).toEqual(keys);
  });

  it("keeps any key from one character to 1,024 bytes", async () => {
    for (const key of ODD_KEYS) await store.set(key, key);
    for (const key of ODD_KEYS) expect(await store.get(key)).toBe(key);
    expect([...(await store.getMany(ODD_KEYS))]).toEqual(ODD_KEYS.map((key) => [key, key]));
    expect(await store.list("..")).toEqual([".."]);
    for (const key of ODD_KEYS) await store.delete(key);
    expect(await store.list()).toEqual([]);
  });

  it("says what is wrong with a key that no entry can have", async () => {
    for (const call of [
      () => store.get(""),
      () => store.set("", 1),
      () => store.delete(""),
      () => store.getMany(["a", ""]),
    ])
      await expect(call()).rejects.toMatchObject({ code: "invalid_request", message: /key is empty/ });
    const long = "k".repeat(1025);
    for (const call of [() => store.get(long), () => store.set(long, 1), () => store.delete(long)])
      await expect(call()).rejects.toMatchObject({ name: "CairnError", code: "limit_exceeded" });
    await expect(store.set("half \ud83d", 1)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await store.list(long)).toEqual([]);
  });

  it("lists by a prefix that ends within a character", async () => {
    await store.set("a😀", 1);
    await store.set("ab", 1);
    expect(await store.list("a\ud83d")).toEqual(["a😀"]);
    expect(await store.list("\ud83da")).toEqual([]);
  });

  it("refuses what is no JSON, and leaves what was there", async () => {
    await store.set("a", 1);
    await expect(store.set("a", undefined)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(store.set("a", "x".repeat(64 * 1024 * 1024))).rejects.toMatchObject({
      code: "value_too_large",
    });
    expect(await store.get("a")).toBe(1);
  });

  it("keeps to its prefix, and shows keys without it", async () => {
    const memory = await clientOf(user);
    const one = cairnMemoryStore({ memory, user, prefix: "one/" });
    await one.set("a", 1);
    await memory.kv.set(user, "one/", "of nobody");
    await memory.kv.set(user, "two/a", 2);
    expect(await one.list()).toEqual(["a"]);
    expect(await memory.kv.get(user, "one/a")).toBe(1);
    await one.delete("a");
    expect(await store.list()).toEqual(["one/", "two/a"]);
  });

  it("does as a Map does, whatever is done", async () => {
    const key = fc.constantFrom("a", "a%", "a_b", "ab", "😀", "..");
    const operation = fc.oneof(
      fc.record({
        op: fc.constant("set" as const),
        key,
        value: fc.jsonValue().filter((value) => value !== null),
      }),
      fc.record({ op: fc.constant("delete" as const), key }),
    );
    const memory = await clientOf(user);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 12 }), async (operations) => {
        const tested: MemoryStore = cairnMemoryStore({ memory, user, prefix: `${++run}:` });
        const model = new Map<string, string>();
        for (const one of operations) {
          if (one.op === "set") {
            await tested.set(one.key, one.value);
            model.set(one.key, JSON.stringify(one.value));
          } else {
            await tested.delete(one.key);
            model.delete(one.key);
          }
        }
        for (const prefix of ["", "a", "a%", "a_", "b"])
          expect((await tested.list(prefix)).toSorted()).toEqual(
            [...model.keys()].filter((each) => each.startsWith(prefix)).toSorted(),
          );
        for (const [each, value] of model) expect(await tested.get(each)).toEqual(JSON.parse(value));
      }),
      { numRuns: 15 },
    );
  });
});

describe("when something fails", () => {
  it("sends again what a busy server refused, and writes once", async () => {
    const { calls, fetch } = observed((_, call) =>
      call === 1 ? busy(503) : call === 2 ? busy(429) : undefined,
    );
    const patient = cairnMemoryStore({ memory: await clientOf(user, { fetch }), user });
    await patient.set("a", 1);
    expect(calls).toHaveLength(3);
    expect(await store.get("a")).toBe(1);
  });

  it("rejects with what Cairn said when it stays so, and loses nothing", async () => {
    await store.set("a", 1);
    const { fetch } = observed(() => busy(503));
    const failing = cairnMemoryStore({ memory: await clientOf(user, { fetch, retry: false }), user });
    for (const call of [
      () => failing.get("a"),
      () => failing.set("a", 2),
      () => failing.list(),
      () => failing.delete("a"),
    ])
      await expect(call()).rejects.toMatchObject({ name: "CairnError", status: 503 });
    expect(await store.get("a")).toBe(1);
  });

  it("refuses a user who is not the token's, and does not call it an empty store", async () => {
    const memory = await clientOf(newUser());
    const foreign = cairnMemoryStore({ memory, user });
    await store.set("a", 1);
    for (const call of [
      () => foreign.get("a"),
      () => foreign.set("a", 2),
      () => foreign.list(),
      () => foreign.delete("a"),
    ])
      await expect(call()).rejects.toBeInstanceOf(CairnError);
    expect(await store.get("a")).toBe(1);
  });

  it("ends a call that is never answered after `timeoutMs`", async () => {
    const { url, close } = await silentServer();
    const hanging = cairnMemoryStore({ memory: await clientOf(user, { url }), user, timeoutMs: 50 });
    await expect(hanging.get("a")).rejects.toMatchObject({ code: "timeout" });
    await expect(hanging.list()).rejects.toMatchObject({ code: "timeout" });
    close();
  });

  it("keeps what two workers write at once, each whole", async () => {
    const other = cairnMemoryStore({ memory: await clientOf(user), user });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => [store.set(`own${i}`, i), other.set("shared", { i })]).flat(),
    );
    expect(await store.list("own")).toHaveLength(20);
    expect(await other.get("shared")).toEqual({ i: expect.any(Number) });
  });
});
