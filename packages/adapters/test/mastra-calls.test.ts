// The calls of a turn to Cairn, through Mastra's own Agent and Memory.
import { Memory } from "@mastra/memory";
import { describe, expect, it } from "vitest";
import { CairnMemoryStorage, cairnStorage } from "../src/mastra.ts";
import { clientOf, newUser } from "./cairn.ts";
import { idsOf, message, thread } from "./mastra.ts";
import { agentWith, type Said, scripted, textsOf, weather } from "./mastra-agent.ts";
import { observed } from "./observed.ts";

async function counted(user = newUser()) {
  const { calls, fetch } = observed();
  const memory = await clientOf(user, { fetch });
  return { user, memory, taken: () => calls.splice(0) };
}

describe("a turn of an agent with Mastra's memory", () => {
  it.each(["generate", "stream"] as const)(
    "takes five calls, and the first of a thread seven (%s)",
    async (how) => {
      const { user, memory, taken } = await counted();
      const script: Said[] = [];
      const { model, prompts } = scripted(script);
      const turns: number[] = [];
      const say = async (text: string, ...said: Said[]) => {
        script.push(...said);
        // Each turn has a storage of its own, as another process has it.
        const storage = cairnStorage({ memory, user });
        const memoryOf = new Memory({ storage, options: { lastMessages: 20 } });
        const agent = agentWith({ model, memory: memoryOf, tools: { weather: weather() } });
        const options = { memory: { thread: "trip", resource: "alice" } };
        if (how === "generate") await agent.generate(text, options);
        else for await (const _ of (await agent.stream(text, options)).textStream);
        turns.push(taken().length);
      };
      await say("one");
      await say("two");
      // The model of `stream` says texts only.
      if (how === "generate")
        await say("three", { tool: "weather", input: { place: "Rome" } }, "It is sunny.");
      else await say("three");
      await say("four");
      console.log(`Mastra, ${how}: ${turns.join(", ")} calls`);
      expect(turns).toEqual([7, 5, 5, 5]);
      const last = textsOf(prompts.at(-1) ?? []).join("\n");
      for (const text of ["one", "two", "three", "four"]) expect(last).toContain(text);
    },
  );
});

describe("a save in one call", () => {
  const begin = async () => {
    const { user, memory, taken } = await counted();
    const [ours, theirs] = [memory, await clientOf(user)].map(
      (client) => new CairnMemoryStorage({ memory: client, user }),
    ) as [CairnMemoryStorage, CairnMemoryStorage];
    await ours.getThreadById({ threadId: "t" });
    await ours.saveThread({ thread: thread("t") });
    await ours.listMessages(last);
    taken();
    return { user, memory, taken, ours, theirs };
  };
  const last = { threadId: "t", page: 0, perPage: 10, includeTotal: false } as const;
  const newest = { ...last, orderBy: { field: "createdAt", direction: "DESC" } } as const;
  const read = (storage: CairnMemoryStorage) => storage.listMessages({ threadId: "t", perPage: false });

  it("is made where the thread is as it was read, and its messages are new", async () => {
    const { ours, theirs, taken } = await begin();
    await ours.listMessages(newest);
    taken();
    await ours.saveMessages({ messages: [message("m1", 1), message("m2", 2)] });
    expect(taken()).toEqual(["POST /kv/batch"]);
    expect(idsOf(await read(theirs))).toEqual(["m1", "m2"]);
    expect((await theirs.listMessagesById({ messageIds: ["m2"] })).messages).toHaveLength(1);
    expect(await ours.getThreadById({ threadId: "t" })).toEqual(
      await theirs.getThreadById({ threadId: "t" }),
    );
  });

  it("saves nothing of the caller's changes to a thread that it read", async () => {
    const { ours, theirs } = await begin();
    await ours.saveThread({ thread: thread("t", { metadata: { tags: ["kept"] } }) });
    const known = await ours.getThreadById({ threadId: "t" });
    await ours.listMessages(newest);
    Object.assign(known?.metadata ?? {}, { tags: ["added"] });
    await ours.saveMessages({ messages: [message("m1", 1)] });
    expect((await theirs.getThreadById({ threadId: "t" }))?.metadata).toEqual({ tags: ["kept"] });
  });

  it("is not made, and loses nothing, where another process was first", async () => {
    const { ours, theirs } = await begin();
    for (const change of [
      () => theirs.saveMessages({ messages: [message("x", 1)] }),
      () => theirs.updateThread({ id: "t", title: "Theirs", metadata: { theirs: true } }),
      () => theirs.saveMessages({ messages: [message("y", 9)] }),
    ]) {
      await ours.getThreadById({ threadId: "t" });
      await ours.listMessages(newest);
      await change();
      await ours.saveMessages({ messages: [message("y", 9), message("z", 10)] });
    }
    expect(idsOf(await read(theirs))).toEqual(["x", "y", "z"]);
    expect(await theirs.getThreadById({ threadId: "t" })).toMatchObject({
      title: "Theirs",
      metadata: { theirs: true },
    });
  });

  it("begins the thread anew where it was deleted meanwhile", async () => {
    const { ours, theirs } = await begin();
    await ours.listMessages(newest);
    await theirs.deleteThread({ threadId: "t" });
    await ours.saveMessages({ messages: [message("m1", 1)] });
    expect(idsOf(await read(theirs))).toEqual(["m1"]);
  });

  it("rejects where Cairn is away, and stores all when it is tried again", async () => {
    const user = newUser();
    let isAway = false;
    const memory = await clientOf(user, {
      fetch: (request) => (isAway ? Promise.reject(new TypeError("away")) : fetch(request)),
      retry: false,
    });
    const storage = new CairnMemoryStorage({ memory, user });
    await storage.saveThread({ thread: thread("t") });
    await storage.getThreadById({ threadId: "t" });
    await storage.listMessages(newest);
    isAway = true;
    const save = () => storage.saveMessages({ messages: [message("m1", 1)] });
    await expect(save()).rejects.toMatchObject({ code: "network" });
    isAway = false;
    await save();
    expect(idsOf(await read(storage))).toEqual(["m1"]);
  });

  it("keeps the order where an older message follows, for a list of the last ones too", async () => {
    const { ours, theirs } = await begin();
    for (const one of [message("m5", 5), message("m1", 1), message("m3", 3)]) {
      await ours.getThreadById({ threadId: "t" });
      await ours.listMessages(newest);
      await ours.saveMessages({ messages: [one] });
    }
    for (const storage of [ours, theirs])
      expect(idsOf(await storage.listMessages({ ...newest, perPage: 2 }))).toEqual(["m5", "m3"]);
  });
});

it("a thread is read anew after each save", async () => {
  const { user, memory } = await counted();
  const [ours, theirs] = [memory, await clientOf(user)].map(
    (client) => new CairnMemoryStorage({ memory: client, user }),
  ) as [CairnMemoryStorage, CairnMemoryStorage];
  const newest = {
    threadId: "t",
    page: 0,
    perPage: 10,
    includeTotal: false,
    orderBy: { field: "createdAt", direction: "DESC" },
  } as const;
  const save = async (id: string, minute: number) => {
    await ours.getThreadById({ threadId: "t" });
    await ours.listMessages(newest);
    await ours.saveMessages({ messages: [message(id, minute)] });
  };
  await ours.saveThread({ thread: thread("t") });
  await save("m1", 1);
  await theirs.updateThread({ id: "t", title: "Theirs" });
  expect((await ours.getThreadById({ threadId: "t" }))?.title).toBe("Theirs");
  await save("m2", 2);
  await ours.dangerouslyClearAll();
  expect(await ours.getThreadById({ threadId: "t" })).toBeNull();
  expect((await ours.listMessages(newest)).messages).toEqual([]);
});
