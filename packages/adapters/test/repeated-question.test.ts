// A conversation in which the user asks the same question three times, in each adapter that gives a prompt blocks of memory.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Memory } from "@mastra/memory";
import { generateText, type ModelMessage, wrapLanguageModel } from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import { cairnMemory, memoryStep } from "../src/ai-sdk.ts";
import { withMemory } from "../src/anthropic.ts";
import { dexMemory } from "../src/dex.ts";
import { cairnMemoryInject } from "../src/gemstack.ts";
import { cairnPrompt } from "../src/langgraph.ts";
import { cairnProcessor, cairnStorage } from "../src/mastra.ts";
import { cairnLayer } from "../src/noetic.ts";
import { cairnInputFilter, cairnSession } from "../src/openai-agents.ts";
import type { Cairn } from "../../client/src/index.ts";
import { promptsOf, says, scripted } from "./ai-sdk-model.ts";
import { clientOf, newUser } from "./cairn.ts";
import { agentWith, scripted as mastraModel } from "./mastra-agent.ts";

type Said = { role: "user" | "assistant"; content: string };
type Given = { memory: Cairn; user: string; thread: { agent: string }; strict: true; timeoutMs: number };
/** Makes what a model gets for this conversation. */
type Prompt = (said: Said[]) => Promise<unknown>;

const QUESTION = "Where is the boat?";

const adapters: Record<string, (given: Given) => Prompt> = {
  "ai-sdk's middleware": (given) => async (messages) => {
    const model = scripted(says("Here."));
    const middleware = cairnMemory({ ...given, save: false });
    await generateText({ model: wrapLanguageModel({ model, middleware }), messages });
    return promptsOf(model)[0];
  },
  "ai-sdk's step": (given) => async (messages: ModelMessage[]) => {
    const model = scripted(says("Here."));
    await generateText({ model, messages, prepareStep: memoryStep(given) });
    return promptsOf(model)[0];
  },
  anthropic: (given) => async (messages) =>
    (await withMemory(given)({ model: "claude-sonnet-5-5", messages })).messages,
  dex: ({ memory, user }) => {
    const extension = dexMemory({ memory, user, projectRoot: "/p", timeoutMs: 20_000 });
    return (messages) => extension.inject(messages);
  },
  gemstack: (given) => async (said) => {
    const messages = [...said];
    await cairnMemoryInject(given).onStart({ messages });
    return messages;
  },
  langgraph: (given) => async (said) => {
    const messages = said.map(({ role, content }) =>
      role === "user" ? new HumanMessage(content) : new AIMessage(content),
    );
    return (await cairnPrompt(given)({ messages }, {})).map(({ content }) => content);
  },
  mastra: ({ memory, ...given }) => {
    const { model, prompts } = mastraModel([]);
    const agent = agentWith({
      model,
      memory: new Memory({
        storage: cairnStorage({ memory, user: given.user }),
        options: { lastMessages: 50 },
      }),
      inputProcessors: [cairnProcessor({ memory, ...given })],
    });
    return async (said) => {
      await agent.generate(said.at(-1)?.content ?? "", { memory: { thread: "t", resource: given.user } });
      return prompts.at(-1);
    };
  },
  noetic: ({ memory, user }) => {
    const { hooks } = cairnLayer({ memory, user, z, timeouts: { recall: 20_000 } });
    return async (said) => {
      const items = said.map(({ role, content }) => ({
        type: "message",
        role,
        content: [{ text: content }],
      }));
      const ctx = { executionId: crypto.randomUUID(), threadId: "t" };
      const first = await hooks.recall({ query: "", log: { items }, ctx, budget: 2000 });
      return [first, ...(await hooks.projectHistory({ items, ctx })).items];
    };
  },
  "openai-agents's filter": (given) => async (said) => {
    const input = said.map((message) => ({ ...message }) as never);
    const filter = cairnInputFilter(given);
    return (await filter({ modelData: { input } } as unknown as Parameters<typeof filter>[0])).input;
  },
  "openai-agents's session": ({ memory, user, strict, timeoutMs }) => {
    const session = cairnSession({ memory, user, sessionId: "s" });
    return async (said) => {
      const items = said.map((message) => ({ ...message }) as never);
      const history = items.slice(0, -1);
      const all = await session.withContext({ strict, timeoutMs })(history, items.slice(-1));
      return all.map((item) =>
        history.includes(item as never) ? session.prepareHistoryItemForModelInput(item) : item,
      );
    };
  },
};

it.each(Object.entries(adapters))(
  "%s gives each of three equal questions a block of its own",
  async (name, made) => {
    const user = newUser();
    const memory = await clientOf(user);
    const promptOf = made({ memory, user, thread: { agent: "a" }, strict: true, timeoutMs: 20_000 });
    const learnt = ["The boat is in Setúbal", "The boat was sold to Ana", "The boat sank near Faro"];
    const said: Said[] = [];
    for (const [turn, text] of learnt.entries()) {
      const ofProject = name === "dex" && { scope: "/p", metadata: { projectRoot: "/p" } };
      await memory.memories.remember(user, { kind: "episode", text, ...ofProject });
      said.push({ role: "user", content: QUESTION });
      const prompt = JSON.stringify(await promptOf([...said]));
      expect(prompt).toContain(text);
      for (const known of learnt.slice(0, turn + 1))
        expect(prompt.split(known).length).toBeLessThanOrEqual(2);
      said.push({ role: "assistant", content: "I see." });
    }
  },
);
