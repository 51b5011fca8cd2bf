// The prompt function and the node in LangGraph's own graphs, with a model that says what it is told to.
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import {
  cairnContextNode,
  type CairnContextOptions,
  cairnMiddleware,
  cairnPrompt,
  CairnSaver,
} from "../src/langgraph.ts";
import type { CairnOptions } from "../../client/src/index.ts";
import { counting, failing, silent } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";

type Model = ReturnType<typeof fakeModel>;

async function begin(client: Partial<CairnOptions> = {}) {
  const user = newUser();
  return { user, memory: await clientOf(user, client), plain: await clientOf(user) };
}

const weather = tool(({ place }: { place: string }) => `sunny in ${place}`, {
  name: "weather",
  description: "The weather of a place.",
  schema: z.object({ place: z.string() }),
});

/** A model that answers once for each text, and looks up the weather for each that is a place. */
const scripted = (...answers: (string | { place: string })[]): Model => {
  const model = fakeModel();
  for (const answer of answers)
    if (typeof answer === "string") model.respond(new AIMessage(answer));
    else model.respond(new AIMessage({ content: "", tool_calls: [lookUp(answer)] }));
  return model;
};

const lookUp = (args: { place: string }) => ({
  name: "weather",
  args,
  id: `call-${args.place}`,
  type: "tool_call" as const,
});

/** All that a provider's cache sees of the model's prompts. */
const promptsOf = (model: Model): string[][] =>
  model.calls.map(({ messages }) => messages.map((message) => JSON.stringify(message.toDict())));

/** Each prompt begins with all of the one before it. */
function expectGrowing(prompts: readonly string[][]): void {
  for (const [i, prompt] of prompts.slice(1).entries())
    expect(prompt.slice(0, prompts[i]?.length)).toEqual(prompts[i]);
}

const lastPrompt = (model: Model): BaseMessage[] => model.calls.at(-1)?.messages ?? [];
const textsOf = (messages: readonly BaseMessage[]) =>
  messages.map((message) => [message.getType(), message.text]);

type Memory = Omit<CairnContextOptions, "prompt">;

// Its types bring a second zod into this program, which hides what `@hono/zod-openapi` adds to the first one. They are checked where
// the code blocks of the pages are. The agent is invoked as a prebuilt one.
const langchain: string = "langchain";
const { createAgent } = (await import(langchain)) as {
  createAgent: (options: object) => ReturnType<typeof createReactAgent>;
};

/** The same conversation through the prebuilt agent, and through a graph of two nodes. */
const graphs = {
  "a prompt of createReactAgent": (options: Memory, model: Model, saver: MemorySaver | CairnSaver) =>
    createReactAgent({
      llm: model,
      tools: [weather],
      prompt: cairnPrompt({ ...options, prompt: "Be brief." }),
      checkpointer: saver,
    }),
  "a middleware of createAgent": (options: Memory, model: Model, saver: MemorySaver | CairnSaver) =>
    createAgent({
      model,
      tools: [weather],
      systemPrompt: "Be brief.",
      middleware: [cairnMiddleware(options)],
      checkpointer: saver,
    }),
  "a node of a StateGraph": (options: Memory, model: Model, saver: MemorySaver | CairnSaver) =>
    new StateGraph(MessagesAnnotation)
      .addNode(
        "model",
        cairnContextNode({ ...options, prompt: "Be brief." }, async ({ messages }) => ({
          messages: [await model.bindTools([weather]).invoke(messages)],
        })),
      )
      .addNode("tools", async ({ messages }) => {
        const [called] = (messages.at(-1) as AIMessage).tool_calls ?? [];
        return { messages: called === undefined ? [] : [await weather.invoke(called)] };
      })
      .addEdge(START, "model")
      .addConditionalEdges("model", ({ messages }) =>
        (messages.at(-1) as AIMessage).tool_calls?.length ? "tools" : END,
      )
      .addEdge("tools", "model")
      .compile({ checkpointer: saver }),
};

describe.each(Object.entries(graphs))("%s", (_, graphOf) => {
  it("sends prompts that begin with the prompt before, while facts are written and corrected", async () => {
    const { user, memory } = await begin();
    const lives = { subject: "Alice", predicate: "lives in" };
    await memory.memories.remember(user, { ...lives, object: "Lisbon" });
    const model = scripted("In Lisbon.", { place: "Lisbon" }, "Sunny.", "Tea, noted.", "In Porto.", "Bye.");
    const config = { configurable: { thread_id: "trip" } };
    const saver = new CairnSaver({ memory, user });
    /** As a server does: a graph for each request. */
    const say = (text: string) =>
      graphOf({ memory, user }, model, saver).invoke({ messages: [new HumanMessage(text)] }, config);

    await say("Where does Alice live?");
    await memory.memories.remember(user, { text: "Alice drinks tea in the morning" });
    await say("What is the weather where Alice lives?");
    await memory.memories.remember(user, { ...lives, object: "Porto" });
    await say("What does Alice drink in the morning?");
    await say("Where does Alice live now?");
    await say("Thanks, bye!");

    expect(model.calls).toHaveLength(6);
    expectGrowing(promptsOf(model));
    const said = textsOf(lastPrompt(model));
    expect(said.map(([type]) => type)).toEqual([
      "system",
      "human",
      "ai",
      "human",
      "ai",
      "tool",
      "ai",
      "human",
      "ai",
      "human",
      "ai",
      "human",
    ]);
    expect(said[0]?.[1]).toMatch(
      /^Be brief\.(?:\n\n)?<memory>\n[^]*- Alice: lives in Lisbon\n[^]*<\/memory>$/,
    );
    expect(said[3]?.[1]).toMatch(/^<memory>\n[^]*Alice drinks tea[^]*<\/memory>\n\nWhat is the weather/);
    expect(said[7]?.[1]).toMatch(/^<memory>\n[^]*lives in Porto[^]*<\/memory>\n\nWhat does Alice/);
    expect(said[11]?.[1]).toBe("Thanks, bye!");
  });

  it("leaves the graph's state and its checkpoints without blocks", async () => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { text: "Alice lives in Lisbon" });
    const model = scripted("In Lisbon.", { place: "Lisbon" }, "Sunny.");
    const saver = new MemorySaver();
    const graph = graphOf({ memory, user }, model, saver);
    const config = { configurable: { thread_id: "trip" } };
    await graph.invoke({ messages: [new HumanMessage("Where does Alice live?")] }, config);
    await memory.memories.remember(user, { text: "Alice lives near the castle" });
    const { messages } = await graph.invoke(
      { messages: [new HumanMessage("Where exactly does Alice live?")] },
      config,
    );
    expect(JSON.stringify(promptsOf(model).at(-1)).match(/<memory>/g)?.length).toBeGreaterThan(1);
    expect(textsOf(messages)).toEqual([
      ["human", "Where does Alice live?"],
      ["ai", "In Lisbon."],
      ["human", "Where exactly does Alice live?"],
      ["ai", expect.anything()],
      ["tool", "sunny in Lisbon"],
      ["ai", "Sunny."],
    ]);
    const decoder = new TextDecoder();
    const stored = [Object.values(saver.storage), Object.values(saver.writes)];
    const text = JSON.stringify(stored, (_key, value: unknown) =>
      value instanceof Uint8Array ? decoder.decode(value) : value,
    );
    expect(text.includes("Where exactly does Alice live?")).toBe(true);
    expect(text.includes("<memory>")).toBe(false);
  });

  it("reads a context once for a turn with tools", async () => {
    const { fetch, calls } = counting();
    const { user, memory } = await begin({ fetch });
    const model = scripted({ place: "Faro" }, { place: "Lagos" }, "Sunny.");
    await graphOf({ memory, user }, model, new MemorySaver()).invoke(
      { messages: [new HumanMessage("Weather in Faro and Lagos?")] },
      { configurable: { thread_id: "trip" } },
    );
    expect(calls.filter((call) => call.endsWith("/context"))).toHaveLength(1);
  });

  it("answers without memory if Cairn fails, and reports it", async () => {
    const { user, memory } = await begin({ fetch: failing(503), retry: false });
    const model = scripted("Hello.");
    const onError = vi.fn<(error: unknown, failure: object) => void>();
    const graph = graphOf({ memory, user, onError }, model, new MemorySaver());
    const config = { configurable: { thread_id: "trip" } };
    const { messages } = await graph.invoke({ messages: [new HumanMessage("Hello")] }, config);
    expect(textsOf(messages).at(-1)).toEqual(["ai", "Hello."]);
    expect(textsOf(lastPrompt(model))).toEqual([
      ["system", "Be brief."],
      ["human", "Hello"],
    ]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: "storage_unavailable" }),
      { doing: "context" },
    );
  });

  it("answers without memory while Cairn is silent, and with it in the next turn", async () => {
    let isSilent = true;
    const { user, memory, plain } = await begin({
      fetch: (request) => (isSilent ? silent(request) : fetch(request)),
    });
    await plain.memories.remember(user, { text: "Alice lives in Lisbon" });
    const model = scripted("Hello.", "In Lisbon.");
    const onError = vi.fn<(error: unknown, failure: object) => void>();
    const saver = new MemorySaver();
    const say = (text: string, timeoutMs: number) =>
      graphOf({ memory, user, onError, timeoutMs }, model, saver).invoke(
        { messages: [new HumanMessage(text)] },
        { configurable: { thread_id: "trip" } },
      );
    await say("Hello", 50);
    expect(textsOf(lastPrompt(model))).toEqual([
      ["system", "Be brief."],
      ["human", "Hello"],
    ]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.anything(), { doing: "context" });
    isSilent = false;
    const { messages } = await say("Where does Alice live?", 20_000);
    expect(JSON.stringify(textsOf(lastPrompt(model)))).toContain("Alice lives in Lisbon");
    expect(textsOf(messages)).toEqual([
      ["human", "Hello"],
      ["ai", "Hello."],
      ["human", "Where does Alice live?"],
      ["ai", "In Lisbon."],
    ]);
  });

  it("rejects if Cairn fails and it is strict", async () => {
    const { user, memory } = await begin({ fetch: failing(503), retry: false });
    const graph = graphOf({ memory, user, strict: true }, scripted("never"), new MemorySaver());
    const config = { configurable: { thread_id: "trip" } };
    const invoked = Promise.resolve(graph.invoke({ messages: [new HumanMessage("Hello")] }, config));
    const error = await invoked.catch((reason: Error) => reason);
    // `createAgent` wraps what a middleware throws.
    expect([error, (error as Error).cause]).toContainEqual(
      expect.objectContaining({ code: "storage_unavailable" }),
    );
  });
});

describe("a prompt", () => {
  const stateOf = (...messages: BaseMessage[]) => ({ messages });

  it("takes the user and the thread from the run's config", async () => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { text: "Alice lives in Lisbon" });
    const { id } = await memory.threads.create(user);
    const prompt = cairnPrompt({
      memory,
      user: ({ configurable }) => String(configurable?.user_id),
      thread: ({ configurable }) => String(configurable?.chat),
    });
    const configurable = { user_id: user, chat: id, thread_id: "not this one" };
    const [system] = await prompt(stateOf(new HumanMessage("Where does Alice live?")), { configurable });
    expect(system?.text).toContain("Alice lives in Lisbon");
    const agents = (await memory.threads.list(user)).items.map(({ agent }) => agent);
    expect(agents).toEqual([undefined]);
  });

  it("keeps the blocks of LangGraph's thread in a thread of Cairn that it names", async () => {
    const { user, memory } = await begin();
    const prompt = cairnPrompt({ memory, user });
    const state = stateOf(new HumanMessage("Hello"));
    await prompt(state, { configurable: { thread_id: "trip" } });
    await prompt(state, { configurable: { thread_id: "trip" } });
    await prompt(state, {});
    const { items } = await memory.threads.list(user);
    expect(items.map(({ agent }) => agent)).toEqual(["langgraph/trip"]);
  });

  it("keeps the memories of two users of one graph apart", async () => {
    const users = [newUser(), newUser()] as const;
    const memory = await clientOf("*");
    for (const user of users) await memory.memories.remember(user, { text: `The code of ${user}` });
    const prompt = cairnPrompt({ memory, user: ({ configurable }) => String(configurable?.user_id) });
    for (const user of users) {
      const configurable = { user_id: user, thread_id: "same" };
      const [system] = await prompt(stateOf(new HumanMessage("What is the code?")), { configurable });
      expect(users.filter((other) => system?.text.includes(other))).toEqual([user]);
    }
  });

  it("copies messages with their class, id and fields", async () => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { text: "Alice lives in Lisbon" });
    const prompt = cairnPrompt({ memory, user, context: { layers: [{ type: "recalled" }] } });
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
    const said = new HumanMessage({
      id: "m1",
      name: "alice",
      content: [{ type: "text", text: "Where does Alice live?" }, image],
      additional_kwargs: { tag: "a" },
    });
    const before = JSON.stringify(said);
    const [copy] = await prompt(stateOf(said), {});
    expect(copy).toBeInstanceOf(HumanMessage);
    expect(copy).toMatchObject({ id: "m1", name: "alice", additional_kwargs: { tag: "a" } });
    expect(copy?.content).toEqual([
      { type: "text", text: expect.stringMatching(/^<memory>[^]*Alice lives in Lisbon/) },
      { type: "text", text: "Where does Alice live?" },
      image,
    ]);
    expect(JSON.parse(JSON.stringify(copy))).toMatchObject({ kwargs: { content: copy?.content, id: "m1" } });
    expect(JSON.stringify(said)).toBe(before);
  });

  it("puts the stable block into the last of the instructions, whatever shape they have", async () => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { text: "Alice lives in Lisbon" });
    const cached = { type: "text" as const, text: "Be brief.", cache_control: { type: "ephemeral" } };
    const prompt = cairnPrompt({
      memory,
      user,
      prompt: ({ messages }) => [
        ["system", "You are a guide."],
        new SystemMessage({ content: [cached] }),
        ...messages,
      ],
    });
    const [first, second, third] = await prompt(stateOf(new HumanMessage("Hello")), {});
    expect(first?.content).toBe("You are a guide.");
    expect(second?.content).toEqual([
      cached,
      { type: "text", text: expect.stringContaining("Alice lives in Lisbon") },
    ]);
    expect(third?.content).toBe("Hello");
  });

  it("refuses a run whose config names no user", async () => {
    const { memory } = await begin();
    const prompt = cairnPrompt({ memory, user: ({ configurable }) => configurable?.user_id });
    await expect(prompt(stateOf(new HumanMessage("Hello")), {})).rejects.toThrow(
      "cairnPrompt: `user` returned no user",
    );
  });

  it("ends with the run's signal", async () => {
    const { user, memory } = await begin();
    const prompt = cairnPrompt({ memory, user });
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(prompt(stateOf(new HumanMessage("Hello")), { signal })).rejects.toThrow("stopped");
  });

  it.each([
    [{ thread: { agent: "" } }, "`thread` must be a thread's id, or { agent }"],
    [{ context: false }, "`context` must be an object of options"],
    [{ timeoutMs: 0 }, "`timeoutMs` must be a number from 1"],
    [{ strict: "yes" }, "`strict` must be true or false"],
    [{ onError: 7 }, "`onError` must be a function"],
    [{ prompt: new HumanMessage("Be brief.") }, "`prompt` must be a text, a system message"],
  ])("is not made with %o", async (given, message) => {
    const { user, memory } = await begin();
    const options = { memory, user, ...given } as never;
    expect(() => cairnPrompt(options)).toThrow(`cairnPrompt: ${message}`);
    expect(() => cairnContextNode(options, () => ({}))).toThrow(`cairnContextNode: ${message}`);
  });

  it("is no node without the function that calls the model", async () => {
    const { user, memory } = await begin();
    expect(() => cairnContextNode({ memory, user }, undefined as never)).toThrow(
      "cairnContextNode: `node` must be the function that calls the model",
    );
    expect(() => cairnMiddleware({ memory, user, timeoutMs: 0 })).toThrow("cairnMiddleware: `timeoutMs`");
  });
});
