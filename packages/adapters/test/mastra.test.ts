import { Agent, type AgentConfig, type MastraDBMessage } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MockMemory } from "@mastra/core/memory";
import { InMemoryStore, MastraCompositeStore, MemoryStorage } from "@mastra/core/storage";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { CairnMemoryStorage, cairnStorage } from "../src/mastra.ts";
import { clientOf, newUser } from "./cairn.ts";

import { at, both, filled, idsOf, message, newStorage, once, tenMessages, thread } from "./mastra.ts";

const seven = once(async (storage) => {
  for (let n = 0; n < 7; n++)
    await storage.saveThread({
      thread: thread(`t${n}`, {
        resourceId: n % 2 ? "alice" : "bob",
        metadata: { topic: n % 3 ? "travel" : "food", n },
        createdAt: at(n),
        updatedAt: at(10 - n),
      }),
    });
});

describe("threads", () => {
  it("come back as they were saved, under the ids that Mastra gives them", async () => {
    const storage = await newStorage();
    expect(await storage.getThreadById({ threadId: "t" })).toBeNull();
    const ids = ["t", "../t", "#t", "a/b?c", "x".repeat(2000), "ы".repeat(200)];
    for (const id of ids) await storage.saveThread({ thread: thread(id) });
    for (const id of ids) expect(await storage.getThreadById({ threadId: id })).toEqual(thread(id));
    expect(await storage.getThreadById({ threadId: "t", resourceId: "alice" })).toEqual(thread("t"));
    expect(await storage.getThreadById({ threadId: "t", resourceId: "bob" })).toBeNull();
  });

  it("keep metadata larger than an entry", async () => {
    const storage = await newStorage();
    const workingMemory = "w".repeat(3_000_000);
    await storage.saveThread({ thread: thread("t", { metadata: { workingMemory } }) });
    expect((await storage.getThreadById({ threadId: "t" }))?.metadata).toEqual({ workingMemory });
  });

  it("change their title, their metadata, or both", async () => {
    const [ours, theirs] = await both(async (storage) => {
      await storage.saveThread({ thread: thread("t") });
      const results: unknown[] = [];
      for (const change of [
        { title: "New" },
        { metadata: { more: 1 } },
        { title: "", metadata: { more: 2 } },
      ]) {
        const { title, metadata, createdAt, updatedAt } = await storage.updateThread({ id: "t", ...change });
        results.push([title, metadata, createdAt, updatedAt > at(0)]);
      }
      const { title } = await storage.patchThread({ id: "t", metadata: { patched: true } });
      return [results, title, (await storage.getThreadById({ threadId: "t" }))?.metadata];
    });
    expect(ours).toEqual(theirs);
    await expect((await newStorage()).updateThread({ id: "no", title: "x" })).rejects.toThrow("not found");
  });

  it("lose no change of two at once, from different processes", async () => {
    const user = newUser();
    const storages = await Promise.all(Array.from({ length: 6 }, () => newStorage(user)));
    await storages[0]?.saveThread({ thread: thread("t", { metadata: { n: 0 } }) });
    await Promise.all(
      storages.map((storage) =>
        storage.updateThreadMetadata({ id: "t", update: ({ metadata }) => ({ n: Number(metadata?.n) + 1 }) }),
      ),
    );
    expect((await storages[0]?.getThreadById({ threadId: "t" }))?.metadata).toEqual({ n: 6 });
    expect(await storages[0]?.updateThreadMetadata({ id: "no", update: () => ({}) })).toBeNull();
    expect(
      await storages[0]?.updateThreadMetadata({ id: "t", resourceId: "bob", update: () => ({}) }),
    ).toBeNull();
  });

  it("are one Cairn thread, however many save one at once", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storages = await Promise.all(Array.from({ length: 5 }, () => newStorage(user)));
    await Promise.all(storages.map((storage) => storage.saveThread({ thread: thread("t") })));
    expect((await memory.threads.list(user)).items).toHaveLength(1);
    expect((await storages[0]?.listThreads({}))?.total).toBe(1);
  });

  it.each([
    [{}],
    [{ filter: { resourceId: "alice" } }],
    [{ filter: { metadata: { topic: "food" } } }],
    [{ filter: { resourceId: "alice", metadata: { topic: "travel", n: 3 } } }],
    [{ perPage: 2, page: 1 }],
    [{ perPage: 2, page: 4 }],
    [{ perPage: false as const }],
    [{ perPage: 0 }],
    [{ orderBy: { field: "updatedAt" as const, direction: "ASC" as const } }],
    [{ orderBy: { field: "createdAt" as const, direction: "ASC" as const }, perPage: 3 }],
  ])("are listed by %j as the reference lists them", async (args) => {
    const [ours, theirs] = await seven();
    expect(await ours.listThreads(args)).toEqual(await theirs.listThreads(args));
  });

  it("refuse pages and metadata that the reference refuses", async () => {
    const storage = await newStorage();
    await expect(storage.listThreads({ page: -1 })).rejects.toThrow("page");
    await expect(storage.listThreads({ filter: { metadata: { "a'b": 1 } } })).rejects.toThrow("metadata");
  });

  it("go with their messages, and leave nothing", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = await filled(new CairnMemoryStorage({ memory, user }));
    await storage.deleteThread({ threadId: "t" });
    expect(await storage.getThreadById({ threadId: "t" })).toBeNull();
    expect(idsOf(await storage.listMessages({ threadId: "t" }))).toEqual([]);
    expect(idsOf(await storage.listMessagesById({ messageIds: ["m1", "u1"] }))).toEqual(["u1"]);
    await storage.deleteThread({ threadId: "t" });
    await storage.deleteThread({ threadId: "u" });
    expect((await memory.threads.list(user)).items).toEqual([]);
    expect((await memory.kv.list(user)).items).toEqual([]);
  });

  it("can go to another resource, with their messages", async () => {
    const storage = await filled(await newStorage());
    await storage.updateThreadResourceId({ threadId: "t", resourceId: "carol" });
    expect((await storage.getThreadById({ threadId: "t" }))?.resourceId).toBe("carol");
    const { messages } = await storage.listMessages({ threadId: "t", resourceId: "carol", perPage: false });
    expect(messages).toEqual(tenMessages.map((one) => ({ ...one, resourceId: "carol" })));
  });

  it("are cloned with the messages that are wanted", async () => {
    const [ours, theirs] = await both(async (storage) => {
      await filled(storage);
      const source = { sourceThreadId: "t", newThreadId: "copy" };
      const { thread: copy, clonedMessages } = await storage.cloneThread({
        ...source,
        options: { messageLimit: 2, messageFilter: { endDate: at(5) } },
      });
      const whole = await storage.copyThread({
        sourceThreadId: "t",
        title: "Mine",
        resourceId: "bob",
        metadata: { a: 1 },
      });
      const again = await storage.copyThread(source).catch((error: Error) => error.message);
      const { messages } = await storage.listMessages({ threadId: whole.thread.id, resourceId: "bob" });
      return [
        copy.title,
        copy.resourceId,
        clonedMessages.map(({ content, threadId, createdAt }) => [content, threadId, createdAt]),
        [whole.thread.title, Object.keys(whole.thread.metadata ?? {}), Object.keys(whole.messageIdMap ?? {})],
        messages.map(({ content }) => content),
        again,
        idsOf(await storage.listMessages({ threadId: "t" })),
      ];
    });
    expect(ours).toEqual(theirs);
  });
});

describe("resources", () => {
  it("keep working memory and metadata, updated field by field", async () => {
    const [ours, theirs] = await both(async (storage) => {
      const seen: unknown[] = [await storage.getResourceById({ resourceId: "r" })];
      const note = async () => {
        const resource = await storage.getResourceById({ resourceId: "r" });
        seen.push([resource?.workingMemory, resource?.metadata, resource?.createdAt instanceof Date]);
      };
      await storage.updateResource({ resourceId: "r", workingMemory: "likes tea" });
      await note();
      await storage.updateResource({ resourceId: "r", metadata: { a: 1 } });
      await note();
      await storage.updateResource({ resourceId: "r", workingMemory: "", metadata: { b: 2 } });
      await note();
      await storage.saveResource({
        resource: { id: "r", workingMemory: "anew", metadata: {}, createdAt: at(0), updatedAt: at(1) },
      });
      seen.push(await storage.getResourceById({ resourceId: "r" }));
      return seen;
    });
    expect(ours).toEqual(theirs);
  });
});

it("clears what is its own, and nothing else of the user", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  await memory.kv.set(user, "other", 1);
  await memory.threads.create(user, { title: "other" });
  const storage = await filled(new CairnMemoryStorage({ memory, user }));
  await storage.dangerouslyClearAll();
  expect((await memory.kv.list(user)).items.map(({ key }) => key)).toEqual(["other"]);
  expect((await memory.threads.list(user)).items.map(({ title }) => title)).toEqual(["other"]);
});

describe("other clients", () => {
  it("read the conversation in Cairn's thread, and find it", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = new CairnMemoryStorage({ memory, user });
    await storage.saveThread({ thread: thread("t") });
    const text = "I moved to Lisbon in March";
    await storage.saveMessages({
      messages: [message("m", 0, { content: { format: 2, parts: [{ type: "text", text }] } })],
    });
    const [cairnThread] = (await memory.threads.list(user)).items;
    expect(cairnThread).toMatchObject({ title: "Thread t", agent: "mastra", recordId: "t", length: 1 });
    const { items } = await memory.threads.read(cairnThread?.id ?? "");
    expect(items[0]?.message).toMatchObject({
      role: "user",
      id: "m",
      content: text,
      parts: [{ type: "text", text }],
    });
    const { hits } = await memory.recall(user, { query: "Lisbon" });
    expect(hits[0]).toMatchObject({ kind: "message", text, threadId: cairnThread?.id });
    await storage.updateThread({ id: "t", title: "Moving" });
    expect((await memory.threads.get(cairnThread?.id ?? ""))?.title).toBe("Moving");
  });

  it("leave a message as long as Cairn holds it, whose text is in its parts alone", async () => {
    const storage = await newStorage();
    const text = "x".repeat(8_000_000);
    const long = message("m", 0, { content: { format: 2, parts: [{ type: "text", text }] } });
    await storage.saveMessages({ messages: [long] });
    expect((await storage.listMessages({ threadId: "t" })).messages).toEqual([long]);
  });

  it("find its text as content, beside the parts that say more", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = new CairnMemoryStorage({ memory, user });
    const parts: MastraDBMessage["content"]["parts"] = [
      { type: "text", text: "Look:" },
      { type: "file", mimeType: "image/png", data: "AAAA" },
    ];
    await storage.saveMessages({ messages: [message("m", 0, { content: { format: 2, parts } })] });
    const [cairnThread] = (await memory.threads.list(user)).items;
    const { items } = await memory.threads.read(cairnThread?.id ?? "");
    expect(items[0]?.message).toMatchObject({ content: "Look:", parts });
    expect((await memory.recall(user, { query: "Look" })).hits[0]?.text).toBe("Look:");
  });

  it("may go on with it", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const storage = await filled(new CairnMemoryStorage({ memory, user }));
    const [cairnThread] = (await memory.threads.list(user)).items.filter(({ recordId }) => recordId === "t");
    await memory.threads.append(cairnThread?.id ?? "", [{ role: "assistant", content: "Said elsewhere" }]);
    const { messages } = await storage.listMessages({ threadId: "t" });
    expect(messages.at(-1)).toMatchObject({
      role: "assistant",
      threadId: "t",
      resourceId: "alice",
      content: { format: 2, parts: [{ type: "text", text: "Said elsewhere" }] },
    });
  });
});

describe("an agent", () => {
  /** Answers how many messages it was shown. */
  const model = (): AgentConfig["model"] => {
    const mock = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => ({
        content: [
          { type: "text", text: `I was shown ${prompt.filter(({ role }) => role !== "system").length}` },
        ],
        finishReason: { unified: "stop", raw: "stop" },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      }),
    });
    // Mastra's type wants a stream from `doGenerate`, which it does not use.
    return mock as unknown as AgentConfig["model"];
  };

  it("remembers a conversation in another process, and what it noted of the user", async () => {
    const user = newUser();
    const talk = async (text: string) => {
      const storage = cairnStorage({ memory: await clientOf(user), user });
      const agent = new Agent({
        id: "guide",
        name: "Guide",
        instructions: "Be kind.",
        model: model(),
        // The SDK's own memory for tests, over any storage; its type names one.
        memory: new MockMemory({ storage: storage as InMemoryStore }),
      });
      const mastra = new Mastra({ agents: { guide: agent }, storage, logger: false });
      const options = { memory: { thread: "trip", resource: "alice" } };
      return (await mastra.getAgent("guide").generate(text, options)).text;
    };
    expect(await talk("Hello")).toBe("I was shown 1");
    expect(await talk("And again")).toBe("I was shown 3");
    const storage = await newStorage(user);
    const { messages, total } = await storage.listMessages({ threadId: "trip" });
    expect(total).toBe(4);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect((await storage.listThreads({ filter: { resourceId: "alice" } })).total).toBe(1);
  });
});

it("is a storage of Mastra by its types, beside another for all else", async () => {
  const user = newUser();
  const otherwise = new InMemoryStore();
  const storage: MastraCompositeStore = cairnStorage({
    memory: await clientOf(user),
    user,
    default: otherwise,
  });
  const memory: MemoryStorage | undefined = await storage.getStore("memory");
  expect(memory).toBeInstanceOf(CairnMemoryStorage);
  expect(await storage.getStore("workflows")).toBe(await otherwise.getStore("workflows"));
});
