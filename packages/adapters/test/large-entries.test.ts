// Values larger than an entry, as the adapters keep them that write such values.
import type { StorageThreadType } from "@mastra/core/memory";
import { describe, expect, it } from "vitest";
import { PART } from "../../../src/domain/entry-parts.ts";
import { LargeEntries } from "../src/entries/large-entries.ts";
import { CairnStore } from "../src/langgraph.ts";
import { CairnMemoryStorage } from "../src/mastra.ts";
import type { Cairn } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const big = { text: "x".repeat(200_000) };

const keysOf = async (memory: Cairn, user: string, prefix = ""): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of memory.kv.all(user, { prefix })) keys.push(key);
  return keys;
};

describe("an item of LangGraph's store whose pieces are gone", () => {
  it("is none: it hides no other, and can be put and deleted", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user });
    const lost = async () => {
      await store.put(["n"], "big", big);
      await memory.kv.deletePrefix(user, `langgraph/store/i/n//big${PART}`);
    };
    await store.put(["n"], "small", { text: "s" });
    await lost();
    expect(await store.get(["n"], "big")).toBeNull();
    expect((await store.search(["n"])).map(({ key }) => key)).toEqual(["small"]);
    await store.put(["n"], "big", { text: "new" });
    expect((await store.get(["n"], "big"))?.value).toEqual({ text: "new" });
    await lost();
    await store.delete(["n"], "big");
    expect(await keysOf(memory, user)).toEqual(["langgraph/store/i/n//small"]);
  });

  it("is not one that was read, and whose reader was cut off", async () => {
    const user = newUser();
    const ttl = { defaultTtl: 3 / 60 };
    const store = new CairnStore({ memory: await clientOf(user), user, ttl });
    let batches = 0;
    const memory = await clientOf(user, {
      retry: false,
      fetch: (request) =>
        request.url.endsWith("/kv/batch") && ++batches === 2
          ? Promise.reject(new TypeError("cut"))
          : fetch(request),
    });
    await store.put(["n"], "big", big);
    await after(2000);
    await expect(new CairnStore({ memory, user, ttl }).get(["n"], "big")).rejects.toThrow("cut");
    await after(2000);
    expect((await store.get(["n"], "big"))?.value).toEqual(big);
  });
});

it("a text that is cut in the middle of a pair comes back", async () => {
  const user = newUser();
  const entries = new LargeEntries(await clientOf(user), user);
  const values = ["", "x"].map((start) => ({ text: `${start}${"🙂".repeat(600_000)}` }));
  await entries.write(values.map((value, i) => ({ key: `k${i}`, value })));
  expect(await entries.read(["k0", "k1"])).toEqual(values);
});

describe("writers of one large value at once", () => {
  it("leave the pieces of one, and none when it is deleted", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const store = new CairnStore({ memory, user });
    const pieces = () => keysOf(memory, user, `langgraph/store/i/n//k${PART}`);
    await store.put(["n"], "k", { text: "0" });
    for (let i = 0; i < 3; i++) {
      const texts = ["a", "b", "c"].map((sign) => ({ text: sign.repeat(200_000) }));
      await Promise.all([...texts, { text: "small" }].map((value) => store.put(["n"], "k", value)));
      const there = (await store.get(["n"], "k"))?.value;
      expect([...texts, { text: "small" }]).toContainEqual(there);
      expect(await pieces()).toHaveLength(there?.text === "small" ? 0 : 1);
      await Promise.all([store.put(["n"], "k", big), store.delete(["n"], "k")]);
      expect(await pieces()).toHaveLength((await store.get(["n"], "k")) === null ? 0 : 1);
    }
    await store.delete(["n"], "k");
    expect(await keysOf(memory, user)).toEqual([]);
  });

  it("leave nothing of one that takes more than a step", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const entries = new LargeEntries(memory, user);
    await entries.write([{ key: "k", value: big }]);
    const late = { key: "k", value: { text: "y".repeat(17_000_000) }, ifVersion: null };
    await expect(entries.write([late])).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await entries.read(["k"])).toEqual([big]);
    expect(await keysOf(memory, user, `k${PART}`)).toHaveLength(1);
  });
});

it("a thread of Mastra's whose pieces are gone hides no other, and is deleted and saved as one that is new", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const storage = new CairnMemoryStorage({ memory, user });
  const [createdAt, updatedAt] = [new Date(0), new Date(0)];
  const thread = (id: string): StorageThreadType => ({
    id,
    resourceId: "r",
    title: id,
    createdAt,
    updatedAt,
  });
  const lost = async (id: string) => {
    await storage.saveThread({ thread: { ...thread(id), metadata: { big } } });
    await memory.kv.deletePrefix(user, `mastra/threads/${id}${PART}`);
  };
  await storage.saveThread({ thread: thread("ok") });
  await lost("big");
  expect((await storage.listThreads({})).threads.map(({ id }) => id)).toEqual(["ok"]);
  expect(await storage.getThreadById({ threadId: "big" })).toBeNull();
  await storage.deleteThread({ threadId: "big" });
  expect(await keysOf(memory, user)).toEqual(["mastra/threads/ok"]);
  await lost("big");
  await storage.saveThread({ thread: thread("big") });
  expect(await storage.getThreadById({ threadId: "big" })).toEqual(thread("big"));
  await lost("other");
  await storage.dangerouslyClearAll();
  expect(await keysOf(memory, user)).toEqual([]);
});
