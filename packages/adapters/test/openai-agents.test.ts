import {
  Agent,
  type AgentInputItem,
  MemorySession,
  protocol,
  Runner,
  type Session,
  tool,
} from "@openai/agents-core";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents-core/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type CairnSession, cairnSession } from "../src/openai-agents.ts";
import type { CairnOptions, Message } from "../../client/src/index.ts";
import { limits } from "../../../src/domain/limits.ts";
import { counting, failing, losing, silent } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";

/** What the compiler checks: it is a session. */
const asTheSdkSays = (session: CairnSession): Session => session;

type Made = { user?: string; sessionId?: string; client?: Partial<CairnOptions> };

async function sessionOf({ user = newUser(), sessionId = "s", client = {} }: Made = {}) {
  const memory = await clientOf(user, client);
  return { user, memory, session: cairnSession({ memory, user, sessionId }) };
}

const said = (text: string): AgentInputItem => ({ role: "user", content: text });
const bytes = new Uint8Array([0, 1, 255]);

/** One of each of the kinds of items that there are. */
const everyKind: AgentInputItem[] = [
  { role: "system", content: "Be brief." },
  said("What is the weather in Lisbon?"),
  {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "and here?" },
      { type: "input_image", image: "https://example.com/a.png", detail: "low" },
    ],
  },
  {
    type: "reasoning",
    id: "rs_1",
    content: [{ type: "input_text", text: "two places" }],
    rawContent: [{ type: "reasoning_text", text: "hm" }],
  },
  {
    type: "function_call",
    callId: "c1",
    name: "weather",
    arguments: '{"city":"Lisbon"}',
    status: "completed",
    providerData: { deep: { list: [1, null] } },
  },
  {
    type: "function_call_result",
    callId: "c1",
    name: "weather",
    status: "completed",
    output: { type: "text", text: "sunny in Lisbon" },
  },
  {
    type: "function_call_result",
    callId: "c2",
    name: "photo",
    status: "completed",
    output: [
      { type: "input_text", text: "a photo" },
      { type: "input_image", image: "data:image/png;base64,AA==" },
    ],
  },
  {
    type: "function_call_result",
    callId: "c3",
    name: "photo",
    status: "completed",
    output: { type: "image", image: { data: bytes, mediaType: "image/png" } },
  },
  { type: "hosted_tool_call", id: "h1", name: "web_search", status: "completed", output: "found it" },
  { type: "computer_call", id: "cc", callId: "c4", status: "completed", action: { type: "wait" } },
  {
    type: "computer_call_result",
    callId: "c4",
    output: { type: "computer_screenshot", data: "data:image/png;base64,AA==" },
  },
  { type: "shell_call", callId: "c5", action: { commands: ["ls"] } },
  {
    type: "shell_call_output",
    callId: "c5",
    output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exitCode: 0 } }],
  },
  { type: "compaction", encrypted_content: "…" },
  { type: "unknown", providerData: { role: "odd", agentItem: { nested: true } } },
  {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Sunny." }],
  },
];

describe("a session", () => {
  it("keeps every kind of item as it is, bytes too", async () => {
    const { session } = await sessionOf();
    await session.addItems(everyKind);
    expect(await session.getItems()).toEqual(everyKind);
    const popped: (AgentInputItem | undefined)[] = [];
    for (let i = 0; i < everyKind.length; i++) popped.unshift(await session.popItem());
    expect(popped).toEqual(everyKind);
    expect(await session.popItem()).toBeUndefined();
  });

  it.each<[string, Message[]]>([
    [
      "the AI SDK",
      [
        { role: "user", content: [{ type: "text", text: "Weather?" }] },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "I look." },
            { type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "sea" } },
          ],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "look",
              output: { type: "text", value: "a boat" },
            },
          ],
        },
      ],
    ],
    [
      "GemStack",
      [
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: "I look.",
          toolCalls: [{ id: "c1", name: "look", arguments: { at: "sea" } }],
        },
        { role: "tool", toolCallId: "c1", content: "a boat" },
      ],
    ],
    [
      "OpenAI's chat completions",
      [
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":"sea"}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "a boat" },
      ],
    ],
    [
      "Anthropic",
      [
        { role: "user", content: [{ type: "text", text: "Weather?" }] },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: "c1", name: "look", input: { at: "sea" } },
          ],
        },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "a boat" }] }],
        },
      ],
    ],
    [
      "Mastra",
      [
        { role: "user", parts: [{ type: "text", text: "Weather?" }] },
        {
          role: "assistant",
          parts: [
            { type: "text", text: "I look." },
            {
              type: "tool-invocation",
              toolInvocation: {
                state: "result",
                toolCallId: "c1",
                toolName: "look",
                args: { at: "sea" },
                result: "a boat",
              },
            },
          ],
        },
      ],
    ],
    [
      "UIMessages",
      [
        { role: "user", parts: [{ type: "text", text: "Weather?" }] },
        {
          role: "assistant",
          parts: [
            { type: "step-start" },
            { type: "text", text: "I look." },
            {
              type: "tool-look",
              toolCallId: "c1",
              state: "output-available",
              input: { at: "sea" },
              output: "a boat",
            },
          ],
        },
      ],
    ],
  ])("goes on with messages, calls and results in the shape of %s", async (_, messages) => {
    const user = newUser();
    const memory = await clientOf(user);
    const { id } = await memory.threads.create(user, { agent: "theirs" });
    await memory.threads.append(id, [{ role: "assistant", content: [{ type: "image" }] }, ...messages]);
    const session = cairnSession({ memory, user, sessionId: "theirs", prefix: "" });
    const items = await session.getItems();
    expect(items).toMatchObject([
      { role: "user", content: "Weather?" },
      { role: "assistant", content: [{ type: "output_text", text: "I look." }] },
      { type: "function_call", callId: "c1", name: "look", arguments: '{"at":"sea"}' },
      { type: "function_call_result", callId: "c1", name: "look", output: { type: "text", text: "a boat" } },
    ]);
    for (const item of items) expect(protocol.ModelItem.safeParse(item).success).toBe(true);
    expect(await session.getItems(2)).toEqual(items.slice(2));
    expect(await session.getItems(9)).toEqual(items);
    // Read alone, a result may not say of which tool it is.
    expect(await session.popItem()).toMatchObject({ callId: "c1", output: { text: "a boat" } });
  });

  it("keeps whatever JSON an item holds, whatever its fields are called", async () => {
    const { session } = await sessionOf();
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.constantFrom("providerData", "agentItem", "agentItemBytes", "name", "tool_calls"),
        fc.constantFrom("user", "assistant"),
        async (value, field, role) => {
          const json: unknown = JSON.parse(JSON.stringify(value));
          const items = [
            { role, content: "x", [field]: json },
            { type: "unknown", [field]: json },
            { type: "unknown", [field]: json, image: bytes },
            // What a provider's own data may be, past what the SDK's types say.
          ] as unknown as AgentInputItem[];
          await session.addItems(items);
          expect(await session.getItems(3)).toEqual(items);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("does what the SDK's own session in memory does, call by call", async () => {
    const { session } = await sessionOf();
    const reference = new MemorySession({ sessionId: "s" });
    let n = 0;
    const step = fc.oneof(
      fc.integer({ min: 0, max: 3 }).map((count) => ({ add: count })),
      fc.constant({ pop: true }),
      fc.constant({ clear: true }),
      fc.option(fc.integer({ min: -1, max: 4 }), { nil: undefined }).map((limit) => ({ limit })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const action of steps) {
          const items = Array.from({ length: "add" in action ? action.add : 0 }, () => said(`${++n}`));
          const perform = (on: Session) => {
            if ("add" in action) return on.addItems(items);
            if ("pop" in action) return on.popItem();
            return "clear" in action ? on.clearSession() : on.getItems(action.limit);
          };
          expect(await perform(session)).toEqual(await perform(reference));
        }
        expect(await session.getItems()).toEqual(await reference.getItems());
      }),
      { numRuns: 12 },
    );
  });

  it("has the id that it was given, or one of its own; and makes no thread to be read", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    expect(await cairnSession({ memory, user, sessionId: "mine" }).getSessionId()).toBe("mine");
    const [a, b] = [cairnSession({ memory, user }), cairnSession({ memory, user })];
    expect(await a.getSessionId()).toBe(await a.getSessionId());
    expect(await a.getSessionId()).not.toBe(await b.getSessionId());
    expect(await a.getItems()).toEqual([]);
    expect(await a.popItem()).toBeUndefined();
    await a.addItems([]);
    await a.clearSession();
    expect((await memory.threads.list(user)).items).toEqual([]);
  });

  it("is the same one for whoever names it again, and another one for other users and ids", async () => {
    const { session, user, memory } = await sessionOf();
    await session.addItems([said("hello")]);
    expect(await cairnSession({ memory, user, sessionId: "s" }).getItems()).toEqual([said("hello")]);
    expect(await cairnSession({ memory, user, sessionId: "S" }).getItems()).toEqual([]);
    const { session: others } = await sessionOf({ sessionId: "s" });
    expect(await others.getItems()).toEqual([]);
  });

  it("takes more items at once, and larger ones, than one call of the server's does", async () => {
    const { session } = await sessionOf();
    const many = Array.from({ length: limits.messagesPerAppend + 5 }, (_, i) => said(`${i}`));
    await session.addItems(many);
    expect(await session.getItems()).toEqual(many);
    expect(await session.getItems(limits.page + 1)).toEqual(many.slice(-limits.page - 1));
    const large = Array.from({ length: 4 }, (_, i) => said(`${i}${"x".repeat(6_000_000)}`));
    await session.addItems(large);
    expect(await session.getItems(4)).toEqual(large);
  });
});

describe("two workers at once", () => {
  it("begin one session, and lose nothing of what they add", async () => {
    const user = newUser();
    const workers = await Promise.all(Array.from({ length: 4 }, () => sessionOf({ user })));
    await Promise.all(workers.map(({ session }, i) => session.addItems([said(`${i}a`), said(`${i}b`)])));
    const items = await workers[0]?.session.getItems();
    expect(items).toHaveLength(8);
    for (let i = 0; i < 4; i++) {
      const at = items?.findIndex((item) => "content" in item && item.content === `${i}a`) ?? -1;
      expect(items?.[at + 1]).toEqual(said(`${i}b`));
    }
    expect((await workers[0]?.memory.threads.list(user))?.items).toHaveLength(1);
  });

  it("pop an item each, never the same one", async () => {
    const user = newUser();
    const workers = await Promise.all(Array.from({ length: 4 }, () => sessionOf({ user })));
    const items = Array.from({ length: 7 }, (_, i) => said(`${i}`));
    await workers[0]?.session.addItems(items);
    const popped = await Promise.all([...workers, ...workers].map(({ session }) => session.popItem()));
    const texts = popped.map((item) => (item && "content" in item ? item.content : undefined));
    expect(new Set(texts.filter((text) => text !== undefined))).toEqual(
      new Set(["0", "1", "2", "3", "4", "5", "6"]),
    );
    expect(texts.filter((text) => text === undefined)).toHaveLength(1);
  });

  it("find the session empty when one has cleared it, and go on in it", async () => {
    const user = newUser();
    const [{ session: a, memory }, { session: b }] = await Promise.all([
      sessionOf({ user }),
      sessionOf({ user }),
    ]);
    await a.addItems([said("the secret plan")]);
    expect(await b.getItems()).toHaveLength(1);
    await a.clearSession();
    expect(await b.getItems()).toEqual([]);
    expect(await b.popItem()).toBeUndefined();
    await b.addItems([said("new")]);
    expect(await a.getItems()).toEqual([said("new")]);
    await a.clearSession();
    await b.addItems([said("newer")]);
    expect(await a.getItems(1)).toEqual([said("newer")]);
    const { hits } = await memory.recall(user, { query: "secret plan" });
    expect(hits.filter(({ text }) => text.includes("secret"))).toEqual([]);
  });
});

describe("a run of the SDK", () => {
  const quiet = new Runner({ tracingDisabled: true });

  it("sees in a second run what was said in the first", async () => {
    const { user } = await sessionOf();
    const model = new ScriptedModel([[assistantMessage("Hello Ada.")], [assistantMessage("You are Ada.")]]);
    const agent = new Agent({ name: "friend", model });
    const first = await sessionOf({ user });
    await quiet.run(agent, "I am Ada", { session: asTheSdkSays(first.session) });
    const second = await sessionOf({ user });
    const { finalOutput } = await quiet.run(agent, "Who am I?", { session: second.session });
    expect(finalOutput).toBe("You are Ada.");
    expect(model.lastCall?.request.input).toMatchObject([
      { role: "user", content: "I am Ada" },
      { role: "assistant", content: [{ text: "Hello Ada." }] },
      { role: "user", content: "Who am I?" },
    ]);
    expect(await second.session.getItems()).toHaveLength(4);
  });

  it("streams into the session too", async () => {
    const { session } = await sessionOf();
    const model = new ScriptedModel([[assistantMessage("Streamed.")]]);
    const run = await quiet.run(new Agent({ name: "a", model }), "hi", { session, stream: true });
    await run.completed;
    expect(await session.getItems()).toMatchObject([{ role: "user" }, { role: "assistant" }]);
  });

  it("keeps tool calls and their results, for itself and for those who read the thread", async () => {
    const { session, memory, user } = await sessionOf();
    const weather = tool({
      name: "weather",
      description: "The weather",
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => `sunny in ${city}`,
    });
    const model = new ScriptedModel([
      [functionCall("weather", { city: "Lisbon" }, { callId: "c1" })],
      [assistantMessage("It is sunny.")],
      [assistantMessage("As I said.")],
    ]);
    const agent = new Agent({ name: "a", model, tools: [weather] });
    await quiet.run(agent, "Weather in Lisbon?", { session });
    await quiet.run(agent, "Sure?", { session });
    expect(model.lastCall?.request.input).toMatchObject([
      { role: "user" },
      { type: "function_call", callId: "c1", name: "weather" },
      { type: "function_call_result", callId: "c1", output: { text: "sunny in Lisbon" } },
      { role: "assistant" },
      { role: "user", content: "Sure?" },
    ]);
    const { items } = await memory.threads.list(user, { agent: "openai-agents/s" });
    const { items: sanitized } = await memory.threads.read(items[0]?.id ?? "", { view: "sanitized" });
    expect(sanitized.map(({ message }) => message)).toMatchObject([
      { role: "user", content: "Weather in Lisbon?" },
      {
        role: "assistant",
        tool_calls: [{ id: "c1", function: { name: "weather", arguments: '{"city":"Lisbon"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "sunny in Lisbon" },
      { role: "assistant", content: [{ text: "It is sunny." }] },
      { role: "user" },
      { role: "assistant" },
    ]);
    const { hits } = await memory.recall(user, { query: "is it sunny in Lisbon?" });
    expect(hits.map(({ text }) => text)).toContain("sunny in Lisbon");
  });

  it("is interrupted for an approval, and goes on in another process", async () => {
    const { user, session } = await sessionOf();
    const done: string[] = [];
    const remove = tool({
      name: "remove",
      description: "Removes a file",
      parameters: z.object({ file: z.string() }),
      needsApproval: true,
      execute: ({ file }) => {
        done.push(file);
        return "removed";
      },
    });
    const model = new ScriptedModel([
      [functionCall("remove", { file: "a.txt" }, { callId: "c1" })],
      [assistantMessage("Gone.")],
      [assistantMessage("a.txt")],
    ]);
    const agent = new Agent({ name: "a", model, tools: [remove] });
    const waiting = await quiet.run(agent, "Remove a.txt", { session });
    expect(waiting.interruptions).toHaveLength(1);
    expect(done).toEqual([]);
    for (const interruption of waiting.interruptions) waiting.state.approve(interruption);
    const { session: later } = await sessionOf({ user });
    const { finalOutput } = await quiet.run(agent, waiting.state, { session: later });
    expect(finalOutput).toBe("Gone.");
    expect(done).toEqual(["a.txt"]);
    const items = await later.getItems();
    expect(items.map((item) => ("role" in item ? item.role : item.type))).toEqual([
      "user",
      "function_call",
      "function_call_result",
      "assistant",
    ]);
    await quiet.run(agent, "Which file?", { session: later });
    expect(model.lastCall?.request.input).toHaveLength(5);
  });

  it("fails when the session cannot be read, and before the model is asked", async () => {
    const { session } = await sessionOf({
      client: { fetch: failing(503), retry: false },
    });
    const model = new ScriptedModel([[assistantMessage("never")]]);
    await expect(quiet.run(new Agent({ name: "a", model }), "hi", { session })).rejects.toMatchObject({
      code: "storage_unavailable",
    });
    expect(model.calls).toHaveLength(0);
  });
});

describe("failures", () => {
  it("reject every call", async () => {
    for (const [status, code] of [
      [503, "storage_unavailable"],
      [429, "rate_limited"],
    ] as const) {
      const { session } = await sessionOf({ client: { fetch: failing(status, { code }), retry: false } });
      await expect(session.getItems()).rejects.toMatchObject({ code });
      await expect(session.addItems([said("x")])).rejects.toMatchObject({ code });
      await expect(session.popItem()).rejects.toMatchObject({ code });
      await expect(session.clearSession()).rejects.toMatchObject({ code });
    }
  });

  it("of which the answer is lost neither lose an item nor keep it twice", async () => {
    const user = newUser();
    const append = (request: Request) => request.url.endsWith("/messages") && request.method === "POST";
    const adding = await sessionOf({ user, client: { fetch: losing(append) } });
    await adding.session.addItems([said("once")]);
    expect(await adding.session.getItems()).toEqual([said("once")]);
    const taking = await sessionOf({ user, client: { fetch: losing(({ method }) => method === "DELETE") } });
    expect(await taking.session.popItem()).toEqual(said("once"));
    expect(await taking.session.getItems()).toEqual([]);
    await taking.session.addItems([said("more")]);
    const clearing = await sessionOf({
      user,
      client: { fetch: losing(({ method }) => method === "DELETE") },
    });
    await clearing.session.clearSession();
    expect(await taking.session.getItems()).toEqual([]);
  });

  it("of a server that never answers are the client's to end", async () => {
    const patience = AbortSignal.timeout(50);
    const { session } = await sessionOf({
      client: { fetch: (request) => silent(new Request(request, { signal: patience })), retry: false },
    });
    await expect(session.getItems()).rejects.toMatchObject({ code: "network" });
  });

  it("of an item that is too large say so, and add none", async () => {
    const { session } = await sessionOf();
    await session.addItems([said("before")]);
    const large = said("x".repeat(limits.message));
    await expect(session.addItems([large])).rejects.toMatchObject({ code: "value_too_large" });
    expect(await session.getItems()).toEqual([said("before")]);
  });

  it("keep another user's token out", async () => {
    const { session, user } = await sessionOf();
    await session.addItems([said("secret")]);
    const stranger = cairnSession({ memory: await clientOf(newUser()), user, sessionId: "s" });
    await expect(stranger.getItems()).rejects.toMatchObject({ code: "not_found" });
    await expect(stranger.addItems([said("forged")])).rejects.toMatchObject({ code: "not_found" });
    await expect(stranger.clearSession()).rejects.toMatchObject({ code: "not_found" });
    expect(await session.getItems()).toEqual([said("secret")]);
  });

  it("cost nothing but the calls that they need", async () => {
    const { fetch, calls } = counting();
    const { session } = await sessionOf({ client: { fetch } });
    await session.addItems([said("a"), said("b")]);
    await session.getItems();
    await session.getItems(1);
    await session.popItem();
    expect(calls).toHaveLength(6);
  });
});
