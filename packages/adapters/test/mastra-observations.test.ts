// Mastra's observational memory over Cairn: its storage beside the SDK's own, and through an agent.
import type { MemoryStorage, ObservationalMemoryRecord } from "@mastra/core/storage";
import { Memory } from "@mastra/memory";
import { describe, expect, it } from "vitest";
import { cairnStorage } from "../src/mastra.ts";
import { clientOf, newUser } from "./cairn.ts";
import { at, both, newStorage } from "./mastra.ts";
import { agentWith, scripted, textsOf } from "./mastra-agent.ts";

const owner = { threadId: "t", resourceId: "alice" };
const begin = (storage: MemoryStorage): Promise<ObservationalMemoryRecord> =>
  storage.initializeObservationalMemory({
    ...owner,
    scope: "thread",
    config: { a: { b: 1 } },
    observedTimezone: "UTC",
  });
const current = async (storage: MemoryStorage): Promise<ObservationalMemoryRecord> => {
  const record = await storage.getObservationalMemory("t", "alice");
  if (record === null) throw new Error("there is one");
  return record;
};
const chunk = (n: number) => ({
  cycleId: `cycle-${n}`,
  observations: `observed ${n}`,
  tokenCount: 10,
  messageIds: [`m${n}`],
  messageTokens: 100,
  lastObservedAt: at(n),
});

/** What is the same in both stores: without new ids and the times of writes. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, one: unknown) => {
      if (key === "id") return "id";
      return key === "createdAt" || key === "updatedAt" ? "time" : one;
    }) ?? "null",
  );

describe("the storage of observational memory", () => {
  it("is none at first", async () => {
    const storage = await newStorage();
    expect(storage.supportsObservationalMemory).toBe(true);
    expect(await storage.getObservationalMemory("t", "alice")).toBeNull();
    expect(await storage.getObservationalMemoryHistory("t", "alice")).toEqual([]);
    await storage.clearObservationalMemory("t", "alice");
    await expect(storage.setPendingMessageTokens("no", 1)).rejects.toThrow("record not found: no");
  });

  it("does what the SDK's own does, step by step", async () => {
    const [ours, theirs] = await both(async (storage) => {
      const seen: unknown[] = [];
      const see = async (result?: unknown) =>
        // The SDK's own store returns its records themselves, which change.
        seen.push(comparable([result ?? null, await current(storage)]));
      const { id } = await begin(storage);
      await see();
      await storage.setPendingMessageTokens(id, 500);
      await storage.setObservingFlag(id, true);
      await storage.setReflectingFlag(id, true);
      await storage.setBufferingObservationFlag(id, true, 300);
      await storage.setBufferingReflectionFlag(id, true);
      await storage.updateObservationalMemoryConfig({ id, config: { a: { c: 2 } } });
      await see();
      await storage.updateActiveObservations({
        id,
        observations: "lives in Porto",
        tokenCount: 20,
        lastObservedAt: at(3),
        observedMessageIds: ["m1"],
      });
      for (const n of [1, 2, 3, 2])
        await storage.updateBufferedObservations({ id, chunk: chunk(n), lastBufferedAtTime: at(n + 1) });
      await see();
      const swap = { id, activationRatio: 0.5, messageTokensThreshold: 400, currentPendingTokens: 400 };
      await see(await storage.swapBufferedToActive(swap));
      await storage.updateBufferedReflection({
        id,
        reflection: "lives in Porto, observed",
        tokenCount: 5,
        inputTokenCount: 20,
        reflectedObservationLineCount: 1,
      });
      await see();
      await see(
        await storage.swapBufferedReflectionToActive({
          currentRecord: await current(storage),
          tokenCount: 9,
        }),
      );
      await see(
        await storage.createReflectionGeneration({
          currentRecord: await current(storage),
          reflection: "lives in Porto",
          tokenCount: 3,
        }),
      );
      const older = {
        ...(await current(storage)),
        id: "imported",
        generationCount: 1,
        activeObservations: "imported",
      };
      await storage.insertObservationalMemoryRecord(older);
      const all = await storage.getObservationalMemoryHistory("t", "alice");
      const second = await storage.getObservationalMemoryHistory("t", "alice", 1, { offset: 1 });
      const none = await storage.getObservationalMemoryHistory("t", "alice", 9, { to: at(0) });
      const byResource = await storage.getObservationalMemory(null, "alice");
      await storage.clearObservationalMemory("t", "alice");
      return [seen, all, second, none, byResource, await storage.getObservationalMemory("t", "alice")];
    });
    expect(comparable(ours)).toEqual(comparable(theirs));
  });

  it("comes back with its dates, and leaves no entry once it is cleared", async () => {
    const user = newUser();
    const storage = await newStorage(user);
    const { id, createdAt } = await begin(storage);
    await storage.updateBufferedObservations({ id, chunk: chunk(1), lastBufferedAtTime: at(2) });
    const record = await current(await newStorage(user));
    expect(record).toMatchObject({ createdAt, lastBufferedAtTime: at(2) });
    expect(record.bufferedObservationChunks).toMatchObject([
      { lastObservedAt: at(1), createdAt: expect.any(Date) },
    ]);
    await storage.clearObservationalMemory("t", "alice");
    expect((await (await clientOf(user)).kv.list(user)).items).toEqual([]);
  });

  it("loses no observation of two processes, and makes one generation of a reflection", async () => {
    const user = newUser();
    const storages = await Promise.all(Array.from({ length: 6 }, () => newStorage(user)));
    const first = await newStorage(user);
    const { id } = await begin(first);
    await Promise.all(
      storages.map((storage, n) => storage.updateBufferedObservations({ id, chunk: chunk(n) })),
    );
    const currentRecord = await current(first);
    expect(currentRecord.bufferedObservationChunks?.map(({ cycleId }) => cycleId).toSorted()).toEqual(
      Array.from({ length: 6 }, (_, n) => `cycle-${n}`),
    );
    const reflected = {
      reflection: "r",
      tokenCount: 1,
      inputTokenCount: 1,
      reflectedObservationLineCount: 0,
    };
    await first.updateBufferedReflection({ id, ...reflected });
    const swaps = await Promise.allSettled(
      storages.map((storage) => storage.swapBufferedReflectionToActive({ currentRecord, tokenCount: 1 })),
    );
    expect(swaps.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await first.getObservationalMemoryHistory("t", "alice")).toHaveLength(2);
  });
});

it("an agent observes what was said, and another process is shown it", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const { prompts, model } = scripted();
  const observer = scripted(
    Array.from(
      { length: 20 },
      () => "<observations>\n* 🔴 The user's boat is called Marisol.\n</observations>",
    ),
  );
  const say = async (text: string) => {
    const options = {
      lastMessages: 50,
      observationalMemory: {
        model: observer.model,
        observation: { messageTokens: 200, bufferTokens: false as const },
      },
    };
    const given = new Memory({ storage: cairnStorage({ memory, user }), options });
    await agentWith({ model, memory: given }).generate(text, {
      memory: { thread: "trip", resource: "alice" },
    });
  };
  await say(`My boat is called Marisol. ${"It is blue and it is old. ".repeat(60)}`);
  await say(`How are you? ${"I am well and glad. ".repeat(60)}`);
  await say("Hello");
  const record = await (
    await cairnStorage({ memory, user }).getStore("memory")
  )?.getObservationalMemory("trip", "alice");
  expect(record?.activeObservations).toContain("Marisol");
  expect(textsOf(prompts.at(-1) ?? []).join("\n")).toContain("The user's boat is called Marisol.");
});
