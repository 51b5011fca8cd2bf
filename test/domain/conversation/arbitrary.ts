// Conversations as they are stored, sound and broken, in every shape of tool call that Cairn reads.
import fc from "fast-check";

export type Stored = { role: string; content?: unknown; [field: string]: unknown };

const id = fc.constantFrom("a", "b", "c", "d");
const ids = fc.array(id, { maxLength: 4 });
const words = fc.constantFrom("", "hello", "and then?");
const extra = fc.record(
  { seq: fc.nat(9), nested: fc.record({ deep: fc.jsonValue({ maxDepth: 1 }) }) },
  { requiredKeys: [] },
);
const texts = fc.array(
  words.map((text) => ({ type: "text", text })),
  { maxLength: 2 },
);

export const userMessage: fc.Arbitrary<Stored> = fc
  .tuple(fc.oneof(words, texts), extra)
  .map(([content, rest]) => ({ role: "user", content, ...rest }));
const said: fc.Arbitrary<Stored> = fc
  .tuple(words, extra)
  .map(([content, rest]) => ({ role: "assistant", content, ...rest }));

const calling: fc.Arbitrary<Stored> = fc.oneof(
  fc.tuple(words, ids, extra).map(([content, list, rest]) => ({
    role: "assistant",
    content,
    toolCalls: list.map((one) => ({ id: one, name: "look", arguments: {} })),
    ...rest,
  })),
  ids.map((list) => ({ role: "assistant", content: null, tool_calls: list.map((one) => ({ id: one })) })),
  fc.tuple(texts, ids).map(([spoken, list]) => ({
    role: "assistant",
    content: [...spoken, ...list.map((one) => ({ type: "tool_use", id: one }))],
  })),
  fc.tuple(texts, ids, fc.boolean(), ids).map(([spoken, list, providerExecuted, inside]) => ({
    role: "assistant",
    content: [
      ...spoken,
      ...list.map((one) => ({
        type: "tool-call",
        toolCallId: one,
        ...(providerExecuted && { providerExecuted }),
      })),
      ...list.map((one) => ({ type: "tool-approval-request", approvalId: `of ${one}`, toolCallId: one })),
      ...inside.slice(2).map((one) => ({ type: "tool-result", toolCallId: one })),
    ],
  })),
);

const answering: fc.Arbitrary<Stored> = fc.oneof(
  fc.tuple(id, extra).map(([one, rest]) => ({ role: "tool", content: "done", toolCallId: one, ...rest })),
  id.map((one) => ({ role: "tool", content: "done", tool_call_id: one })),
  fc.tuple(ids, texts, texts).map(([list, before, after]) => ({
    role: "user",
    content: [...before, ...list.map((one) => ({ type: "tool_result", tool_use_id: one })), ...after],
  })),
  fc.tuple(ids, ids).map(([list, approved]) => ({
    role: "tool",
    content: [
      ...approved.slice(1).map((one) => ({
        type: "tool-approval-response",
        approvalId: `of ${one}`,
        approved: true,
      })),
      ...list.flatMap((one, i) => [
        { type: "tool-result", toolCallId: one },
        ...(i % 2 === 1 ? [{ type: "note" }] : []),
      ]),
    ],
  })),
  fc.constant({ role: "tool", content: "of what?" }),
);

const uiMessage: fc.Arbitrary<Stored> = id.map((one) => ({
  role: "assistant",
  parts: [{ type: "tool-look", toolCallId: one, state: "output-available", output: 1 }],
}));

/** Calls and results by chance: most turns are broken. */
const anyMessages = fc.array(
  fc.oneof(
    { arbitrary: userMessage, weight: 1 },
    { arbitrary: said, weight: 1 },
    { arbitrary: calling, weight: 3 },
    { arbitrary: answering, weight: 5 },
    { arbitrary: uiMessage, weight: 1 },
  ),
  { maxLength: 12 },
);

/** Turns with all results, in any order, perhaps some twice. */
const completeTurn: fc.Arbitrary<Stored[]> = fc
  .tuple(fc.uniqueArray(id, { minLength: 1 }), ids, fc.boolean())
  .chain(([list, again, openAi]) =>
    fc.shuffledSubarray([...list, ...again], { minLength: list.length + again.length }).map((order) => [
      {
        role: "assistant",
        content: "",
        [openAi ? "tool_calls" : "toolCalls"]: list.map((one) => ({ id: one })),
      },
      ...order.map((one) => ({ role: "tool", content: "ok", [openAi ? "tool_call_id" : "toolCallId"]: one })),
    ]),
  );

/** The same in parts, spread over two messages that may interleave. */
const completeInParts: fc.Arbitrary<Stored[]> = fc
  .tuple(fc.uniqueArray(id, { minLength: 1 }), ids, fc.boolean(), texts)
  .chain(([list, again, anthropic, spoken]) =>
    fc
      .tuple(
        fc.shuffledSubarray([...list, ...again], { minLength: list.length + again.length }),
        fc.nat(list.length),
      )
      .map(([order, cut]) => {
        const give = (one: string) =>
          anthropic ? { type: "tool_result", tool_use_id: one } : { type: "tool-result", toolCallId: one };
        const role = anthropic ? "user" : "tool";
        return [
          { role: "assistant", content: "", toolCalls: list.map((one) => ({ id: one })) },
          { role, content: order.slice(0, cut).map(give) },
          { role, content: [...order.slice(cut).map(give), ...(anthropic ? spoken : [{ type: "note" }])] },
        ];
      }),
  );

export const conversation: fc.Arbitrary<Stored[]> = fc
  .array(fc.oneof(anyMessages, completeTurn, completeInParts), { maxLength: 4 })
  .map((pieces) => pieces.flat());

export const withoutTools: fc.Arbitrary<Stored[]> = fc.array(fc.oneof(userMessage, said, uiMessage), {
  maxLength: 9,
});

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
