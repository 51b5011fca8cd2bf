// Values larger than an entry, in every adapter that keeps values of its SDK's caller: whole or not there, and gone as a whole.
import { describe, expect, it } from "vitest";
import { cairnMemoryStore } from "../src/ai-employee.ts";
import { cairnCache, cairnRuns } from "../src/gemstack.ts";
import { cairnStorage } from "../src/noetic.ts";
import { PART } from "../../../src/domain/entry-parts.ts";
import { clientOf, newUser } from "./cairn.ts";
import { large, MIB, places, type Value, watched } from "./large-values.ts";

describe.each(Object.entries(places))("a value of more than 1 MiB in %s", (_name, placeOf) => {
  it("comes back, is replaced by a small one and by another large one, and leaves nothing when it is deleted", async () => {
    const { parts, ...at } = await watched();
    const place = placeOf(at);
    // Another process: an adapter may remember what it has seen.
    const elsewhere = placeOf(at);
    for (const value of [{ text: "small" }, large("a"), large("b"), { text: "small again" }, large("c")]) {
      await place.set(value);
      expect((await elsewhere.get())?.text === value.text).toBe(true);
      // Parts of the value that is there, and none of those before it.
      const there = await parts();
      expect(there.length > 0).toBe(value.text.length > 1000);
      expect(new Set(there.map((key) => key.split(PART)[1]?.split("/")[0])).size).toBe(
        Math.min(1, there.length),
      );
      expect((await place.keys?.()) ?? ["unlisted"]).toHaveLength(1);
    }
    await place.delete();
    expect(await elsewhere.get()).toBeNull();
    expect(await parts()).toEqual([]);
    expect((await place.keys?.()) ?? []).toEqual([]);
    if (!place.clear) return;
    await place.set(large("d"));
    expect(await parts()).not.toEqual([]);
    await place.clear();
    expect(await parts()).toEqual([]);
  });
});

describe.each(Object.entries(places))("of a value of more than 64 MiB %s", (_name, placeOf) => {
  it("says that it is too large, and keeps what was there", async () => {
    const user = newUser();
    const place = placeOf({ user, memory: await clientOf(user) });
    await place.set({ text: "before" });
    await expect(place.set({ text: "x".repeat(64 * MIB) })).rejects.toMatchObject({
      code: "value_too_large",
    });
    expect(await place.get()).toEqual({ text: "before" });
  });
});

it("of takers of a large run at once, one gets it", async () => {
  const { parts, user, memory } = await watched();
  const runs = cairnRuns<Value>({ cache: cairnCache({ memory, namespace: user }) });
  await runs.store("run", large("r"));
  const taken = await Promise.all(Array.from({ length: 4 }, () => runs.consume("run")));
  expect(taken.filter((run) => run?.text === large("r").text)).toHaveLength(1);
  expect(taken.filter((run) => run === null)).toHaveLength(3);
  expect(await parts()).toEqual([]);
});

it("a value that looks like an entry of parts is kept as it is", async () => {
  const user = newUser();
  const storage = cairnStorage({ memory: await clientOf(user), user });
  const value = { cairnParts: "0".repeat(32), count: 2 };
  await storage.set("k", value);
  expect(await storage.get("k")).toEqual(value);
});

it("many large values at once are read with one call of the SDK, and listed without their parts", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const store = cairnMemoryStore({ memory, user, prefix: "p/" });
  for (const sign of ["a", "b", "c"]) await store.set(sign, large(sign, 2));
  const found = await store.getMany<Value>(["a", "b", "c", "d"]);
  expect([...found].map(([key, { text: said }]) => [key, said === large(key, 2).text])).toEqual([
    ["a", true],
    ["b", true],
    ["c", true],
  ]);
  const listed: string[] = [];
  for await (const { key, value } of store.listWithValues(""))
    listed.push(`${key} ${(value as Value).text === large(key, 2).text}`);
  expect(listed).toEqual(["a true", "b true", "c true"]);
  expect((await memory.kv.list(user)).items.map(({ key }) => key)).toEqual(["p/a", "p/b", "p/c"]);
});

it("a large value is exported and imported whole", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const storage = cairnStorage({ memory, user });
  await storage.set("k", large("e"));
  const exported = await new Response(await memory.transfer.export(user)).text();
  await storage.delete("k");
  await memory.transfer.import(user, exported);
  expect((await storage.get<Value>("k"))?.text === large("e").text).toBe(true);
  await storage.delete("k");
  expect((await new Response(await memory.transfer.export(user)).text()).includes("cairnParts")).toBe(false);
  expect((await memory.kv.list(user, { prefix: `k${PART}` })).items).toEqual([]);
});
