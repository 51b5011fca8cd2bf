import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sanitizeConversation } from "../../../src/domain/conversation/sanitize.ts";
import { conversation, deepFreeze, type Stored, withoutTools } from "./arbitrary.ts";

const asks = (content: unknown, ...ids: string[]): Stored => ({
  role: "assistant",
  content,
  toolCalls: ids.map((id) => ({ id, name: "look", arguments: {} })),
});
const result = (toolCallId: string, content = "ok"): Stored => ({ role: "tool", content, toolCallId });
const hi: Stored = { role: "user", content: "hi" };

describe("a complete tool turn", () => {
  it("keeps its results in the order of its calls", () => {
    const turn = [hi, asks("", "a", "b"), result("b"), result("a"), hi];
    expect(sanitizeConversation(turn)).toEqual([hi, asks("", "a", "b"), result("a"), result("b"), hi]);
  });
  it("keeps the first result of a call", () => {
    expect(sanitizeConversation([asks("", "a"), result("a", "1"), result("a", "2")])).toEqual([
      asks("", "a"),
      result("a", "1"),
    ]);
  });
  it("keeps the first of calls with one id, as providers refuse an id that comes twice", () => {
    const turn = [asks("", "a", "a", "b"), result("a"), result("b")];
    expect(sanitizeConversation(turn)).toEqual([asks("", "a", "b"), result("a"), result("b")]);
    const call = { type: "tool_use", id: "a", name: "look", input: {} };
    const given = { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "ok" }] };
    expect(sanitizeConversation([{ role: "assistant", content: [call, { ...call }] }, given])).toEqual([
      { role: "assistant", content: [call] },
      given,
    ]);
    // One call, in a list and in a part.
    const both = [{ ...asks([call], "a") }, given];
    expect(sanitizeConversation(both)).toEqual(both);
    const part = { type: "tool-look", toolCallId: "a", state: "output-available", input: {}, output: 1 };
    expect(sanitizeConversation([{ role: "assistant", parts: [part, { ...part, output: 2 }] }])).toEqual([
      { role: "assistant", parts: [part] },
    ]);
  });
  it("leaves no result of a repeated call that the provider carried out", () => {
    const ran = { type: "tool-call", toolCallId: "p", toolName: "search", input: {}, providerExecuted: true };
    const gave = {
      type: "tool-result",
      toolCallId: "p",
      toolName: "search",
      output: { type: "text", value: "" },
    };
    const text = { type: "text", text: "Found." };
    const once = [{ role: "assistant", content: [ran, gave, text] }];
    const twice = [{ role: "assistant", content: [ran, gave, { ...ran }, { ...gave }, text] }];
    expect(sanitizeConversation(twice)).toEqual(once);
  });
  it("comes back as the same objects, unknown fields included", () => {
    const turn = [
      { ...asks("", "a"), cost: 3 },
      { ...result("a"), took: 5 },
    ];
    const kept = sanitizeConversation(turn);
    expect(kept[0]).toBe(turn[0]);
    expect(kept[1]).toBe(turn[1]);
  });
  it("loses the results that it did not ask for", () => {
    expect(sanitizeConversation([asks("", "a"), result("x"), result("a")])).toEqual([
      asks("", "a"),
      result("a"),
    ]);
  });
});

describe("a dangling turn", () => {
  it("loses its calls and partial results and keeps its text and unknown fields", () => {
    expect(sanitizeConversation([{ ...asks("Let me see.", "a", "b"), cost: 3 }, result("a"), hi])).toEqual([
      { role: "assistant", content: "Let me see.", cost: 3 },
      hi,
    ]);
  });
  it.each([
    ["''", ""],
    ["[]", []],
    ["null", null],
    ["nothing", undefined],
    ["empty text parts", [{ type: "text", text: "" }]],
    ["reasoning", [{ type: "reasoning", text: "I could look it up" }]],
  ])("goes away entirely if its content is %s", (_, content) => {
    expect(sanitizeConversation([hi, asks(content, "a"), hi])).toEqual([hi, hi]);
  });
  it("keeps what is no text either", () => {
    const image = [{ type: "image", data: "x", mimeType: "image/png" }];
    expect(sanitizeConversation([asks(image, "a")])).toEqual([{ role: "assistant", content: image }]);
  });
  it("is one whose results come after another message", () => {
    expect(sanitizeConversation([asks("x", "a"), hi, result("a")])).toEqual([
      { role: "assistant", content: "x" },
      hi,
    ]);
  });
  it("is one with a call without an id", () => {
    const turn = [
      { role: "assistant", content: "x", toolCalls: [{ name: "look" }] },
      { role: "tool", content: "?" },
    ];
    expect(sanitizeConversation<Stored>(turn)).toEqual([{ role: "assistant", content: "x" }]);
  });
});

describe("a tool message that names one call and holds the result of another", () => {
  it("answers the one that it names", () => {
    const odd = { ...result("x"), content: [{ type: "tool-result", toolCallId: "a" }] };
    expect(sanitizeConversation([asks("Hm.", "a"), odd])).toEqual([{ role: "assistant", content: "Hm." }]);
  });
});

describe("an orphan tool message", () => {
  it.each([
    ["at the start", [result("a"), hi], [hi]],
    ["after a user message", [hi, result("a")], [hi]],
    ["without an id", [hi, { role: "tool", content: "ok" }], [hi]],
  ])("goes, %s", (_, messages, kept) => {
    expect(sanitizeConversation<Stored>(messages)).toEqual(kept);
  });
});

describe("messages of OpenAI", () => {
  const ask = { role: "assistant", content: null, tool_calls: [{ id: "a" }, { id: "b" }] };
  const a = { role: "tool", content: "1", tool_call_id: "a" };
  const b = { role: "tool", content: "2", tool_call_id: "b" };

  it("are put in order", () => {
    expect(sanitizeConversation<Stored>([ask, b, a])).toEqual([ask, a, b]);
  });
  it("lose calls without a result", () => {
    expect(sanitizeConversation<Stored>([{ ...ask, content: "Hm." }, b])).toEqual([
      { role: "assistant", content: "Hm." },
    ]);
  });
});

describe("messages of Anthropic", () => {
  const text = (words: string) => ({ type: "text", text: words });
  const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
  const gives = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "ok" });
  const ask = { role: "assistant", content: [text("Hm."), use("a"), use("b")] };

  it("have their results in order and before the user's words", () => {
    const answer = { role: "user", content: [text("So?"), gives("b"), gives("a")] };
    expect(sanitizeConversation<Stored>([ask, answer])).toEqual([
      ask,
      { role: "user", content: [gives("a"), gives("b"), text("So?")] },
    ]);
  });
  it("are split where results that interleave have to be put in order", () => {
    const asked = { role: "assistant", content: [use("a"), use("b"), use("c")] };
    const [first, second] = [
      { role: "user", content: [gives("a"), gives("c")], id: 1 },
      { role: "user", content: [gives("b"), text("So?")], id: 2 },
    ];
    expect(sanitizeConversation<Stored>([asked, first, second])).toEqual([
      asked,
      { role: "user", content: [gives("a")], id: 1 },
      { role: "user", content: [gives("b")], id: 2 },
      { role: "user", content: [gives("c")], id: 1 },
      { role: "user", content: [text("So?")], id: 2 },
    ]);
  });
  it("lose calls without a result, and keep what the user said", () => {
    expect(
      sanitizeConversation<Stored>([ask, { role: "user", content: [gives("a"), text("Never mind.")] }]),
    ).toEqual([
      { role: "assistant", content: [text("Hm.")] },
      { role: "user", content: [text("Never mind.")] },
    ]);
  });
  it("lose orphan results, and the message that holds nothing else", () => {
    expect(sanitizeConversation<Stored>([hi, { role: "user", content: [gives("a")] }])).toEqual([hi]);
  });
});

describe("what else a tool message holds", () => {
  it("stays with its last result", () => {
    const gives = (id: string) => ({ type: "tool-result", toolCallId: id });
    const note = { type: "note" };
    expect(
      sanitizeConversation<Stored>([
        asks("", "a", "b"),
        { role: "tool", content: [gives("b"), gives("a"), note] },
      ]),
    ).toEqual([asks("", "a", "b"), { role: "tool", content: [gives("a"), gives("b"), note] }]);
  });
});

describe("messages of the AI SDK", () => {
  const call = (id: string, more = {}) => ({ type: "tool-call", toolCallId: id, toolName: "look", ...more });
  const gives = (id: string) => ({
    type: "tool-result",
    toolCallId: id,
    output: { type: "text", value: "ok" },
  });
  const request = { type: "tool-approval-request", approvalId: "x", toolCallId: "a" };
  const response = { type: "tool-approval-response", approvalId: "x", approved: true };

  it("have their results in order, each once", () => {
    const ask = { role: "assistant", content: [call("a"), call("b")] };
    const answer = { role: "tool", content: [gives("b"), gives("a"), gives("b")] };
    expect(sanitizeConversation<Stored>([ask, answer])).toEqual([
      ask,
      { role: "tool", content: [gives("a"), gives("b")] },
    ]);
  });
  it("lose calls without a result, with the approvals asked for them", () => {
    const ask = { role: "assistant", content: [{ type: "text", text: "Hm." }, call("a"), request] };
    expect(sanitizeConversation<Stored>([ask, { role: "tool", content: [response] }])).toEqual([
      { role: "assistant", content: [{ type: "text", text: "Hm." }] },
    ]);
  });
  it("keep the approval of a call that has its result", () => {
    const turn = [
      { role: "assistant", content: [call("a"), request] },
      { role: "tool", content: [response] },
      { role: "tool", content: [gives("a")] },
    ];
    expect(sanitizeConversation<Stored>(turn)).toEqual(turn);
  });
  it("keep calls that the provider carries out, with their results", () => {
    const byProvider = { providerExecuted: true };
    const turn = [{ role: "assistant", content: [call("a", byProvider), gives("a")] }];
    expect(sanitizeConversation<Stored>(turn)).toEqual(turn);
    expect(sanitizeConversation([{ role: "assistant", content: [call("b", byProvider)] }])).toEqual([]);
    // The SDK misses the result of its own tool in a message of the assistant.
    expect(sanitizeConversation([{ role: "assistant", content: [call("a"), gives("a")] }])).toEqual([]);
  });
  it("pass through untouched if they are UI messages with their results", () => {
    const ui = [
      { role: "assistant", parts: [{ type: "tool-look", toolCallId: "a", state: "output-available" }] },
    ];
    expect(sanitizeConversation<Stored>(ui)[0]).toBe(ui[0]);
  });
});

describe("any conversation", () => {
  /** Independent of the code under test: which ids a message asks for, or answers, in any shape. */
  const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value : []);
  const parts = (message: Stored | undefined, type: string) =>
    list(message?.content).filter((part) => part.type === type);
  const asked = (message: Stored | undefined) => [
    ...[...list(message?.toolCalls), ...list(message?.tool_calls), ...parts(message, "tool_use")].map(
      ({ id }) => id,
    ),
    ...parts(message, "tool-call")
      .filter((part) => part.providerExecuted !== true)
      .map((part) => part.toolCallId),
  ];
  const answered = (message: Stored) =>
    message.role === "assistant"
      ? []
      : [
          message.toolCallId,
          message.tool_call_id,
          ...parts(message, "tool_result").map((part) => part.tool_use_id),
          ...parts(message, "tool-result").map((part) => part.toolCallId),
        ].filter((id) => id !== undefined);
  const approves = (message: Stored) => parts(message, "tool-approval-response").length > 0;
  const userTexts = (messages: Stored[]) =>
    messages
      .filter(({ role }) => role === "user")
      .flatMap(({ content }) =>
        typeof content === "string" ? content : list(content).flatMap(({ text }) => text ?? []),
      )
      .filter((text) => text !== "");

  it("is changed by the first sanitising only", () => {
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
  it("is never mutated", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(() => sanitizeConversation(deepFreeze(messages))).not.toThrow();
      }),
    );
  });
  it("keeps only results of calls kept right before them: of each call one, in order", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const kept = sanitizeConversation(messages);
        const tools = kept.filter((message) => message.role === "tool");
        expect(tools.every((message) => answered(message).length > 0 || approves(message))).toBe(true);
        for (const [i, message] of kept.entries()) {
          const next = kept
            .slice(i + 1)
            .findIndex((one) => one.role !== "tool" && answered(one).length === 0);
          const following = kept.slice(i + 1, next === -1 ? undefined : i + 1 + next);
          const isHead = message.role !== "tool" && answered(message).length === 0;
          expect(following.flatMap(isHead ? answered : () => [])).toEqual([
            ...new Set(isHead ? asked(message) : []),
          ]);
        }
        const firstHead = kept.findIndex((one) => one.role !== "tool" && answered(one).length === 0);
        expect(kept.slice(0, firstHead === -1 ? undefined : firstHead)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
  it("never loses what a user said", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(userTexts(sanitizeConversation(messages))).toEqual(userTexts(messages));
      }),
    );
  });
  it("comes back identical if it has no tools, but for what is empty", () => {
    const isText = (part: unknown) =>
      typeof part !== "object" || part === null || !("text" in part) || part.text !== "";
    const says = ({ content, parts: of }: Stored) => content !== "" && list(content ?? of).length !== 0;
    const hasBlank = ({ content }: Stored) => !list(content).every(isText);
    fc.assert(
      fc.property(withoutTools, (messages) => {
        const whole = messages.filter(
          (message) => (says(message) || isWord(message.content)) && !hasBlank(message),
        );
        const kept = sanitizeConversation(messages);
        expect(kept.filter((message) => whole.includes(message))).toEqual(whole);
        expect(sanitizeConversation(whole)).toEqual(whole);
      }),
    );
    function isWord(content: unknown) {
      return typeof content === "string" && content !== "";
    }
  });
});

it("a message whose content no model gets goes", () => {
  const data = { type: "data-weather", data: { city: "Porto" } };
  const empty = [
    { role: "user", parts: [data] },
    { role: "assistant", parts: [data, { type: "step-start" }] },
    { role: "assistant", content: {} },
    { role: "assistant", content: [{}] },
  ];
  expect(sanitizeConversation(empty)).toEqual([]);
  const said = { role: "user", parts: [data, { type: "text", text: "hi" }] };
  expect(sanitizeConversation([said])).toEqual([said]);
});
