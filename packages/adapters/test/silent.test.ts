// A Cairn that accepts calls and does not answer them, before each adapter, in the SDK's own main entry. The test lets the
// limits of time pass when the server has the call, so that no test waits and none depends on a busy machine.
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { Memory } from "@mastra/memory";
import { Agent, Runner } from "@openai/agents-core";
import { assistantMessage, ScriptedModel } from "@openai/agents-core/testing";
import { generateText } from "ai";
import { Keyv } from "keyv";
import { createStorage } from "unstorage";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { z } from "zod";
import { agentMemory } from "../src/agent-memory.ts";
import { cairnMemoryBlock, cairnSessionIngest } from "../src/agents.ts";
import { cairnMemoryStore, createMemoryPrepareStep } from "../src/ai-employee.ts";
import { memoryStep } from "../src/ai-sdk.ts";
import { cairnMemoryFiles, withMemory as withClaude } from "../src/anthropic.ts";
import { dexMemory } from "../src/dex.ts";
import {
  cairnCache,
  cairnConversations,
  cairnMemoryExtract,
  cairnMemoryInject,
  cairnUserMemory,
} from "../src/gemstack.ts";
import { cairnKeyv } from "../src/keyv.ts";
import { cairnMemoryManager, cairnPrompt, CairnSaver, CairnStore } from "../src/langgraph.ts";
import { cairnProcessor, cairnSemanticRecall, cairnStorage } from "../src/mastra.ts";
import { molrooMemory } from "../src/molroo.ts";
import { cairnLayer, cairnStorage as noeticStorage } from "../src/noetic.ts";
import { cairnInputFilter, cairnSession } from "../src/openai-agents.ts";
import { cairnDriver } from "../src/unstorage.ts";
import type { Cairn } from "../../client/src/cairn.ts";
import { realTime } from "../../client/src/retry.ts";
import { says, scripted } from "./ai-sdk-model.ts";
import { withMemory } from "./ai-sdk-thread.ts";
import { clientOf, newUser } from "./cairn.ts";
import { found } from "./dex.ts";
import { AgentHost } from "./gemstack-host.ts";
import { hanging, type Manner } from "./broken.ts";
import { agentWith, scripted as mastraModel } from "./mastra-agent.ts";
import { AgentHarness, message } from "./noetic-harness.ts";

type At = { memory: Cairn; user: string; onError: (error: unknown, failure?: { doing: string }) => void };
/** One process of an agent, or of a store. */
type Made = {
  turn: (text: string) => Promise<unknown>;
  /** Ends the work behind the turn. */
  end?: () => Promise<unknown>;
  /** The user's messages that it keeps, where that is not in threads. */
  kept?: () => Promise<string[]>;
};
type Case = {
  /** `goes on`: without memory, and `onError` knows. `rejects`: with `timeout`, since history or state is not invented. */
  outage: "goes on" | "rejects";
  /** True if each turn's message is kept. */
  keeps?: true;
  /** The limit of each call. */
  limitMs?: number;
  /** All that passes before the turn and the work behind it end: twice the limit, once before the model and once after it. */
  totalMs?: number;
  make: (at: At) => Made | Promise<Made>;
};

const thread = { agent: "silent" };
const openaiAgent = () =>
  new Agent({
    name: "Guide",
    model: new ScriptedModel(Array.from({ length: 9 }, () => [assistantMessage("Fine.")])),
  });
const chain = (text: string) => ({ messages: [{ role: "user", content: text }] });
const fake = () => {
  const model = fakeModel();
  for (let i = 0; i < 9; i++) model.respond(new AIMessage("Fine."));
  return model;
};
const gemstack = (
  { memory, user }: At,
  middleware: AgentHostMiddleware = () => [],
  store = cairnConversations({ memory, user }),
) =>
  new AgentHost({
    store,
    agent: "A",
    instructions: "Be brief.",
    middleware,
    model: () => ({ text: "Fine." }),
  });
type AgentHostMiddleware = ConstructorParameters<typeof AgentHost>[0]["middleware"];
const noetic = (at: At, version: 3 | 5) => {
  const layers = [cairnLayer({ memory: at.memory, z, user: at.user })];
  const common = {
    model: () => [message("assistant", "Fine.")],
    report: (hook: string, error: unknown) => at.onError(error, { doing: hook === "store" ? "save" : hook }),
  };
  const harness = new AgentHarness(
    version === 3 ? { ...common, version, memory: layers } : { ...common, version, contextLayers: layers },
  );
  return { turn: (text: string) => harness.execute(text, { threadId: "t", resourceId: at.user }) };
};
/** A store that is written and read in each turn. */
const stored = (
  set: (key: string, text: string) => Promise<unknown>,
  get: (key: string) => Promise<unknown>,
) => ({
  turn: async (text: string) => {
    await set(text, text);
    if ((await get(text)) === null) throw new Error("the store lost what it had");
  },
});

const cases: Record<string, Case> = {
  "the AI SDK's middleware": {
    outage: "goes on",
    keeps: true,
    make: ({ memory, user, onError }) => {
      const model = withMemory(scripted(says("Fine.")), { memory, user, thread, history: 10, onError });
      return { turn: (prompt) => generateText({ model, prompt }) };
    },
  },
  "the AI SDK's step": {
    outage: "goes on",
    make: ({ memory, user, onError }) => {
      const prepareStep = memoryStep({ memory, user, thread, onError });
      return { turn: (prompt) => generateText({ model: scripted(says("Fine.")), prompt, prepareStep }) };
    },
  },
  "the AI Employee SDK's step": {
    outage: "rejects",
    make: ({ memory, user }) => {
      const prepareStep = createMemoryPrepareStep(cairnMemoryStore({ memory, user }));
      return { turn: (prompt) => generateText({ model: scripted(says("Fine.")), prompt, prepareStep }) };
    },
  },
  "the AI Employee SDK's store": {
    outage: "rejects",
    make: ({ memory, user }) => {
      const store = cairnMemoryStore({ memory, user });
      return stored(
        (key, text) => store.set(key, text),
        (key) => store.get(key),
      );
    },
  },
  "Mastra's storage": {
    outage: "rejects",
    keeps: true,
    make: ({ memory, user }) => {
      const agent = agentWith({
        model: mastraModel().model,
        memory: new Memory({ storage: cairnStorage({ memory, user }), options: { lastMessages: 10 } }),
      });
      return { turn: (text) => agent.generate(text, { memory: { thread: "t", resource: "r" } }) };
    },
  },
  "Mastra's semantic recall": {
    outage: "rejects",
    make: ({ memory, user }) => {
      const { vector } = cairnSemanticRecall({ memory, user });
      const queryVector = [0xca1717, ..."boat".split("").map((c) => c.charCodeAt(0))];
      return { turn: () => vector.query({ indexName: "m", queryVector, filter: { thread_id: "t" } }) };
    },
  },
  "Mastra's processor": {
    outage: "goes on",
    make: ({ memory, user, onError }) => {
      const inputProcessors = [cairnProcessor({ memory, user, thread, onError })];
      const agent = agentWith({ model: mastraModel().model, inputProcessors });
      return { turn: (text) => agent.generate(text) };
    },
  },
  "LangGraph's checkpointer": {
    outage: "rejects",
    keeps: true,
    make: ({ memory, user }) => {
      const checkpointer = new CairnSaver({ memory, user });
      const agent = createReactAgent({ llm: fake(), tools: [], checkpointer });
      const config = { configurable: { thread_id: "t" } };
      return {
        turn: (text) => agent.invoke(chain(text), config),
        kept: async () => {
          const { values } = await agent.getState(config);
          return (values as { messages: { text: string }[] }).messages.map(({ text }) => text);
        },
      };
    },
  },
  "LangGraph's store": {
    outage: "rejects",
    make: ({ memory, user }) => {
      const store = new CairnStore({ memory, user, index: {} });
      return stored(
        (key, text) => store.put(["n"], key, { text }),
        (key) => store.get(["n"], key),
      );
    },
  },
  "LangGraph's prompt": {
    outage: "goes on",
    make: ({ memory, user, onError }) => {
      const prompt = cairnPrompt({ memory, user, thread, onError });
      const agent = createReactAgent({ llm: fake(), tools: [], prompt });
      return { turn: (text) => agent.invoke(chain(text)) };
    },
  },
  "LangGraph's memory manager": {
    outage: "goes on",
    keeps: true,
    limitMs: 10_000,
    make: ({ memory, user, onError }) => {
      const manager = cairnMemoryManager({ memory, user, afterMs: 0, onError });
      const agent = createReactAgent({
        llm: fake(),
        tools: [],
        prompt: ({ messages }) => {
          manager.submit(messages, { configurable: { thread_id: messages[0]?.text } });
          return messages;
        },
      });
      return { turn: (text) => agent.invoke(chain(text)), end: () => manager.settle() };
    },
  },
  "the OpenAI Agents SDK's session": {
    outage: "rejects",
    keeps: true,
    make: ({ memory, user }) => {
      const session = cairnSession({ memory, user, sessionId: "s" });
      const agent = openaiAgent();
      return { turn: (text) => new Runner({ tracingDisabled: true }).run(agent, text, { session }) };
    },
  },
  "the OpenAI Agents SDK's filter": {
    outage: "goes on",
    make: ({ memory, user, onError }) => {
      const callModelInputFilter = cairnInputFilter({ memory, user, thread, onError });
      const agent = openaiAgent();
      return {
        turn: (text) => new Runner({ tracingDisabled: true }).run(agent, text, { callModelInputFilter }),
      };
    },
  },
  "GemStack's conversations": {
    outage: "rejects",
    keeps: true,
    make: (at) => {
      const host = gemstack(at);
      return { turn: (text) => host.prompt(at.user, text) };
    },
  },
  "GemStack's injection": {
    outage: "goes on",
    make: (at) => {
      const injection = cairnMemoryInject({ ...at, thread });
      const host = gemstack(at, () => [injection]);
      return { turn: (content) => host.run([{ role: "user", content }]) };
    },
  },
  "GemStack's extraction": {
    outage: "goes on",
    keeps: true,
    limitMs: 10_000,
    make: (at) => {
      const extract = cairnMemoryExtract({ ...at, session: "s", afterMs: 0 });
      const host = gemstack(at, () => [extract]);
      return { turn: (content) => host.run([{ role: "user", content }]), end: () => extract.settle() };
    },
  },
  "GemStack's user memory": {
    outage: "rejects",
    make: ({ memory, user }) => {
      const facts = cairnUserMemory({ memory });
      return stored(
        (_, text) => facts.remember(user, text),
        (text) => facts.recall(user, text),
      );
    },
  },
  "GemStack's cache": {
    outage: "rejects",
    make: ({ memory }) => {
      const cache = cairnCache({ memory, namespace: crypto.randomUUID() });
      return stored(
        (key, text) => cache.set(key, text),
        (key) => cache.get(key),
      );
    },
  },
  "Noetic's layer in core 3": { outage: "goes on", make: (at) => noetic(at, 3) },
  "Noetic's layer in core 5": { outage: "goes on", make: (at) => noetic(at, 5) },
  "Noetic's storage": {
    outage: "rejects",
    make: ({ memory, user }) => {
      const storage = noeticStorage({ memory, user });
      return stored(
        (key, text) => storage.set(key, text),
        (key) => storage.get(key),
      );
    },
  },
  Dex: {
    outage: "goes on",
    // `dispose` tries once more what failed.
    totalMs: 9_000,
    make: async ({ user, onError, memory }) => {
      const llm = async () => found("We worked.");
      // It does not tell what failed: after `inject`, it is the summary's save.
      let doing = "context";
      const told = (error: unknown) => onError(error, { doing });
      const of = { memory, user, projectRoot: "/p", procedureOwner: user };
      const extension = dexMemory({ ...of, llm, onError: told });
      return {
        turn: async (content) => {
          doing = "context";
          const sent = await extension.inject([{ role: "user", content }]);
          // The client's `later` tells it in the next task.
          await Promise.resolve();
          doing = "save";
          extension.afterTurn([...sent, { role: "assistant", content: "Fine." }]);
        },
        end: () => extension.dispose(),
      };
    },
  },
  Keyv: {
    outage: "rejects",
    make: ({ memory, user }) => {
      const keyv = new Keyv({ store: cairnKeyv({ memory, user }), throwOnErrors: true });
      return stored(
        (key, text) => keyv.set(key, text),
        (key) => keyv.get(key),
      );
    },
  },
  unstorage: {
    outage: "rejects",
    make: ({ memory, user }) => {
      const storage = createStorage({ driver: cairnDriver({ memory, user }) });
      return stored(
        (key, text) => storage.setItem(key, text),
        (key) => storage.getItem(key),
      );
    },
  },
  molroo: {
    outage: "rejects",
    make: ({ memory, user, onError }) => {
      const persona = molrooMemory({ memory, user, onError: (error) => onError(error) });
      return { turn: () => persona.recall({ limit: 5 }) };
    },
  },
  "Anthropic's messages": {
    outage: "goes on",
    make: ({ memory, user, onError }) => {
      const remembering = withClaude({ memory, user, thread, onError });
      return {
        turn: (content) =>
          remembering({ model: "m", max_tokens: 1, messages: [{ role: "user" as const, content }] }),
      };
    },
  },
  "Anthropic's memory tool": {
    outage: "rejects",
    make: ({ memory, user }) => {
      const tool = betaMemoryTool(cairnMemoryFiles({ memory, user }));
      return {
        turn: async (text) => tool.run({ command: "create", path: `/memories/${text}.txt`, file_text: text }),
      };
    },
  },
  "Cloudflare's agents' block": {
    outage: "goes on",
    make: (at) => {
      const block = cairnMemoryBlock(at);
      return { turn: () => block.get() };
    },
  },
  "Cloudflare's agents' sessions": {
    outage: "goes on",
    keeps: true,
    limitMs: 10_000,
    make: (at) => {
      const ingest = cairnSessionIngest({ ...at, name: "o", afterMs: 0 });
      const messages: { id: string; role: string; parts: unknown[] }[] = [];
      const session = { sessionId: "", getRecentHistory: async () => ({ messages: [...messages] }) };
      return {
        turn: async (text) => {
          messages.push({ id: text, role: "user", parts: [{ type: "text", text }] });
          await ingest.afterTurn(session);
        },
        end: () => ingest.settle(),
      };
    },
  },
  "Cloudflare's Agent Memory": {
    outage: "rejects",
    make: async ({ memory, user }) => {
      const profile = await agentMemory({ memory }).getProfile(user.slice(0, 100));
      return stored(
        (_, content) => profile.remember({ content }),
        (text) => profile.recall(text),
      );
    },
  },
};

/** Two limits that end so close to each other are one. */
const SAME_MS = 100;

/** Lets time pass to the next limit whenever the server lets a call hang, and keeps how long that was. */
function clock() {
  const pending = new Map<() => void, number>();
  const passed: number[] = [];
  const { now } = realTime;
  let skipped = 0;
  vi.spyOn(realTime, "now").mockImplementation(() => now() + skipped);
  vi.spyOn(realTime, "after").mockImplementation((ms, run) => {
    pending.set(run, realTime.now() + ms);
    return () => void pending.delete(run);
  });
  const pass = () => {
    if (pending.size === 0) return;
    const first = Math.min(...pending.values());
    const ms = Math.max(0, first - realTime.now());
    passed.push(ms);
    skipped += ms;
    // Calls at the same time have limits that differ by what the real clock went on between them.
    for (const [run, at] of pending) if (at < first + SAME_MS) run();
  };
  return { passed, pass };
}

afterEach(() => vi.restoreAllMocks());

const TURNS = ["Turn one is about boats", "Turn two is about trains", "Turn three is about tea"] as const;

async function messagesIn({ threads }: Cairn, user: string): Promise<string[]> {
  const all: string[] = [];
  for await (const { id } of threads.all(user))
    for await (const { message: said } of threads.messages(id)) all.push(JSON.stringify(said));
  return all;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${messageOf(error.cause)}` : String(error);
/** `rejects` for a limit of time, which an SDK may wrap; else the failure. */
const outcomeOf = (error: unknown): string =>
  messageOf(error).includes("timeout: no complete answer") ? "rejects" : messageOf(error);

describe.each(Object.entries(cases))("%s", (_, entry) => {
  const { outage, keeps, limitMs = 3_000, totalMs = 2 * limitMs, make } = entry;
  it.each<Manner>(["silent", "headers only", "late"])(
    `${outage} in time while Cairn is %s, and has all it kept when Cairn is healthy again`,
    async (manner) => {
      const user = newUser();
      const { passed, pass } = clock();
      const server = await hanging(inject("cairn").url, pass);
      const errors: unknown[] = [];
      const told: (string | undefined)[] = [];
      const onError = (error: unknown, failure?: { doing: string }) => {
        errors.push(error);
        told.push(failure?.doing);
      };
      try {
        const memory = await clientOf(user, { url: server.url });
        const made = await make({ memory, user, onError });
        const [first, second, third] = TURNS;
        await made.turn(first);
        await made.end?.();
        expect(errors).toEqual([]);

        server.become(manner);
        const turn = made.turn(second).then(() => made.end?.());
        expect(await turn.then(() => "goes on", outcomeOf)).toBe(outage);
        await expect.poll(() => outage === "rejects" || errors.length > 0).toBe(true);
        expect(errors.map(outcomeOf)).toEqual(errors.map(() => "rejects"));
        expect(passed.length).toBeGreaterThan(0);
        for (const ms of passed) expect(ms).toBeLessThanOrEqual(limitMs);
        expect(passed.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(totalMs);
        expect(told.filter((doing) => doing !== "save" && doing !== "ingest").length).toBeLessThanOrEqual(1);

        server.become("healthy");
        await server.settled();
        await made.turn(third);
        await made.end?.();
        const plain = await clientOf(user);
        const kept = (await made.kept?.()) ?? (await messagesIn(plain, user));
        const times = TURNS.map((text) => kept.filter((one) => one.includes(text)).length);
        const isWhole = (text: string) => keeps === true && text !== second;
        expect(times).toEqual(TURNS.map((text) => expect.toBeOneOf(isWhole(text) ? [1] : [0, 1])));
      } finally {
        server.close();
      }
    },
  );
});
