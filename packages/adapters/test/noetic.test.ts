import fc from "fast-check";
import { beforeEach, describe, expect, inject, it } from "vitest";
import { cairnScopedStorage, cairnStorage, type ScopedStorage, type StorageAdapter } from "../src/noetic.ts";
import { type Cairn, cairn } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import { ODD_KEYS } from "./keys.ts";
import { busy, observed, silentServer } from "./observed.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { fromNow } from "../../../test/from-now.ts";

let user: string;
let memory: Cairn;
let storage: StorageAdapter;
beforeEach(async () => {
  user = newUser();
  memory = await clientOf(user);
  storage = cairnStorage({ memory, user });
});

/** A storage whose keys begin as a harness's do for a layer and scope. */
const inLayer = (adapter: StorageAdapter, layerId: string, scopeKey: string): ScopedStorage => {
  const path = `layers/${layerId}/${scopeKey}/`;
  return {
    get: (key) => adapter.get(path + key),
    set: (key, value) => adapter.set(path + key, value),
    delete: (key) => adapter.delete(path + key),
    list: async (start = "") => (await adapter.list(path + start)).map((key) => key.slice(path.length)),
    getMany: async <T>(keys: string[]) => {
      const found = await adapter.getMany<T>(keys.map((key) => path + key));
      return new Map([...found].map(([key, value]) => [key.slice(path.length), value]));
    },
  };
};

describe("the storage", () => {
  it("gives back every JSON value as it was set", async () => {
    for (const value of [0, "", false, [], {}, "text", 1.5, { a: [{ b: null }] }, "\u0000\n\u2028😀"]) {
      await storage.set("value", value);
      expect(await storage.get("value")).toEqual(value);
    }
    expect(await storage.get("nothing")).toBeNull();
  });

  it("deletes, and what is not there too", async () => {
    await storage.set("a", 1);
    await storage.delete("a");
    await storage.delete("a");
    expect(await storage.get("a")).toBeNull();
  });

  it("deletes the entry whose value is undefined", async () => {
    await storage.set("a", { state: 1 });
    await storage.set("a", undefined);
    expect(await storage.get("a")).toBeNull();
    expect(await storage.list("")).toEqual([]);
  });

  it("reads many: what is missing is absent, and 0, '' and false are there", async () => {
    const stored = { zero: 0, empty: "", no: false, list: [] };
    for (const [key, value] of Object.entries({ ...stored, nothing: null })) await storage.set(key, value);
    const keys = ["missing", "list", "no", "zero", "nothing", "empty", "zero"];
    expect([...(await storage.getMany(keys))]).toEqual([
      ["list", []],
      ["no", false],
      ["zero", 0],
      ["empty", ""],
    ]);
  });

  it("asks nothing of Cairn for no keys", async () => {
    const { calls, fetch } = observed();
    expect((await cairnStorage({ memory: await clientOf(user, { fetch }), user }).getMany([])).size).toBe(0);
    expect(calls).toEqual([]);
  });

  it("lists by a literal prefix, in byte order", async () => {
    const keys = ["%", "*", "A", "a", "a b", "a%", "a/b", "a_", "é", "\uff5e", "😀"];
    for (const key of keys.toReversed()) await storage.set(key, 1);
    for (const prefix of ["", "a", "a%", "a_", "*", "%"])
      expect(await storage.list(prefix)).toEqual(
        keys.filter((key) => key.startsWith(prefix)).toSorted((a, b) => keys.indexOf(a) - keys.indexOf(b)),
      );
  });

  it("lists more keys than a page holds", async () => {
    const keys = Array.from({ length: 1_200 }, (_, i) => `execution:e:ledger:${String(i).padStart(8, "0")}`);
    await setAll(keys.map((key) => [key, 1]));
    expect(await storage.list("execution:e:ledger:")).toEqual(keys);
  });

  it("asks for no more keys at once than a batch takes", async () => {
    const entries = Array.from({ length: 1_200 }, (_, i) => [`k${i}`, i] as const);
    await setAll(entries);
    const { calls, fetch } = observed();
    const counted = cairnStorage({ memory: await clientOf(user, { fetch }), user });
    const keys = entries.flatMap(([key]) => [key, `no ${key}`]);
    expect([...(await counted.getMany(keys))]).toEqual(entries);
    expect(calls).toHaveLength(3);
  });

  it("reads more at once than one answer holds, in as few calls as can be", async () => {
    // 260 of 128 KiB are 32.5 MiB; one answer holds 16 MiB, so 128 of them.
    const entries = Array.from(
      { length: 260 },
      (_, i) => [`k${i}`, `${i}:`.padEnd(128 * 1024 - 2, "x")] as const,
    );
    for (let from = 0; from < 260; from += 100) await setAll(entries.slice(from, from + 100));
    const { calls, fetch } = observed();
    const counted = cairnStorage({ memory: await clientOf(user, { fetch }), user });
    const found = await counted.getMany<string>(entries.map(([key]) => key));
    expect([...found].every(([key, value], i) => key === `k${i}` && value === entries[i]?.[1])).toBe(true);
    expect(found.size).toBe(260);
    // The first is refused, and says how many fit.
    expect(calls).toHaveLength(1 + 3);
  });

  it("needs nine calls for 1,000 entries of 128 KiB", async () => {
    let calls = 0;
    const value = "x".repeat(128 * 1024 - 2);
    const fetch = async (request: Request): Promise<Response> => {
      calls++;
      const { operations } = (await request.json()) as { operations: { key: string }[] };
      if (operations.length > 128)
        return Response.json(
          {
            error: {
              code: "batch_too_large",
              message: "split it",
              details: [{ path: "body.operations[128]", message: "is the first whose value did not fit" }],
              requestId: "r",
            },
          },
          { status: 413 },
        );
      return Response.json({ results: operations.map(({ key }) => ({ key, found: true, value })) });
    };
    const keys = Array.from({ length: 1_000 }, (_, i) => `k${i}`);
    const found = await cairnStorage({ memory: await clientOf(user, { fetch }), user }).getMany(keys);
    expect([...found.keys()]).toEqual(keys);
    expect(calls).toBe(1 + 8);
  });

  it("asks for more at once again where what comes next is small", async () => {
    const large = Array.from({ length: 20 }, (_, i) => [`large${i}`, "x".repeat(1024 * 1024 - 2)] as const);
    const small = Array.from({ length: 500 }, (_, i) => [`small${i}`, "x".repeat(1_000)] as const);
    for (let from = 0; from < 20; from += 10) await setAll(large.slice(from, from + 10));
    await setAll(small);
    const { calls, fetch } = observed();
    const counted = cairnStorage({ memory: await clientOf(user, { fetch }), user });
    const keys = [...large, ...small].map(([key]) => key);
    expect([...(await counted.getMany(keys)).keys()]).toEqual(keys);
    expect(calls.length).toBeLessThan(8);
  });

  it("keeps any key from one character to 1,024 bytes", async () => {
    for (const key of ODD_KEYS) await storage.set(key, key);
    for (const key of ODD_KEYS) expect(await storage.get(key)).toBe(key);
    expect([...(await storage.getMany(ODD_KEYS))]).toEqual(ODD_KEYS.map((key) => [key, key]));
    for (const key of ODD_KEYS) await storage.delete(key);
    expect(await storage.list("")).toEqual([]);
  });

  it("says what is wrong with a key that no entry can have", async () => {
    const empty = {
      name: "CairnError",
      code: "invalid_request",
      message: expect.stringContaining("key is empty"),
    };
    for (const call of [() => storage.get(""), () => storage.set("", 1), () => storage.getMany(["a", ""])])
      await expect(call()).rejects.toMatchObject(empty);
    const long = "k".repeat(1025);
    for (const call of [() => storage.get(long), () => storage.set(long, 1), () => storage.getMany([long])])
      await expect(call()).rejects.toMatchObject({ name: "CairnError", code: "limit_exceeded" });
  });

  it("keeps a ledger, its snapshot and the state of layers", async () => {
    const ledger = Array.from({ length: 30 }, (_, i) => `execution:e 1:ledger:${String(i).padStart(8, "0")}`);
    await setAll(ledger.map((key, seq) => [key, { seq }]));
    await storage.set("execution:e 1:snapshot", { step: 30 });
    const layer = inLayer(storage, "scratchpad", "thread/ä");
    await layer.set("state", { notes: "yes" });
    const keys = await storage.list("execution:e 1:ledger:");
    const rows = [...(await storage.getMany<{ seq: number }>(keys)).values()];
    expect(rows.map(({ seq }) => seq)).toEqual(ledger.map((_, seq) => seq));
    expect(await storage.get("execution:e 1:snapshot")).toEqual({ step: 30 });
    expect(await layer.list()).toEqual(["state"]);
    expect(await layer.getMany(["state", "none"])).toEqual(new Map([["state", { notes: "yes" }]]));
  });
});

describe("scopes", () => {
  it("has an owner for each scope", async () => {
    const all = await clientOf("*");
    const shared = `shared:${newUser()}`;
    const of = {
      resource: user,
      thread: `noetic:thread:${user}`,
      execution: `noetic:execution:${user}`,
      global: shared,
    };
    for (const scope of ["resource", "thread", "execution", "global"] as const) {
      const key = scope === "global" ? {} : { scopeKey: user };
      const scoped = cairnScopedStorage({ memory: all, layerId: "l", scope, shared, ...key });
      await scoped.set("state", scope);
      expect(await scoped.get("state")).toBe(scope);
      expect(await scoped.list()).toEqual(["state"]);
      const path = `layers/l/${scope === "global" ? "__global__" : user}/state`;
      expect(await all.kv.get(of[scope], path)).toBe(scope);
    }
  });

  it("puts all but what is global under a user that is named", async () => {
    for (const scope of ["resource", "thread", "execution"] as const)
      await cairnScopedStorage({ memory, user, layerId: "l", scope, scopeKey: `a ${scope}` }).set("k", scope);
    expect(await storage.list("layers/l/")).toEqual([
      "layers/l/a execution/k",
      "layers/l/a resource/k",
      "layers/l/a thread/k",
    ]);
  });

  it("has the same entries as a harness with the storage", async () => {
    const scoped = cairnScopedStorage({ memory, user, layerId: "notes", scope: "thread", scopeKey: "t 1" });
    const harness = inLayer(storage, "notes", "t 1");
    await scoped.set("a", 1);
    await harness.set("b", 2);
    expect(await harness.get("a")).toBe(1);
    expect(await scoped.getMany(["a", "b", "c"])).toEqual(new Map(Object.entries({ a: 1, b: 2 })));
    await scoped.set("a", undefined);
    expect(await harness.list()).toEqual(["b"]);
    await scoped.delete("b");
    expect(await scoped.list("")).toEqual([]);
  });

  it("keeps threads apart whose ids hold a slash", async () => {
    const of = (layerId: string, scopeKey: string) =>
      cairnScopedStorage({ memory, user, layerId, scope: "thread", scopeKey });
    await of("l", "a").set("x", 1);
    await of("l", "a/b").set("x", 2);
    await of("l/a", "b").set("x", 3);
    await of("l", "a%2Fb").set("x", 4);
    expect(await of("l", "a").list()).toEqual(["x"]);
    const read = [of("l", "a"), of("l", "a/b"), of("l/a", "b"), of("l", "a%2Fb")].map((each) =>
      each.get("x"),
    );
    expect(await Promise.all(read)).toEqual([1, 2, 3, 4]);
  });

  it("lets no resource be a shared owner, or one of the adapter's own", () => {
    for (const scopeKey of ["shared:team", "noetic:thread:x"])
      expect(() => cairnScopedStorage({ memory, layerId: "l", scope: "resource", scopeKey })).toThrow(
        /^invalid_request: not sent: the resource id begins with/,
      );
  });

  it("keeps what is global in the shared owner, in a harness too", async () => {
    const shared = `shared:${newUser()}`;
    const all = await clientOf("*");
    const harness = (owner: string) => cairnStorage({ memory: all, user: owner, shared });
    const other = newUser();
    await inLayer(harness(user), "l", "__global__").set("state", "everybody's");
    await inLayer(harness(user), "l", "thread").set("state", "mine");
    expect(await inLayer(harness(other), "l", "__global__").get("state")).toBe("everybody's");
    expect(await inLayer(harness(other), "l", "thread").get("state")).toBeNull();
    const keys = ["layers/l/__global__/state", "layers/l/thread/state"];
    expect(await harness(user).list("layers/")).toEqual(keys);
    expect([...(await harness(user).getMany([...keys, keys[0] ?? ""]))]).toEqual([
      [keys[0], "everybody's"],
      [keys[1], "mine"],
    ]);
    expect(await memory.kv.get(user, "layers/l/__global__/state")).toBeNull();
    const scoped = cairnScopedStorage({ memory: all, layerId: "l", scope: "global", shared });
    expect(await scoped.get("state")).toBe("everybody's");
    await inLayer(harness(other), "l", "__global__").delete("state");
    expect(await scoped.list()).toEqual([]);
  });

  it("reads what is global with a user's token, and cannot write it", async () => {
    const shared = `shared:${newUser()}`;
    await cairnStorage({ memory: await clientOf("*"), user: shared }).set("layers/l/__global__/state", 1);
    const token = await mintToken(inject("cairn").secret, { user, shared: [shared] }, fromNow(-60_000));
    const reader = cairnStorage({ memory: cairn({ url: inject("cairn").url, token }), user, shared });
    expect(await reader.get("layers/l/__global__/state")).toBe(1);
    expect(await reader.list("")).toEqual(["layers/l/__global__/state"]);
    await expect(reader.set("layers/l/__global__/state", 2)).rejects.toMatchObject({ name: "CairnError" });
  });

  it("does as one storage does, whichever owner has a key", async () => {
    const all = await clientOf("*");
    const part = fc.constantFrom("layers", "layers/l", "__global__", "l", "a", "", "😀", "\uff5e");
    const key = fc
      .array(part, { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("/"))
      .filter((k) => k !== "");
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(key, { maxLength: 8 }),
        fc.string({ maxLength: 2 }),
        key,
        async (keys, more, asked) => {
          const own = `${user}-${++run}`;
          const both = cairnStorage({ memory: all, user: own, shared: `shared:${own}` });
          const one = cairnStorage({ memory: all, user: `${own}-one` });
          for (const each of keys) for (const to of [both, one]) await to.set(each, each);
          for (const prefix of ["", "l", "layers/", asked, asked.slice(0, -2), more])
            expect(await both.list(prefix)).toEqual(await one.list(prefix));
          expect(Object.fromEntries(await both.getMany([...keys, asked]))).toEqual(
            Object.fromEntries(await one.getMany([...keys, asked])),
          );
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe("when something fails", () => {
  it("goes on after what a busy server refused", async () => {
    await storage.set("a", 1);
    const { calls, fetch } = observed((_, call) => (call < 3 ? busy(call === 1 ? 503 : 429) : undefined));
    const patient = cairnStorage({ memory: await clientOf(user, { fetch }), user });
    expect(await patient.getMany(["a"])).toEqual(new Map([["a", 1]]));
    expect(calls).toHaveLength(3);
  });

  it("rejects with what Cairn said when it stays so, and loses nothing", async () => {
    await storage.set("a", 1);
    const { fetch } = observed(() => busy(503));
    const failing = cairnStorage({ memory: await clientOf(user, { fetch, retry: false }), user });
    for (const call of [
      () => failing.get("a"),
      () => failing.getMany(["a"]),
      () => failing.list(""),
      () => failing.set("a", 2),
      () => failing.set("a", undefined),
      () => failing.delete("a"),
    ])
      await expect(call()).rejects.toMatchObject({ name: "CairnError", status: 503 });
    expect(await storage.get("a")).toBe(1);
  });

  it("refuses a user who is not the token's, and does not call it an empty storage", async () => {
    const foreign = cairnStorage({ memory: await clientOf(newUser()), user });
    for (const call of [() => foreign.get("a"), () => foreign.list(""), () => foreign.set("a", 1)])
      await expect(call()).rejects.toMatchObject({ code: "not_found" });
  });

  it("leaves what was there where a value is no JSON or too large", async () => {
    await storage.set("a", 1);
    await expect(storage.set("a", "x".repeat(64 * 1024 * 1024))).rejects.toMatchObject({
      code: "value_too_large",
    });
    await expect(storage.set("a", () => 1)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await storage.get("a")).toBe(1);
  });

  it("ends a call that is never answered after `timeoutMs`", async () => {
    const { url, close } = await silentServer();
    const hanging = cairnStorage({ memory: await clientOf(user, { url }), user, timeoutMs: 50 });
    await expect(hanging.getMany(["a"])).rejects.toMatchObject({ code: "timeout" });
    await expect(hanging.list("")).rejects.toMatchObject({ code: "timeout" });
    close();
  });

  it("keeps each write of two workers whole", async () => {
    const other = cairnStorage({ memory: await clientOf(user), user });
    const writes = Array.from({ length: 20 }, (_, i) => [
      storage.set("state", { i, of: "a" }),
      other.set(`k${i}`, i),
    ]);
    await Promise.all(writes.flat());
    expect(await other.get("state")).toEqual({ i: expect.any(Number), of: "a" });
    expect(await storage.list("k")).toHaveLength(20);
  });
});

async function setAll(entries: readonly (readonly [string, unknown])[]): Promise<void> {
  for (let from = 0; from < entries.length; from += 1000)
    await memory.kv.batch(
      user,
      entries.slice(from, from + 1000).map(([key, value]) => ({ op: "set", key, value })),
    );
}
