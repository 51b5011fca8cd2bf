// Memory in requests of Anthropic's SDK, as the API gets them.
import type Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withMemory, type WithMemoryOptions } from "../src/anthropic.ts";
import type { Cairn } from "../../client/src/index.ts";
import { type Block, type FakeApi, fakeApi, type Said, type Sent } from "./anthropic-api.ts";
import { clientOf, newUser } from "./cairn.ts";

let api: FakeApi;
beforeAll(async () => {
  api = await fakeApi();
});
afterAll(() => api.close());

const model = "claude-sonnet-5-5";
/** Longer than the shortest prompt that the model caches. */
const instructions = `You are a guide. ${"Answer in one short sentence. ".repeat(80)}`.trim();

async function begin(more: Partial<WithMemoryOptions> = {}) {
  const user = newUser();
  const memory = await clientOf(user);
  const { id: thread } = await memory.threads.create(user);
  await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
  api.sent.length = 0;
  return { user, memory, thread, remembering: withMemory({ memory, user, thread, strict: true, ...more }) };
}

const blocksOf = (content: string | Block[] | undefined): Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);

/** A prompt as the provider's cache sees it: without breakpoints, and a text as one block. */
const cached = ({ tools, system, messages }: Sent): string[] =>
  [
    tools,
    blocksOf(system),
    ...messages.flatMap(({ role, content }) => blocksOf(content).map((block) => [role, block])),
  ].map((part) =>
    JSON.stringify(part, (key, value: unknown) => (key === "cache_control" ? undefined : value)),
  );

/** Each prompt begins with the one before it. */
function expectGrowth(sent: readonly Sent[]): void {
  for (const [i, prompt] of sent.entries()) {
    const before = cached(sent[i - 1] ?? { messages: [], tools: prompt.tools, system: prompt.system });
    expect(cached(prompt).slice(0, before.length)).toEqual(before);
  }
}

const textsOf = (content: string | Block[] | undefined): (string | undefined)[] =>
  blocksOf(content).map(({ type, text }) => text ?? type);
const prompt = (sent: Sent) => [
  textsOf(sent.system),
  ...sent.messages.map(({ role, content }) => [role, ...textsOf(content)]),
];
/** The places of breakpoints: `s1` is the second system block, `2.0` the first block of the third message. */
const breakpoints = ({ tools = [], system, messages, cache_control }: Sent): string[] => [
  ...tools.flatMap(({ cache_control: one }, i) => (one ? [`t${i} ${one.ttl ?? "5m"}`] : [])),
  ...blocksOf(system).flatMap(({ cache_control: one }, i) => (one ? [`s${i} ${one.ttl ?? "5m"}`] : [])),
  ...messages.flatMap(({ content }, m) =>
    blocksOf(content).flatMap(({ cache_control: one }, i) => (one ? [`${m}.${i} ${one.ttl ?? "5m"}`] : [])),
  ),
  ...(cache_control ? [`request ${cache_control.ttl ?? "5m"}`] : []),
];

type History = Anthropic.MessageParam[];

describe("a conversation", () => {
  it("sends the bytes of the turn before again, while facts are written and corrected", async () => {
    const { user, memory, remembering } = await begin();
    const history: History = [];
    const say = async (content: string, answer: Said = "Fine.") => {
      history.push({ role: "user", content });
      api.script.push(answer);
      const params = { model, max_tokens: 9, system: instructions, messages: history };
      const message = await api.client.messages.create(await remembering(params));
      history.push({ role: "assistant", content: message.content });
      return message;
    };
    await say("In which city do I live?");
    await memory.memories.remember(user, { text: "I eat no fish." });
    await say("Which fish should I eat?");
    await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Faro" });
    const called = await say("How is the weather?", { tool: "weather", input: { place: "Faro" } });
    const [call] = called.content as [Anthropic.ToolUseBlock]; // as scripted
    history.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }],
    });
    const step = { model, max_tokens: 9, system: instructions, messages: history };
    const answered = await api.client.messages.create(await remembering(step));
    history.push({ role: "assistant", content: answered.content });
    await say("Thanks, and which city is mine?");
    await say("Thanks!");

    expect(api.sent).toHaveLength(6);
    expectGrowth(api.sent);
    const last = prompt(api.sent[5] as Sent);
    expect(last[0]).toEqual([instructions, expect.stringContaining("lives in Porto")]);
    const fish = last[3] as string[];
    expect(fish).toEqual(["user", expect.stringContaining("I eat no fish."), "Which fish should I eat?"]);
    const weather = last[5] as string[];
    expect(weather).toEqual(["user", expect.stringContaining("Faro"), "How is the weather?"]);
    expect(last[7]).toEqual(["user", "tool_result"]);
    // What the caller holds has no memory in it.
    expect(history[0]).toEqual({ role: "user", content: "In which city do I live?" });
  });

  it("has breakpoints at the stable block, at the message before and at its end, which move on", async () => {
    const { remembering } = await begin();
    const history: History = [];
    for (const content of ["Where do I live?", "And where did I live before?", "Thanks!"]) {
      history.push({ role: "user", content });
      const params = { model, max_tokens: 9, system: instructions, messages: history };
      const { content: answer } = await api.client.messages.create(await remembering(params));
      history.push({ role: "assistant", content: answer });
    }
    const ends = api.sent.map(({ messages }) =>
      messages.map(({ content }, m) => `${m}.${blocksOf(content).length - 1} 5m`),
    );
    expect(api.sent.map(breakpoints)).toEqual([
      ["s1 5m", ends[0]?.[0]],
      ["s1 5m", ends[1]?.[0], ends[1]?.[2]],
      ["s1 5m", ends[2]?.[2], ends[2]?.[4]],
    ]);
  });

  it("is the same through `stream`", async () => {
    const { remembering } = await begin();
    const params = {
      model,
      max_tokens: 9,
      messages: [{ role: "user" as const, content: "Where do I live?" }],
    };
    api.script.push("In Porto.");
    const stream = api.client.messages.stream(await remembering(params));
    expect(await stream.finalText()).toBe("In Porto.");
    await api.client.messages.create(await remembering(params));
    expect(cached(api.sent[0] as Sent)).toEqual(cached(api.sent[1] as Sent));
    expect(prompt(api.sent[0] as Sent)[0]).toEqual([expect.stringContaining("lives in Porto")]);
  });

  it("has its memory in every step of a tool runner, with a breakpoint that moves with the steps", async () => {
    const { user, memory, remembering } = await begin();
    const weather = betaTool({
      name: "weather",
      description: "The weather of a place.",
      inputSchema: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
      run: async ({ place }) => {
        await memory.memories.remember(user, { text: `I asked about ${place}.` });
        return "sunny";
      },
    });
    const history: Anthropic.Beta.BetaMessageParam[] = [
      { role: "user", content: "How is the weather here?" },
    ];
    api.script.push(
      { tool: "weather", input: { place: "Porto" } },
      { tool: "weather", input: { place: "Faro" } },
      "Sunny.",
    );
    const run = async () => {
      const params = { model, max_tokens: 9, system: instructions, messages: history, tools: [weather] };
      const runner = api.client.beta.messages.toolRunner({ ...(await remembering(params)), thread: false });
      const { content } = await runner;
      return content;
    };
    const content = await run();
    history.push({ role: "assistant", content }, { role: "user", content: "Which city did I ask about?" });
    await run();
    const [first, second, third, next] = api.sent as [Sent, Sent, Sent, Sent];
    expectGrowth([first, second, third]);
    // The caller's history has the last answer of the run only.
    const shared = cached(first);
    expect(cached(next).slice(0, shared.length)).toEqual(shared);
    expect(api.sent.map(breakpoints)).toEqual([
      ["s1 5m", "request 5m"],
      ["s1 5m", "request 5m"],
      ["s1 5m", "request 5m"],
      ["s1 5m", expect.stringMatching(/^0\./), "request 5m"],
    ]);
  });

  it("is given to a tool runner once, where the API holds the conversation", async () => {
    const { remembering } = await begin();
    const tools = [
      betaTool({ name: "now", description: "The time.", inputSchema: { type: "object" }, run: () => "noon" }),
    ];
    const messages: Anthropic.Beta.BetaMessageParam[] = [{ role: "user", content: "What time is it?" }];
    api.script.push({ tool: "now", input: {} }, "Noon.");
    await api.client.beta.messages.toolRunner(await remembering({ model, max_tokens: 9, messages, tools }));
    expect(api.sent.map(prompt)).toEqual([
      [[expect.stringContaining("lives in Porto")], ["user", "What time is it?"]],
      [[], ["user", "tool_result"]],
    ]);
  });

  it("has a block after the results of tools, which the API wants first", async () => {
    const { user, memory, remembering } = await begin();
    await remembering({ model, messages: [{ role: "user", content: "Hello" }] });
    await memory.memories.remember(user, { text: "I eat no fish." });
    const { messages } = await remembering({
      model,
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "1", content: "cod, tuna" },
            { type: "text", text: "Which fish should I eat?" },
          ],
        },
      ],
    } satisfies Anthropic.MessageCreateParams);
    expect(textsOf(messages[0]?.content as Block[])).toEqual([
      "tool_result",
      expect.stringContaining("I eat no fish."),
      "Which fish should I eat?",
    ]);
  });
});

describe("breakpoints", () => {
  const user = (content: string): Anthropic.MessageParam => ({ role: "user", content });
  const marked = (text: string, ttl?: "1h"): Anthropic.TextBlockParam => ({
    type: "text",
    text,
    cache_control: { type: "ephemeral", ...(ttl && { ttl }) },
  });
  const system = instructions;
  const sentBy = async (
    more: Partial<WithMemoryOptions>,
    params: Partial<Anthropic.MessageCreateParamsNonStreaming>,
  ) => {
    const { remembering } = await begin(more);
    const messages = [user("Where do I live?")];
    await api.client.messages.create(await remembering({ model, max_tokens: 9, messages, ...params }));
    return breakpoints(api.sent[0] as Sent);
  };

  it("are left out for a prompt that the model does not cache", async () => {
    expect(await sentBy({}, { system: "Be kind." })).toEqual([]);
    expect(await sentBy({}, { system, model: "claude-opus-4-6" })).toEqual([]);
    expect(await sentBy({}, { system, model: "claude-sonnet-5" })).toEqual([]);
  });

  it("live for an hour if asked to, or are left to the caller", async () => {
    expect(await sentBy({ cache: { ttl: "1h" } }, { system })).toEqual(["s1 1h", "0.0 1h"]);
    expect(await sentBy({ cache: false }, { system })).toEqual([]);
    expect(await sentBy({ context: false }, { system })).toEqual(["s0 5m", "0.0 5m"]);
  });

  it("of the caller stay, and are four together with those of memory", async () => {
    const own = [marked(`${system} 1`), marked(`${system} 2`), marked(`${system} 3`)];
    expect(await sentBy({}, { system: own })).toEqual(["s0 5m", "s1 5m", "s2 5m", "0.0 5m"]);
    const four = [...own, marked("Be kind.")];
    expect(await sentBy({}, { system: four })).toEqual(["s0 5m", "s1 5m", "s2 5m", "s3 5m"]);
    const request = { cache_control: { type: "ephemeral" as const } };
    expect(await sentBy({}, { system, ...request })).toEqual(["s1 5m", "request 5m"]);
  });

  it("never live longer than an earlier one, or shorter than a later one, which the API refuses", async () => {
    const short = [marked(system)];
    expect(await sentBy({ cache: { ttl: "1h" } }, { system: short })).toEqual(["s0 5m", "s1 5m", "0.0 5m"]);
    const messages: History = [{ role: "user", content: [marked("Where do I live?", "1h")] }];
    expect(await sentBy({}, { system, messages })).toEqual(["s1 1h", "0.0 1h"]);
  });

  it("follow no thought and no empty text", async () => {
    const messages: History = [
      user("Where do I live?"),
      {
        role: "assistant",
        content: [
          { type: "text", text: "In" },
          { type: "thinking", thinking: "?", signature: "" },
        ],
      },
    ];
    expect(await sentBy({}, { system, messages })).toEqual(["s1 5m", "0.0 5m", "1.0 5m"]);
  });
});

describe("without Cairn", () => {
  const away = async (user: string): Promise<Cairn> =>
    clientOf(user, { retry: false, fetch: () => Promise.reject(new TypeError("refused")) });
  const params = { model, max_tokens: 9, messages: [{ role: "user" as const, content: "Hello" }] };

  it("a request goes out as it is, and `onError` is told", async () => {
    const user = newUser();
    const told: unknown[] = [];
    const remembering = withMemory({
      memory: await away(user),
      user,
      onError: (error, failure) => told.push([String(error), failure]),
    });
    expect(await remembering({ ...params, system: "Be kind." })).toEqual({
      ...params,
      system: [{ type: "text", text: "Be kind." }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    });
    expect(told).toEqual([[expect.stringContaining("refused"), { doing: "context" }]]);
  });

  it("a request fails if memory is required, or if its caller aborts", async () => {
    const user = newUser();
    const memory = await away(user);
    await expect(withMemory({ memory, user, strict: true })(params)).rejects.toThrow("refused");
    const signal = AbortSignal.abort(new Error("gone"));
    const lenient = withMemory({ memory: await clientOf(user), user });
    await expect(lenient(params, { signal })).rejects.toThrow("gone");
  });
});

it.each([{ ttl: "2h" }, { ttl: undefined }, true, "1h", {}])("refuses %o as `cache`", async (cache) => {
  const user = newUser();
  const memory = await clientOf(user);
  const options = { memory, user, cache } as never;
  expect(() => withMemory(options)).toThrow("withMemory: `cache` must be");
});
