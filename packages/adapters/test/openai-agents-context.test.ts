// Memory in the Agents SDK's own Runner, with a model that says what it is told to.
import {
  Agent,
  type AgentInputItem,
  MemorySession,
  Runner,
  type RunConfig,
  type SessionInputCallback,
  tool,
} from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { cairnInputFilter, cairnSession } from "../src/openai-agents.ts";
import type { CairnOptions } from "../../client/src/index.ts";
import { counting, failing, silent } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";

async function begin(client: Partial<CairnOptions> = {}) {
  const user = newUser();
  return { user, memory: await clientOf(user, client), plain: await clientOf(user) };
}

const runnerOf = (config: Partial<RunConfig> = {}) => new Runner({ tracingDisabled: true, ...config });
const runner = runnerOf();

const weather = tool({
  name: "weather",
  description: "The weather of a place.",
  parameters: z.object({ place: z.string() }),
  execute: ({ place }) => `sunny in ${place}`,
});

/** An answer for each text, and a call of the tool for each place. */
const scripted = (...answers: (string | { place: string })[]) =>
  new ScriptedModel(
    answers.map((answer) =>
      typeof answer === "string"
        ? [assistantMessage(answer)]
        : [functionCall("weather", answer, { callId: `call-${answer.place}` })],
    ),
  );

const agentOf = (model: ScriptedModel) =>
  new Agent({ name: "guide", instructions: "Be brief.", model, tools: [weather] });

const inputOf = (input: string | readonly AgentInputItem[]): readonly AgentInputItem[] =>
  typeof input === "string" ? [{ role: "user", content: input }] : input;

/** All that a provider's cache sees of the model's prompts. The SDK stores a call without its `id`. */
const promptsOf = (model: ScriptedModel): string[][] =>
  model.calls.map(({ request: { systemInstructions, input } }) => [
    systemInstructions ?? "",
    ...inputOf(input).map((item) =>
      JSON.stringify(item.type === "function_call" ? { ...item, id: undefined } : item),
    ),
  ]);

/** Each prompt begins with all of the one before it. */
function expectGrowing(prompts: readonly string[][]): void {
  for (const [i, prompt] of prompts.slice(1).entries())
    expect(prompt.slice(0, prompts[i]?.length)).toEqual(prompts[i]);
}

const textOf = (item: AgentInputItem): string => {
  if (!("content" in item)) return "";
  const { content } = item;
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => ("text" in part ? part.text : part.type)).join("|");
};
const told = (items: string | readonly AgentInputItem[] = []) =>
  inputOf(items).map((item) => ["role" in item ? item.role : item.type, textOf(item)]);
const lastPrompt = (model: ScriptedModel) => told(model.lastCall?.request.input);

const lives = { subject: "Alice", predicate: "lives in" };

describe("a session input callback", () => {
  it("sends prompts that begin with the prompt before, while facts are written and corrected", async () => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { ...lives, object: "Lisbon" });
    const model = scripted("In Lisbon.", { place: "Lisbon" }, "Sunny.", "Tea.", "In Porto.", "Bye.");
    /** As a server does: a session and an agent for each request. */
    const say = async (text: string) => {
      const session = cairnSession({ memory, user, sessionId: "s" });
      const sessionInputCallback = session.withContext();
      const stream = await runner.run(agentOf(model), text, { session, sessionInputCallback, stream: true });
      await stream.completed;
    };
    await say("Where does Alice live?");
    await memory.memories.remember(user, { text: "Alice drinks tea in the morning" });
    await say("What is the weather where Alice lives?");
    await memory.memories.remember(user, { ...lives, object: "Porto" });
    await say("What does Alice drink in the morning?");
    await say("Where does Alice live now?");
    await say("Thanks, bye!");

    expect(model.calls).toHaveLength(6);
    expectGrowing(promptsOf(model));
    const said = lastPrompt(model);
    expect(said.map(([role]) => role)).toEqual(
      [["system"], ["user", "assistant"], ["user", "function_call", "function_call_result", "assistant"]]
        .concat([["user", "assistant"], ["user", "assistant"], ["user"]])
        .flat(),
    );
    expect(said[0]?.[1]).toMatch(/^<memory>\n[^]*- Alice: lives in Lisbon\n[^]*<\/memory>$/);
    expect(said[3]?.[1]).toMatch(/^<memory>\n[^]*Alice drinks tea[^]*<\/memory>\n\nWhat is the weather/);
    expect(said[7]?.[1]).toMatch(/^<memory>\n[^]*lives in Porto[^]*<\/memory>\n\nWhat does Alice drink/);
    expect(said.at(-1)).toEqual(["user", "Thanks, bye!"]);
  });

  it.each([true, false])("stores no blocks in the session; streamed: %s", async (stream) => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { ...lives, object: "Lisbon" });
    const model = scripted("In Lisbon.", { place: "Lisbon" }, "Sunny.", "A cat.");
    const session = cairnSession({ memory, user, sessionId: "s" });
    const sessionInputCallback = session.withContext({
      context: { layers: [{ type: "facts" }, { type: "recalled" }] },
    });
    const say = async (input: string | AgentInputItem[]) => {
      const options = { session, sessionInputCallback };
      if (!stream) await runner.run(agentOf(model), input, options);
      else await (await runner.run(agentOf(model), input, { ...options, stream })).completed;
    };
    await say("Where does Alice live?");
    await memory.memories.remember(user, { text: "Alice drinks tea in the morning" });
    await say([
      { role: "system", content: "The user is in a hurry." },
      { role: "user", content: "What does Alice drink? And the weather?" },
    ]);
    await memory.memories.remember(user, { text: "Alice has a cat on the sofa" });
    const picture: AgentInputItem = {
      role: "user",
      content: [
        { type: "input_text", text: "Which animal does Alice have?" },
        { type: "input_image", image: "https://example.com/a.png" },
      ],
    };
    await say([picture]);

    const sent = JSON.stringify(model.lastCall?.request.input);
    expect(sent.match(/<memory>/g)?.length).toBeGreaterThan(2);
    const items = await session.getItems();
    expect(told(items)).toEqual([
      ["user", "Where does Alice live?"],
      ["assistant", "In Lisbon."],
      ["system", "The user is in a hurry."],
      ["user", "What does Alice drink? And the weather?"],
      ["function_call", ""],
      ["function_call_result", ""],
      ["assistant", "Sunny."],
      ["user", "Which animal does Alice have?|input_image"],
      ["assistant", "A cat."],
    ]);
    expect(items[7]).toMatchObject(picture);
    expect(picture.content).toHaveLength(2);
    const { hits } = await memory.recall(user, { query: "Where does Alice live?", kinds: ["message"] });
    expect(hits.filter(({ text }) => text.includes("<memory>"))).toEqual([]);
  });

  it("shows a block no longer in which a memory was forgotten", async () => {
    const { user, memory } = await begin();
    const model = scripted("Yes.", "Yes.", "No.");
    const session = cairnSession({ memory, user, sessionId: "s" });
    const options = { session, sessionInputCallback: session.withContext() };
    await runner.run(agentOf(model), "Hello", options);
    const fact = await memory.memories.remember(user, { text: "The key is under the red pot" });
    await runner.run(agentOf(model), "Where is the key?", options);
    expect(JSON.stringify(lastPrompt(model))).toContain("red pot");
    await memory.memories.forget(user, fact.id);
    await runner.run(agentOf(model), "And now?", options);
    expect(JSON.stringify(lastPrompt(model))).not.toContain("red pot");
  });

  it("goes on after an approval in another process with the same prompt", async () => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { ...lives, object: "Lisbon" });
    const remove = tool({
      name: "remove",
      description: "Removes a file",
      parameters: z.object({ file: z.string() }),
      needsApproval: true,
      execute: () => "removed",
    });
    const model = new ScriptedModel([
      [functionCall("remove", { file: "a.txt" }, { callId: "c1" })],
      [assistantMessage("Gone.")],
      [assistantMessage("a.txt")],
    ]);
    const agent = new Agent({ name: "a", model, tools: [remove] });
    const options = () => {
      const session = cairnSession({ memory, user, sessionId: "s" });
      return { session, sessionInputCallback: session.withContext() };
    };
    const { state, interruptions } = await runner.run(agent, "Where does Alice live? Remove it", options());
    await memory.memories.remember(user, { text: "Alice drinks tea in the morning" });
    for (const interruption of interruptions) state.approve(interruption);
    await runner.run(agent, state, options());
    await runner.run(agent, "Which file?", options());
    expectGrowing(promptsOf(model));
    const items = await options().session.getItems();
    expect(JSON.stringify(items)).not.toContain("<memory>");
    expect(items).toHaveLength(6);
  });

  it("answers without memory if Cairn fails, and reports it", async () => {
    const { user, memory, plain } = await begin();
    const broken = failing(503);
    const fetch = (request: Request) =>
      request.url.endsWith("/context") ? broken(request) : globalThis.fetch(request);
    const model = scripted("Hello.");
    const session = cairnSession({
      memory: await clientOf(user, { fetch, retry: false }),
      user,
      sessionId: "s",
    });
    const onError = vi.fn<(error: unknown, failure: object) => void>();
    await plain.memories.remember(user, { ...lives, object: "Lisbon" });
    const { finalOutput } = await runner.run(agentOf(model), "Hello", {
      session,
      sessionInputCallback: session.withContext({ onError }),
    });
    expect(finalOutput).toBe("Hello.");
    expect(lastPrompt(model)).toEqual([["user", "Hello"]]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: "storage_unavailable" }),
      { doing: "context" },
    );
    const strict = session.withContext({ strict: true });
    await expect(
      runner.run(agentOf(model), "Hello", { session, sessionInputCallback: strict }),
    ).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(await memory.threads.list(user)).toMatchObject({ items: [{ agent: "openai-agents/s" }] });
  });

  it("begins another thread if the session was cleared meanwhile", async () => {
    const { user, memory } = await begin();
    const model = scripted("Hello.", "Hello again.");
    const session = cairnSession({ memory, user, sessionId: "s" });
    const options = { session, sessionInputCallback: session.withContext({ strict: true }) };
    await runner.run(agentOf(model), "Hello", options);
    await cairnSession({ memory, user, sessionId: "s" }).clearSession();
    await runner.run(agentOf(model), "Hello again", options);
    expect(lastPrompt(model)).toEqual([["user", "Hello again"]]);
  });

  it.each([
    [{ context: false }, "`context` must be an object of options"],
    [{ timeoutMs: 0 }, "`timeoutMs` must be a number from 1"],
    [{ context: { buget: 1 } }, "`context.buget` is not an option; did you mean `context.budget`?"],
    [{ user: "bob" }, "`user` is not an option"],
  ])("is not made with %o", async (given, message) => {
    const { user, memory } = await begin();
    const session = cairnSession({ memory, user });
    expect(() => session.withContext(given as never)).toThrow(`withContext: ${message}`);
  });
});

describe("an input filter", () => {
  it("sends prompts that begin with the prompt before, and leaves the history without blocks", async () => {
    const { user, memory } = await begin();
    await memory.memories.remember(user, { ...lives, object: "Lisbon" });
    const model = scripted("In Lisbon.", { place: "Lisbon" }, "Sunny.", "Tea.", "In Porto.");
    let history: AgentInputItem[] = [];
    const say = async (text: string) => {
      const callModelInputFilter = cairnInputFilter({ memory, user, thread: { agent: "chat" } });
      const input = [...history, { role: "user" as const, content: text }];
      ({ history } = await runner.run(agentOf(model), input, { callModelInputFilter }));
    };
    await say("Where does Alice live?");
    await memory.memories.remember(user, { text: "Alice drinks tea in the morning" });
    await say("What is the weather where Alice lives?");
    await memory.memories.remember(user, { ...lives, object: "Porto" });
    await say("What does Alice drink in the morning?");
    await say("Where does Alice live now?");

    expect(model.calls).toHaveLength(5);
    expectGrowing(promptsOf(model));
    expect(promptsOf(model)[0]?.[0]).toMatch(
      /^Be brief\.\n\n<memory>\n[^]*- Alice: lives in Lisbon\n[^]*<\/memory>$/,
    );
    expect(lastPrompt(model)[2]?.[1]).toMatch(
      /^<memory>\n[^]*drinks tea[^]*<\/memory>\n\nWhat is the weather/,
    );
    expect(JSON.stringify(history)).not.toContain("<memory>");
  });

  it("reads a context once for a turn with tools, and shows the same at each step", async () => {
    const { fetch, calls } = counting();
    const { user, memory, plain } = await begin({ fetch });
    await plain.memories.remember(user, { ...lives, object: "Lisbon" });
    const learn = tool({
      name: "learn",
      description: "Learns.",
      parameters: z.object({}),
      execute: async () => (await plain.memories.remember(user, { text: "Alice drinks tea" })).text,
    });
    const model = new ScriptedModel([
      [functionCall("learn", {}, { callId: "c1" })],
      [functionCall("learn", {}, { callId: "c2" })],
      [assistantMessage("Done.")],
    ]);
    const agent = new Agent({ name: "a", model, tools: [learn] });
    await runner.run(agent, "Learn!", { callModelInputFilter: cairnInputFilter({ memory, user }) });
    expect(model.calls).toHaveLength(3);
    expectGrowing(promptsOf(model));
    expect(calls).toEqual([`POST /v1/users/${user}/context`]);
  });

  it("answers without memory if Cairn is silent, and rejects if it is strict", async () => {
    const { user, memory } = await begin({ fetch: silent, retry: false });
    const onError = vi.fn<(error: unknown, failure: object) => void>();
    const model = scripted("Hello.");
    await runner.run(agentOf(model), "Hello", {
      callModelInputFilter: cairnInputFilter({ memory, user, timeoutMs: 20, onError }),
    });
    expect(lastPrompt(model)).toEqual([["user", "Hello"]]);
    expect(model.lastCall?.request.systemInstructions).toBe("Be brief.");
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.anything(), { doing: "context" });
    const strict = cairnInputFilter({ memory, user, timeoutMs: 20, strict: true });
    await expect(runner.run(agentOf(model), "Hello", { callModelInputFilter: strict })).rejects.toThrow(
      "timeout",
    );
  });
});

it("a session of the SDK stores what a filter returns, which is why the filter is for runs without one", async () => {
  const { user, memory } = await begin();
  await memory.memories.remember(user, { text: "Alice lives in Lisbon" });
  const session = new MemorySession();
  const context = { layers: [{ type: "recalled" as const }] };
  await runner.run(agentOf(scripted("In Lisbon.")), "Where does Alice live?", {
    session,
    callModelInputFilter: cairnInputFilter({ memory, user, context }),
  });
  expect(told(await session.getItems())[0]?.[1]).toMatch(/^<memory>/);
});

/** What the compiler checks: it is a callback of the SDK. */
export const asTheSdkSays = (callback: SessionInputCallback): SessionInputCallback => callback;
