// The adapters of the AI SDK in each version of it that the package says it works with.
import * as ai7 from "ai";
import * as mocks7 from "ai/test";
import * as ai5 from "ai5";
import * as mocks5 from "ai5/test";
import * as ai6 from "ai6";
import * as mocks6 from "ai6/test";
import { describe, expect, it } from "vitest";
import { cairnMemoryStore, composePrepareStep, createMemoryPrepareStep } from "../src/ai-employee.ts";
import { cairnMemory, memoryStep, memoryTools } from "../src/ai-sdk.ts";
import { clientOf, newUser } from "./cairn.ts";

type Part = { type: string; [field: string]: unknown };
type Call = { prompt: readonly { role: string; content: unknown }[]; tools?: unknown };
type Model = { doGenerateCalls: readonly Call[]; doStreamCalls: readonly Call[] };

/** As much of each version as is used here; their types differ. */
type Sdk = {
  generateText: (options: object) => Promise<{ text: string }>;
  streamText: (options: object) => { text: PromiseLike<string> };
  wrapLanguageModel: (options: object) => object;
  stepCountIs: (count: number) => unknown;
};
type Version = { version: number; sdk: Sdk; mock: new (methods: object) => Model };

const versions = [
  { version: 5, sdk: ai5, mock: mocks5.MockLanguageModelV2 },
  { version: 6, sdk: ai6, mock: mocks6.MockLanguageModelV3 },
  { version: 7, sdk: { ...ai7, stepCountIs: ai7.isStepCount }, mock: mocks7.MockLanguageModelV4 },
] as unknown as Version[];

const says = (text: string): Part[] => [{ type: "text", text }];
const calls = (toolName: string, input: object): Part[] => [
  { type: "tool-call", toolCallId: crypto.randomUUID(), toolName, input: JSON.stringify(input) },
];

/** A model that answers its calls with these, one after the other, as the version's providers do. */
function scripted({ version, mock: Mock }: Version, ...answers: Part[][]) {
  const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
  const usage =
    version === 5
      ? { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      : { inputTokens: count, outputTokens: count };
  const ending = (content: Part[]) => {
    const reason = content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
    return { usage, finishReason: version === 5 ? reason : { unified: reason, raw: undefined } };
  };
  let at = 0;
  const next = (): Part[] => answers[at++] ?? [];
  return new Mock({
    doGenerate: async () => {
      const content = next();
      return { content, warnings: [], ...ending(content) };
    },
    doStream: async () => {
      const content = next();
      const parts = content.flatMap((part, i): Part[] =>
        part.type === "text"
          ? [
              { type: "text-start", id: `${i}` },
              { type: "text-delta", id: `${i}`, delta: part.text },
              { type: "text-end", id: `${i}` },
            ]
          : [part],
      );
      const all = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", ...ending(content) }];
      return { stream: mocks7.convertArrayToReadableStream(all) };
    },
  });
}

const prompts = ({ doGenerateCalls, doStreamCalls }: Model): string[] =>
  [...doGenerateCalls, ...doStreamCalls].map(({ prompt }) => JSON.stringify(prompt));

describe.each(versions)("in ai $version", (version) => {
  const { sdk } = version;

  async function begin() {
    const user = newUser();
    const memory = await clientOf(user);
    const thread = { agent: "assistant" };
    const wrapped = (model: Model, history = 0) =>
      sdk.wrapLanguageModel({ model, middleware: cairnMemory({ memory, user, thread, history }) });
    return { user, memory, wrapped, tools: memoryTools({ memory, user }) };
  }

  it("a model remembers with its tools, and is told in the next turn", async () => {
    const { user, memory, wrapped, tools } = await begin();
    const stopWhen = sdk.stepCountIs(4);
    const first = scripted(
      version,
      calls("memory_remember_fact", { subject: "user", predicate: "lives in", object: "Lisbon" }),
      calls("memory_recall", {}),
      says("I will remember that."),
    );
    const prompt = "I have moved to Lisbon.";
    expect(await sdk.generateText({ model: wrapped(first, 20), tools, stopWhen, prompt })).toMatchObject({
      text: "I will remember that.",
    });
    expect((await memory.memories.list(user)).items).toMatchObject([{ text: "user lives in Lisbon" }]);
    expect(first.doGenerateCalls[0]?.tools).toContainEqual(
      expect.objectContaining({
        name: "memory_recall",
        inputSchema: expect.objectContaining({
          type: "object",
          required: ["query"],
          properties: expect.objectContaining({ query: expect.objectContaining({ type: "string" }) }),
        }),
      }),
    );
    expect(prompts(first)[2]).toContain("query is required");

    const second = scripted(
      version,
      calls("memory_recall", { query: "where does the user live?" }),
      says("In Lisbon."),
    );
    const asked = { tools, stopWhen, prompt: "Where do I live?" };
    await sdk.generateText({ model: wrapped(second, 20), ...asked });
    const [begun, ended] = prompts(second);
    expect(begun).toMatch(/<changes>[^<]*- user lives in Lisbon/);
    expect(begun).toContain(prompt);
    expect(ended).toMatch(/tool-result.*user lives in Lisbon/);
    const { items } = await memory.threads.list(user);
    expect(items).toHaveLength(1);
    const { items: said } = await memory.threads.read(items[0]?.id ?? "", { limit: 20 });
    expect(said.map(({ message }) => message["role"])).toEqual(
      ["user", "assistant", "tool", "assistant", "tool", "assistant"].concat([
        "user",
        "assistant",
        "tool",
        "assistant",
      ]),
    );
  });

  it("a stream is saved", async () => {
    const { user, memory, wrapped } = await begin();
    const { text } = sdk.streamText({
      model: wrapped(scripted(version, says("Good evening."))),
      prompt: "Hello",
    });
    expect(await text).toBe("Good evening.");
    const { items } = await memory.threads.list(user);
    const { items: said } = await memory.threads.read(items[0]?.id ?? "", { limit: 20 });
    expect(said.map(({ message }) => message["role"])).toEqual(["user", "assistant"]);
  });

  it.each(["generateText", "streamText"] as const)(
    "what memoryStep puts before a run's first step is there at the later ones, once, in %s",
    async (way) => {
      const { user, memory, tools } = await begin();
      await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
      const { id } = await memory.threads.create(user);
      await memory.threads.append(id, [{ role: "user", content: "Alice has a boat in Setúbal" }]);
      const look = calls("memory_list", {});
      const model = scripted(version, look, look, says("In Setúbal."));
      const prepareStep = memoryStep({ memory, user });
      const options = {
        model,
        tools,
        prepareStep,
        stopWhen: sdk.stepCountIs(4),
        system: "Be brief.",
        prompt: "Where is the boat?",
      };
      expect(await (await sdk[way](options)).text).toBe("In Setúbal.");
      const told = [...model.doGenerateCalls, ...model.doStreamCalls].map(({ prompt }) =>
        prompt.filter(
          ({ role, content }) => role === "user" && JSON.stringify(content).includes("a boat in Setúbal"),
        ),
      );
      expect(told.map(({ length }) => length)).toEqual([1, 1, 1]);
      expect(new Set(told.map((messages) => JSON.stringify(messages))).size).toBe(1);
      const [first, ...later] = [...model.doGenerateCalls, ...model.doStreamCalls];
      expect(first?.prompt.slice(0, 2)).toMatchObject([
        { role: "system", content: "Be brief." },
        { role: "system", content: expect.stringContaining("user: lives in Porto") },
      ]);
      for (const { prompt } of later) expect(prompt.slice(0, 3)).toEqual(first?.prompt);
    },
  );

  it("what step 0 of a composed step said is told at all steps", async () => {
    const { user, memory, tools } = await begin();
    const store = cairnMemoryStore({ memory, user });
    await store.set("memory:tone", "short answers");
    const model = scripted(version, calls("memory_list", {}), calls("memory_list", {}), says("Done."));
    const prepareStep = composePrepareStep(createMemoryPrepareStep(store), ({ stepNumber }) =>
      stepNumber === 1 ? { system: "Be safe." } : undefined,
    );
    await sdk.generateText({ model, tools, prepareStep, stopWhen: sdk.stepCountIs(4), prompt: "Hello" });
    for (const prompt of prompts(model)) expect(prompt).toContain("short answers");
    expect(prompts(model)[1]).toContain("Be safe.");
    // A provider takes texts alone.
    const system = model.doGenerateCalls.flatMap(({ prompt }) =>
      prompt.flatMap(({ role, content }) => (role === "system" ? [typeof content] : [])),
    );
    expect(new Set(system)).toEqual(new Set(["string"]));
  });
});
