// One memory, many SDKs: what is written with each adapter is read with another one, by another client.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import type { MastraDBMessage } from "@mastra/core/agent";
import { Agent, type AgentInputItem, protocol, Runner } from "@openai/agents-core";
import { assistantMessage, ScriptedModel } from "@openai/agents-core/testing";
import { generateText, wrapLanguageModel } from "ai";
import { Keyv } from "keyv";
import { createStorage } from "unstorage";
import { expect, it } from "vitest";
import { z } from "zod";
import { agentMemory } from "../src/agent-memory.ts";
import { cairnMemoryBlock } from "../src/agents.ts";
import { cairnMemoryStore, createMemoryPrepareStep } from "../src/ai-employee.ts";
import { type ConversationOptions, cairnMemory, memoryTools } from "../src/ai-sdk.ts";
import { cairnMemoryFiles } from "../src/anthropic.ts";
import { cairnConversations, cairnUserMemory } from "../src/gemstack.ts";
import { cairnKeyv } from "../src/keyv.ts";
import { CairnSaver, CairnStore } from "../src/langgraph.ts";
import { CairnMemoryStorage } from "../src/mastra.ts";
import { molrooMemory } from "../src/molroo.ts";
import { cairnLayer, cairnScopedStorage, cairnStorage } from "../src/noetic.ts";
import { cairnSession } from "../src/openai-agents.ts";
import { cairnDriver } from "../src/unstorage.ts";
import type { Cairn } from "../../client/src/index.ts";
import { promptsOf, says, scripted, textIn } from "./ai-sdk-model.ts";
import { clientOf, newUser } from "./cairn.ts";
import { agent, found, reader as sharingClient, turn } from "./dex.ts";

/** A process: a client of its own, of one user. */
type Process = { user: string; memory: Cairn };
/** `writer` and `reader` are names of adapters, or of a part of one: `dex's block`. */
type Row<Value> = readonly [
  writer: string,
  what: string,
  reader: string,
  run: (writing: Process, reading: Process) => Promise<{ read: Value; expected: Value }>,
];
type Parts<Run> = Record<string, Run>;

const adapterOf = (name: string): string => name.replace(/'s .*/, "");

/** Every writer with every reader of another adapter. What a writer gives is where its reader finds it. */
function crossed<Where, Value>(
  what: string,
  writers: Parts<(at: Process) => Promise<Where>>,
  readers: Parts<(at: Process, where: Where) => Promise<Value>>,
  expected: (where: Where) => Value,
): Row<Value>[] {
  return Object.entries(writers).flatMap(([writer, write]) =>
    Object.entries(readers)
      .filter(([reader]) => adapterOf(reader) !== adapterOf(writer))
      .map(([reader, read]): Row<Value> => [
        writer,
        what,
        reader,
        async (writing, reading) => {
          const where = await write(writing);
          return { read: await read(reading, where), expected: expected(where) };
        },
      ]),
  );
}

// What an SDK is as far as it is needed here: what its user, or its model, would see.

const boat = { subject: "Ana", predicate: "keeps her boat in", object: "Setúbal" };
/** One holds at a time. */
const home = { subject: "Ana", predicate: "lives in", object: "Setúbal" };
const BOAT = "Ana keeps her boat in Setúbal";
const ASKED = "Where does Ana keep her boat?";
const PROJECT = "/projects/shop";

type Tools = ReturnType<typeof memoryTools>;
const recalledByTool = async (tools: Tools, asked: Parameters<Tools["memory_recall"]["execute"]>[0]) =>
  tools.memory_recall.toModelOutput({ output: await tools.memory_recall.execute(asked, {}) }).value;
const listedByTool = async (tools: Tools, asked: Parameters<Tools["memory_list"]["execute"]>[0]) =>
  tools.memory_list.toModelOutput({ output: await tools.memory_list.execute(asked, {}) }).value;

/** The prompt of a model that is asked once, with Cairn before it. */
async function promptOf(options: ConversationOptions, prompt: string) {
  const model = scripted(says("I see."));
  const middleware = cairnMemory({ save: false, strict: true, timeoutMs: 20_000, ...options });
  await generateText({ model: wrapLanguageModel({ model, middleware }), prompt });
  return promptsOf(model)[0] ?? [];
}

const layerOf = ({ user, memory }: Process, scope?: string) =>
  cairnLayer({ memory, z, user, ...(scope !== undefined && { scope }) });
const runOf = (user: string) => ({ executionId: crypto.randomUUID(), threadId: "t", resourceId: user });
/** A profile has one line for all that is known of a subject: `Ana: keeps her boat in Setúbal`. */
const asSentence = (text: string): string => text.replaceAll("Ana: ", "Ana ");
const recalledByLayer = async (at: Process, query: string, scope?: string) => {
  const asked = { query, log: { items: [] }, ctx: runOf(at.user), budget: 2000 };
  return asSentence((await layerOf(at, scope).hooks.recall(asked)) ?? "");
};
const logged = (role: "user" | "assistant", text: string) => ({
  type: "message",
  role,
  content: [{ type: "text", text }],
});

/** What a coding agent is told before these words of its user. */
const blockOfDex = async ({ user }: Process, said: string) =>
  String(await (await agent({ user, projectRoot: PROJECT })).block(said));
async function summarised({ user }: Process, answer: string): Promise<void> {
  const { extension, errors } = await agent({ user, projectRoot: PROJECT, model: () => answer });
  extension.afterTurn(turn("Where were we?"));
  await extension.dispose();
  expect(errors).toEqual([]);
}

const facts = crossed<void, string>(
  "a fact",
  {
    "ai-sdk": async (at) => void (await memoryTools(at).memory_remember_fact.execute(boat, {})),
    "dex's tool": async ({ user }) => void (await (await agent({ user })).call("memory_remember_fact", boat)),
    "dex's summary": (at) => summarised(at, found("Nothing.", [boat])),
    "agent-memory": async ({ user, memory }) => {
      const profile = await agentMemory({ memory }).getProfile(user);
      await profile.remember({ content: BOAT });
    },
    agents: async (at) => {
      await cairnMemoryBlock({ ...at, writable: true }).set?.("boats", BOAT);
    },
    gemstack: async ({ user, memory }) => void (await cairnUserMemory({ memory }).remember(user, BOAT)),
    "langgraph's store": (at) =>
      new CairnStore({ ...at, index: { fields: ["text"] } }).put(["boats"], "ana", { text: BOAT }),
    noetic: async (at) => {
      const { user } = at;
      await layerOf(at).provides.remember.execute({ text: BOAT }, { user }, runOf(user));
    },
  },
  {
    "agent-memory's recall": async ({ user, memory }) =>
      (await (await agentMemory({ memory }).getProfile(user)).recall(ASKED)).answer.replace("- ", ""),
    "agents's search": async (at) => ((await cairnMemoryBlock(at).search(ASKED)) ?? "").replace("- ", ""),
    "ai-sdk's memory_recall": (at) => recalledByTool(memoryTools(at), { query: ASKED }),
    "ai-sdk's memory_list": (at) => listedByTool(memoryTools(at), { kinds: ["fact"] }),
    "ai-sdk's prompt": async (at) => asSentence(textIn(await promptOf(at, ASKED))),
    "dex's block": (at) => blockOfDex(at, ASKED),
    "gemstack's recall": async ({ user, memory }) =>
      (await cairnUserMemory({ memory }).recall(user, ASKED)).map(({ fact }) => fact).join("\n"),
    "gemstack's list": async ({ user, memory }) =>
      (await cairnUserMemory({ memory }).list(user)).map(({ fact }) => fact).join("\n"),
    "noetic's layer": (at) => recalledByLayer(at, ASKED),
    "noetic's function": async (at) => {
      const { recall } = layerOf(at).provides;
      const { result } = await recall.execute({ query: ASKED }, { user: at.user }, runOf(at.user));
      return result.memories.map(({ text }) => text).join("\n");
    },
  },
  () => BOAT,
);

const chatted = {
  id: "ep-1",
  timestamp: Date.UTC(2026, 0, 1),
  type: "chat_message",
  context: BOAT,
  importance: 0.6,
  emotionSnapshot: { V: 0.4, A: 0.1, D: 0 },
};
/** All of one scope, which is the project of the coding agent. */
const episodes = crossed<void, string>(
  "an episode",
  {
    dex: (at) => summarised(at, found(BOAT)),
    molroo: (at) => molrooMemory({ ...at, scope: PROJECT }).saveEpisode(chatted),
    noetic: async (at) => {
      const [asked, answered] = [logged("user", ASKED), logged("assistant", BOAT)];
      const log = { items: [asked] };
      await layerOf(at, PROJECT).hooks.store({ newItems: [answered], log, ctx: runOf(at.user) });
    },
  },
  {
    "ai-sdk's memory_list": (at) => listedByTool(memoryTools(at), { kinds: ["episode"] }),
    "ai-sdk's memory_recall": (at) =>
      recalledByTool(memoryTools({ ...at, scope: PROJECT }), { query: ASKED, kinds: ["episode"] }),
    "molroo's recall": async (at) =>
      (await molrooMemory({ ...at, scope: PROJECT }).recall({})).map(({ context }) => context).join("\n"),
    "molroo's semanticRecall": async (at) =>
      (await molrooMemory({ ...at, scope: PROJECT }).semanticRecall(ASKED))
        .map(({ context }) => context)
        .join("\n"),
    "noetic's layer": (at) => recalledByLayer(at, ASKED, PROJECT),
  },
  () => BOAT,
);

const reflections = crossed<void, string>(
  "a reflection",
  {
    molroo: ({ user, memory }) => {
      const { emotionSnapshot, timestamp } = chatted;
      const learnt = { id: "ref-1", timestamp, content: BOAT, trigger: "chat", emotionSnapshot };
      return molrooMemory({ memory, user }).saveReflection(learnt);
    },
  },
  {
    "ai-sdk's memory_list": (at) => listedByTool(memoryTools(at), { kinds: ["reflection"] }),
    "noetic's layer": (at) => recalledByLayer(at, ASKED),
  },
  () => BOAT,
);

/** Those that dex recalls name their project; a layer of Noetic lets them. */
const ofTheProject = crossed<void, string>(
  "an episode of the project",
  {
    noetic: async (at) => {
      const layer = cairnLayer({
        ...at,
        z,
        scope: PROJECT,
        toMemory: ({ id, assistant }) => ({
          kind: "episode",
          text: assistant,
          externalId: id,
          metadata: { projectRoot: PROJECT },
        }),
      });
      const log = { items: [logged("user", ASKED)] };
      await layer.hooks.store({ newItems: [logged("assistant", BOAT)], log, ctx: runOf(at.user) });
    },
  },
  { "dex's block": (at) => blockOfDex(at, ASKED) },
  () => BOAT,
);

/** How things are done is everybody's: the shared owner that dex stores it with has to be named to be asked. */
const procedures = crossed<string, string>(
  "a procedure",
  {
    "dex's tool": async ({ user }) => {
      const { call, owner } = await agent({ user });
      await call("memory_store_procedure", { title: "moor-boat", body: BOAT });
      return owner;
    },
  },
  {
    "ai-sdk's prompt": async ({ user }, owner) => {
      const memory = await sharingClient(user, owner);
      return textIn(
        await promptOf({ memory, user, context: { owners: [owner] } }, "How do I moor the boat?"),
      );
    },
    "noetic's layer": async ({ user }, owner) => {
      const layer = cairnLayer({
        memory: await sharingClient(user, owner),
        z,
        user,
        context: { owners: [owner] },
      });
      const asked = { query: "How do I moor the boat?", log: { items: [] }, budget: 2000 };
      return (await layer.hooks.recall({ ...asked, ctx: runOf(user) })) ?? "";
    },
  },
  () => BOAT,
);

/** One is true at a time, whoever says it. */
const corrections = crossed<void, string>(
  "another object of a fact",
  {
    "ai-sdk's tool": async (at) => {
      await (await agent({ user: at.user })).call("memory_remember_fact", { ...home, object: "Porto" });
      await memoryTools(at).memory_remember_fact.execute(home, {});
    },
    "dex's tool": async (at) => {
      await memoryTools(at).memory_remember_fact.execute({ ...home, object: "Porto" }, {});
      await (await agent({ user: at.user })).call("memory_remember_fact", home);
    },
  },
  {
    "gemstack's list": async ({ user, memory }) =>
      (await cairnUserMemory({ memory }).list(user)).map(({ fact }) => fact).join("\n"),
  },
  () => `${home.subject} ${home.predicate} ${home.object}`,
);

type Said = [role: string, text: string];
const CONVERSATION: Said[] = [
  ["user", ASKED],
  ["assistant", BOAT],
];

/** Content as any of the SDKs has it: a text, or parts with texts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as { text?: string }[]) : [];
  return parts.map(({ text = "" }) => text).join("");
}

/** A message of whichever adapter wrote it. */
const saidIn = (message: { role?: string; content?: unknown }): Said => [
  String(message.role),
  textOf(message.content),
];

const dated = (id: string, [role, text]: Said, second: number): MastraDBMessage => ({
  id,
  role: role === "user" ? "user" : "assistant",
  threadId: "trip",
  resourceId: "ana",
  createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
  content: { format: 2, parts: [{ type: "text", text }], content: text },
});
async function saidToMastra(at: Process): Promise<void> {
  const storage = new CairnMemoryStorage(at);
  const [createdAt, updatedAt] = [new Date(0), new Date(0)];
  await storage.saveThread({
    thread: { id: "trip", resourceId: "ana", title: "Trip", createdAt, updatedAt },
  });
  await storage.saveMessages({ messages: CONVERSATION.map((said, i) => dated(`m${i}`, said, i)) });
}

/** A thread is found by its agent: what each adapter names so is on its page. */
const conversationWriters = {
  "ai-sdk": async (at) => {
    const model = scripted(says(BOAT));
    const middleware = cairnMemory({ ...at, thread: { agent: "guide" }, strict: true, timeoutMs: 20_000 });
    await generateText({ model: wrapLanguageModel({ model, middleware }), prompt: ASKED });
    return "guide";
  },
  gemstack: async ({ user, memory }) => {
    const threads = cairnConversations({ memory, user });
    const id = await threads.create("Boats", { agent: "support" });
    await threads.append(id, [
      { role: "user", content: ASKED },
      { role: "assistant", content: [{ type: "text", text: BOAT }] },
    ]);
    return "support";
  },
  mastra: async (at) => {
    await saidToMastra(at);
    return "mastra";
  },
  "openai-agents": async (at) => {
    const session = cairnSession({ ...at, sessionId: "support-7" });
    const runner = new Runner({ tracingDisabled: true });
    const friend = new Agent({ name: "friend", model: new ScriptedModel([[assistantMessage(BOAT)]]) });
    await runner.run(friend, ASKED, { session });
    return "openai-agents/support-7";
  },
} satisfies Parts<(at: Process) => Promise<string>>;

/** What a model is given, or finds. */
const conversations = crossed<string, Said[]>(
  "a conversation",
  conversationWriters,
  {
    "ai-sdk's history": async (at, named) => {
      const prompt = await promptOf(
        { ...at, thread: { agent: named }, history: 20, context: false },
        "Thanks!",
      );
      return prompt.slice(0, -1).map(({ role, content }) => [role, textOf(content)]);
    },
    "ai-sdk's thread_search": async (at) => {
      const { messages } = await memoryTools(at).thread_search.execute({ query: BOAT, k: 2 }, {});
      // The best comes first, which is the answer.
      return messages.map(({ role = "", text }): Said => [role, text]).toReversed();
    },
  },
  () => CONVERSATION,
);

/** Nothing is lost: whatever the shape of messages, their roles and texts are the same. */
const asWritten = crossed<string, Said[]>(
  "messages of its own shape",
  conversationWriters,
  {
    "gemstack's load": async ({ user, memory }, named) => {
      const threads = cairnConversations({ memory, user });
      const loaded: object[] = await threads.load(await threads.resume({ agent: named }));
      return loaded.map(saidIn);
    },
    "openai-agents's session": async (at, named) => {
      const items: object[] = await cairnSession({ ...at, prefix: "", sessionId: named }).getItems();
      return items.map(saidIn);
    },
  },
  () => CONVERSATION,
);

const looked = { name: "look", arguments: JSON.stringify({ at: "sea" }), callId: "call-1" };
const toolCalls = crossed<string, unknown>(
  "a tool's call",
  {
    gemstack: async ({ user, memory }) => {
      const threads = cairnConversations({ memory, user });
      await threads.append(await threads.create("Boats", { agent: "support" }), [
        { role: "user", content: ASKED },
        {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "call-1", name: "look", arguments: { at: "sea" } }],
        },
        { role: "tool", toolCallId: "call-1", content: "a boat" },
      ]);
      return "support";
    },
    mastra: async ({ user, memory }) => {
      const storage = new CairnMemoryStorage({ memory, user });
      const now = new Date(0);
      await storage.saveThread({
        thread: { id: "calls", resourceId: user, title: "Boats", createdAt: now, updatedAt: now },
      });
      const toolInvocation = { state: "result", toolCallId: "call-1", toolName: "look", result: "a boat" };
      const parts = [
        [{ type: "text", text: ASKED }],
        [{ type: "tool-invocation", toolInvocation: { ...toolInvocation, args: { at: "sea" } } }],
      ];
      const messages = parts.map((said, i) => ({
        id: `call-${i}`,
        role: i === 0 ? "user" : "assistant",
        createdAt: new Date(now.getTime() + i),
        threadId: "calls",
        resourceId: user,
        content: { format: 2, parts: said },
      }));
      await storage.saveMessages({ messages: messages as MastraDBMessage[] });
      return "mastra";
    },
    "openai-agents": async (at) => {
      const items: AgentInputItem[] = [
        { role: "user", content: ASKED },
        { type: "function_call", status: "completed", ...looked },
        {
          type: "function_call_result",
          status: "completed",
          name: "look",
          callId: "call-1",
          output: { type: "text", text: "a boat" },
        },
      ];
      await cairnSession({ ...at, sessionId: "support-7" }).addItems(items);
      return "openai-agents/support-7";
    },
  },
  {
    "ai-sdk's history": async (at, named) => {
      const history = { ...at, thread: { agent: named }, history: 20, context: false as const };
      const [, call, result] = await promptOf(history, "Thanks!");
      return [call?.content, result?.content];
    },
  },
  () => {
    const [toolCallId, toolName] = ["call-1", "look"];
    return [
      [{ type: "tool-call", toolCallId, toolName, input: { at: "sea" } }],
      [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value: "a boat" } }],
    ];
  },
);

/** What other adapters append to a conversation of Mastra's, Mastra reads. */
const goneOnWith = crossed<void, unknown>(
  "the next message of a conversation of Mastra's",
  {
    "ai-sdk": async (at) => {
      await saidToMastra(at);
      const middleware = cairnMemory({ ...at, thread: { agent: "mastra" }, strict: true, timeoutMs: 20_000 });
      const model = wrapLanguageModel({ model: scripted(says("It is blue.")), middleware });
      await generateText({ model, prompt: "Which colour?" });
    },
    gemstack: async (at) => {
      await saidToMastra(at);
      const threads = cairnConversations(at);
      await threads.append(await threads.resume({ agent: "mastra" }), [
        { role: "user", content: "Which colour?" },
        { role: "assistant", content: "It is blue." },
      ]);
    },
    "openai-agents": async (at) => {
      await saidToMastra(at);
      await cairnSession({ ...at, prefix: "", sessionId: "mastra" }).addItems([
        { role: "user", content: "Which colour?" },
        assistantMessage("It is blue."),
      ]);
    },
  },
  {
    mastra: async (at) => {
      const { messages } = await new CairnMemoryStorage(at).listMessages({ threadId: "trip" });
      return messages.map(({ role, content }) => [role, textOf(content.parts)]);
    },
  },
  () => [...CONVERSATION, ["user", "Which colour?"], ["assistant", "It is blue."]],
);

/** Where an entry is: what its key begins with, and the rest, which is the key for its adapter. */
type Entry = { start: string; key: string };
/** Keyv puts a value into this around it, without a serializer; so all write it here, and any of them reads the other. */
type InKeyv = { value: { degrees: number } };
const WEATHER: InKeyv = { value: { degrees: 21 } };
/** A Keyv whose entries are JSON, as its page says; what it keeps in a namespace begins with `<prefix><namespace>:`. */
const keyvOf = (at: Process, prefix: string, namespace: string) =>
  new Keyv({
    store: cairnKeyv({ ...at, prefix }),
    namespace,
    useKeyPrefix: false,
    serialize: undefined,
    deserialize: undefined,
    throwOnErrors: true,
  });
/** The part of a start before its last `:`, which Keyv and unstorage put there by themselves. */
const baseOf = (start: string): string => start.replace(/:$/, "");

/** Each under the prefix that its page names, or under none where that is what it says. */
const entries = crossed<Entry, [keys: string[], value: unknown]>(
  "an entry",
  {
    "ai-employee": async (at) => {
      await cairnMemoryStore(at).set("memory:lisbon", WEATHER);
      return { start: "memory:", key: "lisbon" };
    },
    keyv: async (at) => {
      await keyvOf(at, "keyv/", "weather").set("lisbon", WEATHER.value);
      return { start: "keyv/weather:", key: "lisbon" };
    },
    noetic: async (at) => {
      await cairnStorage(at).set("execution:1:ledger:00000000", WEATHER);
      return { start: "execution:1:ledger:", key: "00000000" };
    },
    unstorage: async (at) => {
      await createStorage({ driver: cairnDriver(at) }).setItem("cities:lisbon", WEATHER);
      return { start: "unstorage:", key: "cities:lisbon" };
    },
  },
  {
    "ai-employee": async (at, { start, key }) => {
      const store = cairnMemoryStore({ ...at, prefix: start });
      return [await store.list(), await store.get(key)];
    },
    keyv: async (at, { start, key }) => {
      const cache = keyvOf(at, baseOf(start), "");
      const keys: string[] = [];
      for await (const [one] of cache.iterator?.(undefined) ?? []) keys.push(String(one));
      return [keys, { value: await cache.get(key) }];
    },
    noetic: async (at, { start, key }) => {
      const storage = cairnStorage({ ...at, prefix: start });
      return [await storage.list(""), await storage.get(key)];
    },
    unstorage: async (at, { start, key }) => {
      const storage = createStorage({ driver: cairnDriver({ ...at, base: baseOf(start) }) });
      return [await storage.getKeys(), await storage.getItem(key)];
    },
  },
  ({ key }) => [[key], WEATHER],
);

const FILE = "/memories/boats/ana.md";
/** A file of Claude's is a text, whose key is its path after the prefix. */
const files = crossed<void, unknown>(
  "a file of memory",
  {
    anthropic: async (at) => {
      const tool = cairnMemoryFiles({ ...at, prefix: "planner:" });
      await tool.create({ command: "create", path: FILE, file_text: `${BOAT}\n` });
    },
  },
  {
    "ai-employee": (at) => cairnMemoryStore({ ...at, prefix: "planner:" }).get(FILE),
    "keyv's store": (at) => cairnKeyv({ ...at, prefix: "planner" }).get(FILE),
    noetic: (at) => cairnStorage({ ...at, prefix: "planner:" }).get(FILE),
    // The storage itself takes a `/` for a `:`.
    "unstorage's driver": (at) => cairnDriver({ ...at, base: "planner" }).getItem(FILE),
  },
  () => `${BOAT}\n`,
);
const filed = crossed<void, string>(
  "a text",
  {
    "ai-employee": (at) => cairnMemoryStore({ ...at, prefix: "planner:" }).set(FILE, BOAT),
    "keyv's store": async (at) => void (await cairnKeyv({ ...at, prefix: "planner" }).set(FILE, BOAT)),
    noetic: (at) => cairnStorage({ ...at, prefix: "planner:" }).set(FILE, BOAT),
    "unstorage's driver": (at) => cairnDriver({ ...at, base: "planner" }).setItem(FILE, BOAT),
  },
  {
    "anthropic's files": async (at) => {
      const tool = cairnMemoryFiles({ ...at, prefix: "planner:" });
      return JSON.stringify(await tool.view({ command: "view", path: FILE }));
    },
  },
  () => BOAT,
);

/** What adapters keep for themselves is the user's, too: stores of any keys show it. */
const kept = crossed<Entry, string>(
  "what it keeps",
  {
    "langgraph's store": async (at) => {
      await new CairnStore(at).put(["boats"], "ana", { text: BOAT });
      return { start: "langgraph/store/", key: "i/boats//ana" };
    },
    "langgraph's saver": async (at) => {
      const checkpoint = {
        ...emptyCheckpoint(),
        channel_values: { said: BOAT },
        channel_versions: { said: 1 },
      };
      const config = { configurable: { thread_id: "trip", checkpoint_ns: "" } };
      const metadata = { source: "loop" as const, step: 0, parents: {} };
      await new CairnSaver(at).put(config, checkpoint, metadata, { said: 1 });
      return { start: "langgraph/checkpoints/", key: "trip/v//said/1" };
    },
    mastra: async (at) => {
      await new CairnMemoryStorage(at).updateResource({ resourceId: "ana", workingMemory: BOAT });
      return { start: "mastra/", key: "resources/ana" };
    },
    "noetic's scoped storage": async (at) => {
      const storage = cairnScopedStorage({ ...at, layerId: "notes", scope: "thread", scopeKey: "t1" });
      await storage.set("state", { open: BOAT });
      return { start: "layers/notes/", key: "t1/state" };
    },
  },
  {
    "ai-employee's block": async (at, { start }) => {
      const store = cairnMemoryStore({ ...at, prefix: start });
      const prepared = createMemoryPrepareStep(store, { prefix: "" })({
        stepNumber: 0,
        steps: [],
        messages: [],
      });
      return JSON.stringify(await prepared);
    },
    "ai-employee's list": async (at, { start, key }) => {
      const store = cairnMemoryStore({ ...at, prefix: start });
      return JSON.stringify([...(await store.getMany(await store.list(key)))]);
    },
    noetic: async (at, { start, key }) => {
      const storage = cairnStorage({ ...at, prefix: start });
      return JSON.stringify([...(await storage.getMany(await storage.list(key)))]);
    },
  },
  () => BOAT,
);

/** Messages of any adapter are items that the models of `@openai/agents` take. */
const asItems = crossed<string, boolean>(
  "messages",
  conversationWriters,
  {
    "openai-agents's model": async (at, named) => {
      const items = await cairnSession({ ...at, prefix: "", sessionId: named }).getItems();
      return items.length === 2 && items.every((item) => protocol.ModelItem.safeParse(item).success);
    },
  },
  () => true,
);

/** What a model or its user is told, among other things. */
const texts = [...facts, ...episodes, ...ofTheProject, ...reflections, ...procedures, ...filed, ...kept];
/** What is the same for both. */
const values: Row<unknown>[] = [
  ...corrections,
  ...conversations,
  ...asWritten,
  ...asItems,
  ...toolCalls,
  ...goneOnWith,
  ...entries,
  ...files,
];

/** Two processes of one user. */
async function processes(): Promise<[Process, Process]> {
  const user = newUser();
  return [
    { user, memory: await clientOf(user) },
    { user, memory: await clientOf(user) },
  ];
}

it.each(texts)("%s writes %s, and %s tells it", async (_writer, _what, _reader, run) => {
  const { read, expected } = await run(...(await processes()));
  expect(read).toContain(expected);
});

it.each(values)("%s writes %s, and %s reads it", async (_writer, _what, _reader, run) => {
  const { read, expected } = await run(...(await processes()));
  expect(read).toEqual(expected);
});

it("every adapter is a writer here", () => {
  const adapters = readdirSync(join(import.meta.dirname, "../src"))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => name.replace(/\.ts$/, ""));
  const writers = new Set([...texts, ...values].map(([writer]) => adapterOf(writer)));
  expect([...writers].toSorted()).toEqual(adapters.toSorted());
});
