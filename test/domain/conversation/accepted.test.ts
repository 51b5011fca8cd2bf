import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitizeConversation } from "../../../src/domain/conversation/sanitize.ts";
import { deepFreeze, type Stored } from "./arbitrary.ts";
import { agentItems, aiSdk, anthropic, gemini, openAi, uiMessages } from "./providers.ts";

const PROVIDERS = { openAi, anthropic, aiSdk, uiMessages, gemini, agentItems };

describe.each(Object.entries(PROVIDERS))(
  "any conversation in the shape of %s",
  (_, { conversation, refused }) => {
    it("is one that the provider takes, once it is sanitized", () => {
      fc.assert(
        fc.property(conversation, (messages) => {
          expect(refused(sanitizeConversation(deepFreeze(messages)))).toEqual([]);
        }),
        { numRuns: 1000 },
      );
    });

    it("is changed by the first sanitizing only", () => {
      fc.assert(
        fc.property(conversation, (messages) => {
          const once = sanitizeConversation(messages);
          const twice = sanitizeConversation(once);
          expect(twice).toEqual(once);
          for (const [i, message] of once.entries()) expect(twice[i]).toBe(message);
        }),
        { numRuns: 1000 },
      );
    });

    it("comes back as it is if the provider takes it", () => {
      fc.assert(
        fc.property(conversation, (messages) => {
          fc.pre(refused(messages).length === 0);
          const kept = sanitizeConversation(messages);
          expect(kept).toEqual(messages);
          for (const [i, message] of messages.entries()) expect(kept[i]).toBe(message);
        }),
        { numRuns: 200, maxSkipsPerRun: 1000 },
      );
    });
  },
);

const hi: Stored = { role: "user", content: "hi" };
const text = (words: string) => ({ type: "text", text: words });

describe("a message that says nothing", () => {
  it.each<[string, Stored]>([
    ["null", { role: "assistant", content: null }],
    ["no content", { role: "assistant" }],
    ["an empty text", { role: "assistant", content: "" }],
    ["blanks", { role: "assistant", content: " \n" }],
    ["no parts", { role: "assistant", content: [] }],
    ["an empty text part", { role: "assistant", content: [text("")] }],
    ["an empty list of calls", { role: "assistant", content: null, tool_calls: [] }],
    [
      "reasoning alone",
      { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "s" }] },
    ],
    ["a step of a UI message", { role: "assistant", parts: [{ type: "step-start" }] }],
    ["an empty part of Gemini", { role: "model", parts: [{ text: "" }] }],
    ["an empty question", { role: "user", content: "" }],
  ])("goes: %s", (_, message) => {
    expect(sanitizeConversation([hi, message, hi])).toEqual([hi, hi]);
  });

  it.each<[string, Stored]>([
    ["a refusal", { role: "assistant", content: null, refusal: "No." }],
    ["audio", { role: "assistant", content: null, audio: { id: "a" } }],
    ["a former call of a function", { role: "assistant", content: null, function_call: { name: "look" } }],
    ["the text beside empty parts", { role: "assistant", content: "Hi", parts: [] }],
    ["parts beside an empty text", { role: "assistant", content: "", parts: [text("Hi")] }],
    [
      "a signed empty part of Gemini",
      { role: "model", parts: [text("Hi"), { text: "", thoughtSignature: "s" }] },
    ],
    ["content of another shape", { role: "assistant", content: { format: 2, parts: [] } }],
    ["an unknown role", { role: "human", content: "" }],
    ["a hosted tool", { role: "assistant", content: "", agentItem: { type: "hosted_tool_call", id: "h" } }],
  ])("is none with %s", (_, message) => {
    const kept = sanitizeConversation([hi, message]);
    expect(kept[1]).toBe(message);
  });
});

describe("reasoning", () => {
  const reasoning = { type: "reasoning", text: "hm" };
  const call = (id: string, more = {}) => ({ type: "tool-call", toolCallId: id, toolName: "look", ...more });
  const gives = (id: string) => ({ role: "tool", content: [{ type: "tool-result", toolCallId: id }] });
  const contents = (...messages: Stored[]) => sanitizeConversation(messages).map(({ content }) => content);

  it("goes with the call that it led to, and stays with its text", () => {
    expect(contents({ role: "assistant", content: [text("Hm."), reasoning, call("a")] })).toEqual([
      [text("Hm.")],
    ]);
    expect(contents({ role: "assistant", content: [reasoning, call("a"), text("Hm.")] })).toEqual([
      [text("Hm.")],
    ]);
    expect(contents({ role: "assistant", content: [reasoning, text("Hm."), call("a")] })).toEqual([
      [reasoning, text("Hm.")],
    ]);
  });

  it("stays before a call that stays", () => {
    const turn = [{ role: "assistant", content: [reasoning, call("a")] }, gives("a")];
    expect(sanitizeConversation<Stored>(turn)).toEqual(turn);
  });

  it("goes as an item of the Agents SDK whose call goes, and stays before one that stays", () => {
    const item = { role: "assistant", content: null, agentItem: { type: "reasoning", id: "rs" } };
    const asked = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a" }],
      agentItem: { type: "function_call", callId: "a" },
    };
    const answer = {
      role: "tool",
      content: "1",
      tool_call_id: "a",
      agentItem: { type: "function_call_result", callId: "a" },
    };
    expect(sanitizeConversation<Stored>([hi, item, asked, hi])).toEqual([hi, hi]);
    expect(sanitizeConversation<Stored>([hi, item, asked, answer])).toEqual([hi, item, asked, answer]);
    expect(sanitizeConversation<Stored>([hi, item])).toEqual([hi]);
  });
});

describe("a call that the provider carries out", () => {
  const use = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
  const found = { type: "web_search_tool_result", tool_use_id: "s", content: [] };

  it("goes without its result, and its result without it", () => {
    expect(sanitizeConversation<Stored>([hi, { role: "assistant", content: [use] }])).toEqual([hi]);
    expect(sanitizeConversation<Stored>([hi, { role: "assistant", content: [found, text("Hm.")] }])).toEqual([
      hi,
      { role: "assistant", content: [text("Hm.")] },
    ]);
  });

  it("goes if an earlier one of its message has its id, answered or not, and so does its result", () => {
    const once = [hi, { role: "assistant", content: [use, found] }];
    const again = [
      hi,
      { role: "assistant", content: [use, found, use] },
      { role: "assistant", content: [found] },
    ];
    expect(sanitizeConversation<Stored>(again)).toEqual(once);
  });

  it("stays with its result, also in a later message of the turn", () => {
    const turn = [
      { role: "assistant", content: [use, { type: "tool_use", id: "a", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "ok" }] },
      { role: "assistant", content: [found, text("Hm.")] },
    ];
    expect(sanitizeConversation<Stored>(turn)).toEqual(turn);
    expect(sanitizeConversation<Stored>([turn[0] ?? hi, hi, turn[2] ?? hi])).toEqual([
      hi,
      { role: "assistant", content: [text("Hm.")] },
    ]);
  });
});

it("a UI message loses its pending tool parts, and keeps the others", () => {
  const part = (state: string) => ({ type: "tool-look", toolCallId: state, state, input: {} });
  const states = ["input-streaming", "input-available", "approval-requested", "approval-responded"];
  const done = [part("output-available"), part("output-error"), part("output-denied")];
  const message = { role: "assistant", id: "m", parts: [text("Hm."), ...states.map(part), ...done] };
  expect(sanitizeConversation<Stored>([message])).toEqual([{ ...message, parts: [text("Hm."), ...done] }]);
  expect(sanitizeConversation<Stored>([{ ...message, parts: [part("input-available")] }])).toEqual([]);
});
