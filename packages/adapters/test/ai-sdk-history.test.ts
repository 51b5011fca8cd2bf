// What is stored of the SDK's messages, and what a model is given of it again, for any of them.
import fc from "fast-check";
import { expect, it } from "vitest";
import { promptOf as promptOfStored } from "../src/ai-sdk/history.ts";
import type { Prompt, PromptMessage, UserMessage } from "../src/ai-sdk/sdk.ts";
import { storedMessage } from "../src/ai-sdk/stored-message.ts";
import { type Message, sanitizeConversation } from "../../client/src/index.ts";

/** No blank text, which providers refuse, and a prompt leaves out. */
const words = fc.string({ minLength: 1, unit: "grapheme" }).filter((said) => said.trim() !== "");
const options = fc.option(
  fc.record({ p: fc.dictionary(fc.constantFrom("a", "b"), fc.jsonValue() as fc.Arbitrary<null>) }),
  { nil: undefined },
);
const text = fc.record({ type: fc.constant("text" as const), text: words, providerOptions: options });
const fileData = fc.oneof(
  fc.record({ type: fc.constant("data" as const), data: fc.oneof(fc.uint8Array(), fc.base64String()) }),
  fc.record({ type: fc.constant("url" as const), url: fc.webUrl().map((url) => new URL(url)) }),
  fc.record({ type: fc.constant("text" as const), text: words }),
);
const file = fc.record({
  type: fc.constant("file" as const),
  mediaType: fc.constant("image/png"),
  data: fileData,
  filename: fc.option(words, { nil: undefined }),
});
const user: fc.Arbitrary<PromptMessage> = fc
  .array(fc.oneof(text, file), { minLength: 1, maxLength: 3 })
  .map((content) => ({ role: "user", content }));
const answer: fc.Arbitrary<PromptMessage[]> = fc
  .tuple(fc.array(text, { maxLength: 2 }), fc.uniqueArray(fc.uuid(), { maxLength: 2 }), fc.jsonValue(), text)
  .map(([said, ids, input, last]) => {
    const calls = ids.map((toolCallId) => ({ type: "tool-call" as const, toolCallId, toolName: "t", input }));
    const results = ids.map((toolCallId) => ({
      type: "tool-result" as const,
      toolCallId,
      toolName: "t",
      output: { type: "text" as const, value: "r" },
    }));
    const end: PromptMessage = { role: "assistant", content: [last] };
    return ids.length === 0
      ? [end]
      : [{ role: "assistant", content: [...said, ...calls] }, { role: "tool", content: results }, end];
  });
const conversation: fc.Arbitrary<Prompt> = fc
  .array(fc.tuple(user, answer), { maxLength: 4 })
  .map((turns) => turns.flatMap(([asked, answered]) => [asked, ...answered]));

const promptOf = (messages: readonly Message[], prompt: Prompt) =>
  promptOfStored(
    messages.map((message) => ({ message })),
    prompt,
  );
const next: Prompt = [{ role: "user", content: [{ type: "text", text: "\u0000 what nobody said before" }] }];
/** As it goes over the wire. */
const sent = (messages: Prompt): Message[] =>
  JSON.parse(JSON.stringify(messages.map(storedMessage))) as Message[];
/** As far as a provider can tell: bytes as Base64, undefined fields gone. */
const told = (messages: readonly PromptMessage[]): unknown => sent([...messages]);

it("a conversation comes back as it was said", () => {
  fc.assert(
    fc.property(conversation, (said) => {
      expect(told(promptOf(sent(said), next))).toEqual(told(said));
    }),
  );
});

it("files come back as data, or as URLs", () => {
  fc.assert(
    fc.property(file, (part) => {
      const [message] = promptOf(sent([{ role: "user", content: [part] }]), next) as [UserMessage];
      const [again] = message.content as [typeof part];
      expect(again.data.type).toBe(part.data.type);
      expect(again.data.type === "url" ? again.data.url.href : "").toBe(
        part.data.type === "url" ? part.data.url.href : "",
      );
    }),
  );
});

it("what the prompt goes on with is not told twice, wherever a run was cut", () => {
  fc.assert(
    fc.property(conversation, fc.tuple(user, answer), fc.nat(), ([...before], [asked, answered], cut) => {
      const turn = [asked, ...answered];
      const stored = turn.slice(0, cut % (turn.length + 1));
      const prompt = promptOf(sent([...before, ...stored]), turn);
      // Unless the same words were there before, at the end of all.
      fc.pre(!JSON.stringify(told(before)).includes(JSON.stringify(told([asked])).slice(1, -1)));
      expect(told(prompt)).toEqual(told(before));
    }),
  );
});

it("any stored messages make a prompt in which every call has its result, and a user begins", () => {
  const role = fc.constantFrom("user", "assistant", "tool", "system", "function", "developer");
  const part = fc.oneof(
    text,
    fc.record({
      type: fc.constant("tool-call"),
      toolCallId: fc.constantFrom("1", "2"),
      toolName: words,
      input: fc.jsonValue(),
    }),
    fc.record({ type: fc.constant("tool-result"), toolCallId: fc.constantFrom("1", "2"), toolName: words }),
    fc.jsonValue(),
  );
  const message = fc.record(
    {
      role,
      content: fc.oneof(fc.string(), fc.constant(null), fc.array(part)),
      toolCalls: fc.array(
        fc.oneof(fc.jsonValue(), fc.record({ id: fc.constantFrom("1", "2"), name: words })),
      ),
      tool_call_id: fc.constantFrom("1", "2"),
    },
    { requiredKeys: ["role", "content"] },
  );
  fc.assert(
    fc.property(fc.array(message), (stored) => {
      const said = promptOf(stored, next).filter(({ role: whose }) => whose !== "system");
      expect([undefined, "user"]).toContain(said[0]?.role);
      // What a provider takes needs no more sanitising.
      expect(sanitizeConversation(said)).toEqual(said);
    }),
    { numRuns: 500 },
  );
});

it("parts of other shapes are told as far as they have a text", () => {
  const url = "https://example.com/a.png";
  const stored = [
    {
      role: "user",
      content: [
        { type: "input_text", text: "from the Responses API" },
        { type: "file", file: { file_id: "f" } },
        { type: "image_url", image_url: { url } },
        "a bare string",
      ],
    },
    {
      role: "assistant",
      parts: [
        { type: "text", text: "from a UIMessage" },
        { type: "tool-weather", toolCallId: "1" },
      ],
    },
    { role: "user", content: "more" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "look", input: {} }] },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c",
          toolName: "look",
          output: {
            type: "content",
            value: [{ type: "file", mediaType: "image/png", data: { type: "url", url } }],
          },
        },
      ],
    },
  ];
  expect(promptOf(stored, next)).toEqual([
    { role: "user", content: [{ type: "text", text: "from the Responses API" }] },
    { role: "assistant", content: [{ type: "text", text: "from a UIMessage" }] },
    { role: "user", content: [{ type: "text", text: "more" }] },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "look", input: {} }] },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c",
          toolName: "look",
          output: {
            type: "content",
            value: [{ type: "file", mediaType: "image/png", data: { type: "url", url: new URL(url) } }],
          },
        },
      ],
    },
  ]);
});

it("parts that hold a call with its result are told as the steps they were, of a UIMessage or of Mastra", () => {
  const mastra = (toolCallId: string, more: object) => ({
    type: "tool-invocation",
    toolInvocation: { toolCallId, toolName: "look", args: { at: "sea" }, ...more },
  });
  const stored = [
    { role: "user", parts: [{ type: "text", text: "Look." }], content: "Look." },
    {
      role: "assistant",
      content: "Let me see. A boat. Gone.",
      parts: [
        { type: "step-start" },
        { type: "text", text: "Let me see." },
        mastra("1", { state: "result", result: "a boat" }),
        mastra("2", { state: "result", result: { boats: 1 } }),
        { type: "text", text: "A boat." },
        { type: "step-start" },
        { type: "tool-look", toolCallId: "3", state: "output-available", input: { at: "pier" }, output: [1] },
        {
          type: "dynamic-tool",
          toolName: "row",
          toolCallId: "4",
          state: "output-error",
          errorText: "no oars",
        },
        { type: "step-start" },
        mastra("5", { state: "output-error", errorText: "fog" }),
        { type: "step-start" },
        mastra("6", { state: "call" }),
        { type: "text", text: "Gone." },
      ],
    },
  ];
  const call = (toolCallId: string, toolName: string, input: object) => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input,
  });
  const result = (toolCallId: string, toolName: string, output: object) => ({
    type: "tool-result",
    toolCallId,
    toolName,
    output,
  });
  const sea = { at: "sea" };
  expect(promptOf(stored, next)).toEqual([
    { role: "user", content: [{ type: "text", text: "Look." }] },
    {
      role: "assistant",
      content: [{ type: "text", text: "Let me see." }, call("1", "look", sea), call("2", "look", sea)],
    },
    {
      role: "tool",
      content: [
        result("1", "look", { type: "text", value: "a boat" }),
        result("2", "look", { type: "json", value: { boats: 1 } }),
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "A boat." }] },
    { role: "assistant", content: [call("3", "look", { at: "pier" }), call("4", "row", {})] },
    {
      role: "tool",
      content: [
        result("3", "look", { type: "json", value: [1] }),
        result("4", "row", { type: "error-text", value: "no oars" }),
      ],
    },
    { role: "assistant", content: [call("5", "look", sea)] },
    { role: "tool", content: [result("5", "look", { type: "error-text", value: "fog" })] },
    { role: "assistant", content: [{ type: "text", text: "Gone." }] },
  ]);
});
