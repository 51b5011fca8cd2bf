// Providers' refusals, from their own references, and conversations in their shapes with all that they refuse.
import fc from "fast-check";
import type { Stored } from "./arbitrary.ts";

type Part = Record<string, unknown>;
/** `refused`: the reasons for which the provider would refuse the messages. */
export type Provider = {
  conversation: fc.Arbitrary<Stored[]>;
  refused: (messages: readonly Stored[]) => string[];
};

const list = (value: unknown): Part[] => (Array.isArray(value) ? (value as Part[]) : []);
const isBlank = (text: unknown): boolean => typeof text !== "string" || text.trim() === "";
const typeOf = (part: Part): string => (typeof part.type === "string" ? part.type : "");
const last = <T>(items: readonly T[]): T | undefined => items[items.length - 1];
const same = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  JSON.stringify(one.map(String).toSorted(byText)) === JSON.stringify(other.map(String).toSorted(byText));
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const id = fc.constantFrom("a", "b", "c");
const blank = fc.constantFrom("", " ", "\n\t");
const words = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("hello", "and then?") },
  { weight: 1, arbitrary: blank },
);
const text: fc.Arbitrary<unknown> = words.map((one) => ({ type: "text", text: one }));
const nothing = fc.constantFrom<unknown>(null, undefined, "", " ", [], [{ type: "text", text: "" }]);
const message = (role: string, content: fc.Arbitrary<unknown>): fc.Arbitrary<Stored> =>
  content.map((one) => ({ role, content: one }));
const partsOf = (...kinds: fc.Arbitrary<unknown>[]) => fc.array(fc.oneof(...kinds), { maxLength: 5 });
const messagesOf = (...kinds: fc.Arbitrary<Stored>[]): fc.Arbitrary<Stored[]> =>
  fc.array(fc.oneof(...kinds), { maxLength: 10 });
const said = (role: string) => message(role, fc.oneof(words, nothing, fc.array(text, { maxLength: 3 })));

/** Providers refuse two calls of one message under one id. */
const twice = (ids: readonly unknown[]): string[] =>
  new Set(ids).size === ids.length ? [] : ["two calls of one id"];

/** A text, or a list with something in it and no blank text. */
const emptiness = (content: unknown, where: string): string[] => {
  if (typeof content === "string") return isBlank(content) ? [`${where} is empty`] : [];
  if (!Array.isArray(content) || content.length === 0) return [`${where} has no content`];
  return list(content).some((part) => part === null || (typeOf(part) === "text" && isBlank(part.text)))
    ? [`${where} has an empty text`]
    : [];
};

/** https://platform.openai.com/docs/api-reference/chat/create */
export const openAi: Provider = {
  conversation: messagesOf(
    said("user"),
    said("assistant"),
    fc.tuple(fc.oneof(words, nothing), fc.array(id, { maxLength: 2 })).map(([content, ids]) => ({
      role: "assistant",
      content,
      tool_calls: ids.map((one) => ({
        id: one,
        type: "function",
        function: { name: "look", arguments: "{}" },
      })),
    })),
    fc.record({ role: fc.constant("assistant"), content: fc.constant(null), refusal: words }),
    fc
      .tuple(id, fc.oneof(words, nothing))
      .map(([one, content]) => ({ role: "tool", tool_call_id: one, content })),
  ),
  refused: (messages) =>
    messages.flatMap((one, i) => {
      if (one.role === "tool") {
        const head = messages.slice(0, i).findLast(({ role }) => role !== "tool");
        const isAsked = list(head?.tool_calls).some((call) => call.id === one.tool_call_id);
        // An empty text is a result.
        const faults =
          one.content === ""
            ? []
            : emptiness(one.content, "a result").filter(() => typeof one.content !== "string");
        return [...(isAsked ? [] : ["a result without its call"]), ...faults];
      }
      if (one.role !== "assistant") return emptiness(one.content, one.role);
      const calls = list(one.tool_calls);
      if (one.tool_calls !== undefined && calls.length === 0) return ["an empty list of calls"];
      if (calls.length === 0) return isBlank(one.refusal) ? emptiness(one.content, "assistant") : [];
      const rest = messages.slice(i + 1);
      const end = rest.findIndex(({ role }) => role !== "tool");
      const results = rest.slice(0, end < 0 ? undefined : end).map((result) => result.tool_call_id);
      const asked = [...new Set(calls.map((call) => call.id))];
      // Beside calls a message needs no content, but a list must not be empty.
      const faults = [
        ...(Array.isArray(one.content) ? emptiness(one.content, "assistant") : []),
        ...twice(calls.map((call) => call.id)),
      ];
      return same(asked, results) ? faults : ["a call without its one result"];
    }),
};

const isThinking = (part: Part | undefined): boolean => typeOf(part ?? {}).endsWith("thinking");

/** https://docs.anthropic.com/en/api/messages, and the errors of its pages on tools, thinking and web search. */
export const anthropic: Provider = {
  conversation: messagesOf(
    said("user"),
    said("assistant"),
    message(
      "user",
      partsOf(
        id.map((one) => ({ type: "tool_result", tool_use_id: one, content: "ok" })),
        id.map((one) => ({ type: "tool_result", tool_use_id: one, content: [{ type: "text", text: "" }] })),
        text,
      ),
    ),
    message(
      "assistant",
      partsOf(
        text,
        fc.constant({ type: "thinking", thinking: "hm", signature: "s" }),
        fc.constant({ type: "redacted_thinking", data: "x" }),
        id.map((one) => ({ type: "tool_use", id: one, name: "look", input: {} })),
        id.map((one) => ({ type: "server_tool_use", id: `s${one}`, name: "web_search", input: {} })),
        id.map((one) => ({ type: "web_search_tool_result", tool_use_id: `s${one}`, content: [] })),
        id.map((one) => ({ type: "mcp_tool_use", id: `m${one}`, name: "x", input: {} })),
        id.map((one) => ({ type: "mcp_tool_result", tool_use_id: `m${one}`, content: [] })),
        id.map((one) => ({ type: "tool_result", tool_use_id: one, content: "ok" })),
      ),
    ),
  ),
  refused(messages) {
    const faults: string[] = [];
    let waiting: unknown[] = [];
    // Results follow the message that asked for them, and nothing that the user said.
    let mayAnswer = false;
    for (const [i, { role, content }] of messages.entries()) {
      faults.push(...emptiness(content, role));
      const blocks = list(content);
      const results = blocks.filter((block) => typeOf(block) === "tool_result");
      if (role === "user") {
        if (results.length > 0 && !mayAnswer) faults.push("a result without its call");
        if (results.length < blocks.length || typeof content === "string") {
          mayAnswer = false;
          if (waiting.length > 0) faults.push("a server's call without its result");
          waiting = [];
        }
        for (const result of results)
          if (typeof result.content !== "string")
            for (const inner of list(result.content))
              if (isBlank(inner.text)) faults.push("an empty text in a result");
        if (results.some((_, at) => typeOf(blocks[at] ?? {}) !== "tool_result"))
          faults.push("a result behind a text");
        continue;
      }
      mayAnswer = true;
      if (results.length > 0) faults.push("a result of the assistant");
      if (isThinking(last(blocks))) faults.push("thinking at the end");
      const uses = blocks.filter((block) => typeOf(block).endsWith("tool_use"));
      faults.push(...twice(uses.map((block) => block.id)));
      for (const block of blocks)
        if (/^(server|mcp)_tool_use$/.test(typeOf(block))) waiting.push(block.id);
        else if (/._tool_result$/.test(typeOf(block))) {
          if (!waiting.includes(block.tool_use_id)) faults.push("a server's result without its call");
          waiting = waiting.filter((one) => one !== block.tool_use_id);
        }
      const rest = messages.slice(i + 1);
      const end = rest.findIndex((one) => one.role !== "user" || typeof one.content === "string");
      const given = rest
        .slice(0, end < 0 ? undefined : end)
        .flatMap((one) => list(one.content))
        .filter((block) => typeOf(block) === "tool_result");
      const asked = [
        ...new Set(blocks.filter((block) => typeOf(block) === "tool_use").map((block) => block.id)),
      ];
      if (
        !same(
          asked,
          given.map((result) => result.tool_use_id),
        )
      )
        faults.push("a call without its one result");
    }
    if (waiting.length > 0) faults.push("a server's call without its result at the end");
    return faults;
  },
};

/** `convertToLanguageModelPrompt` of the package `ai`, and what the providers behind it refuse. */
export const aiSdk: Provider = {
  conversation: messagesOf(
    said("user"),
    said("assistant"),
    message(
      "assistant",
      partsOf(
        text,
        fc.constant({ type: "reasoning", text: "hm" }),
        id.map((one) => ({ type: "tool-call", toolCallId: one, toolName: "look", input: {} })),
        id.map((one) => ({
          type: "tool-call",
          toolCallId: `p${one}`,
          toolName: "search",
          input: {},
          providerExecuted: true,
        })),
        fc.tuple(id, fc.constantFrom("", "p")).map(([one, by]) => ({
          type: "tool-result",
          toolCallId: by + one,
          toolName: "search",
          output: { type: "text", value: "ok" },
        })),
        id.map((one) => ({ type: "tool-approval-request", approvalId: `of ${one}`, toolCallId: one })),
      ),
    ),
    message(
      "tool",
      partsOf(
        id.map((one) => ({
          type: "tool-result",
          toolCallId: one,
          toolName: "look",
          output: { type: "text", value: "ok" },
        })),
        id.map((one) => ({ type: "tool-approval-response", approvalId: `of ${one}`, approved: true })),
      ),
    ),
  ),
  refused(messages) {
    const faults: string[] = [];
    const open = new Set<unknown>();
    const asked = new Map<unknown, unknown>();
    let provider: unknown[] = [];
    const close = () => {
      if (open.size > 0) faults.push("MissingToolResultsError");
      if (provider.length > 0) faults.push("a provider's call without its result");
      provider = [];
    };
    for (const { role, content } of messages) {
      const parts = list(content);
      if (role === "user") close();
      faults.push(...emptiness(content, role));
      if (role === "assistant" && typeOf(last(parts) ?? {}) === "reasoning")
        faults.push("reasoning at the end");
      const calls = parts.filter((part) => typeOf(part) === "tool-call");
      faults.push(...twice(calls.map((part) => part.toolCallId)));
      for (const part of parts) {
        if (typeOf(part) === "tool-approval-request") asked.set(part.approvalId, part.toolCallId);
        if (
          typeOf(part) === "tool-approval-request" &&
          !open.has(part.toolCallId) &&
          !provider.includes(part.toolCallId)
        )
          if (!parts.some((one) => typeOf(one) === "tool-call" && one.toolCallId === part.toolCallId))
            faults.push("ToolCallNotFoundForApprovalError");
        if (typeOf(part) === "tool-approval-response" && !asked.has(part.approvalId))
          faults.push("InvalidToolApprovalError");
        const own = part.providerExecuted === true;
        if (typeOf(part) === "tool-call" && own) {
          if (provider.includes(part.toolCallId)) faults.push("a provider's call twice");
          provider.push(part.toolCallId);
        }
        if (typeOf(part) === "tool-call" && !own) open.add(part.toolCallId);
        if (typeOf(part) !== "tool-result") continue;
        const known = role === "tool" ? open.delete(part.toolCallId) : provider.includes(part.toolCallId);
        if (!known) faults.push("a result without its call");
        provider = provider.filter((one) => one !== part.toolCallId);
      }
    }
    close();
    return faults;
  },
};

const UI_STATES = [
  "input-streaming",
  "input-available",
  "approval-requested",
  "output-available",
  "output-error",
];

/** `convertToModelMessages` of the package `ai`. */
export const uiMessages: Provider = {
  conversation: messagesOf(
    fc.array(text, { maxLength: 2 }).map((parts) => ({ role: "user", parts })),
    partsOf(
      text,
      fc.constant({ type: "reasoning", text: "hm" }),
      fc.constant({ type: "step-start" }),
      fc.constant({ type: "source-url", url: "https://example.com" }),
      fc.tuple(id, fc.constantFrom(...UI_STATES)).map(([one, state]) => ({
        type: "tool-look",
        toolCallId: one,
        state,
        input: {},
      })),
      fc.constantFrom("call", "partial-call", "result").map((state) => ({
        type: "tool-invocation",
        toolInvocation: { toolCallId: "i", toolName: "look", state, args: {} },
      })),
    ).map((parts) => ({ role: "assistant", content: "", parts })),
  ),
  refused: (messages) =>
    messages.flatMap(({ role, parts }) => {
      const faults: string[] = [];
      const sent = list(parts).filter((part) => !typeOf(part).startsWith("source-"));
      for (const step of inSteps(sent)) {
        if (typeOf(last(step) ?? {}) === "reasoning") faults.push("reasoning at the end of a step");
        faults.push(...(step.length === 0 ? [] : emptiness(step, role)));
      }
      if (sent.every((part) => typeOf(part) === "step-start")) faults.push(`${role} has no parts`);
      const tools = sent.filter((part) => typeOf(part).startsWith("tool-"));
      faults.push(
        ...twice(
          tools.map(
            ({ toolInvocation = {}, toolCallId }) => toolCallId ?? (toolInvocation as Part).toolCallId,
          ),
        ),
      );
      for (const part of sent) {
        const { toolInvocation: inner = part } = part;
        const { state } = inner as { state?: unknown };
        if (typeOf(part).startsWith("tool-") && !/^(output-.*|result)$/.test(String(state)))
          faults.push("a pending tool part");
      }
      return faults;
    }),
};

const inSteps = (parts: readonly Part[]): Part[][] => {
  const steps: Part[][] = [[]];
  for (const part of parts)
    if (typeOf(part) === "step-start") steps.push([]);
    else last(steps)?.push(part);
  return steps;
};

const named = (kind: string) => (part: Part) => kind in part;

/** https://ai.google.dev/api/caching#Content, and the errors of its page on function calling. */
export const gemini: Provider = {
  conversation: fc
    .array(
      fc.oneof(
        fc.tuple(
          fc.constant("user"),
          partsOf(
            words.map((one) => ({ text: one })),
            id.map((name) => ({ functionResponse: { name, response: {} } })),
          ),
        ),
        fc.tuple(
          fc.constant("model"),
          partsOf(
            words.map((one) => ({ text: one })),
            fc.constant({ text: "hm", thought: true }),
            id.map((name) => ({ functionCall: { name, args: {} } })),
          ),
        ),
      ),
      { maxLength: 10 },
    )
    .map((all) => all.map(([role, parts]) => ({ role, parts }))),
  refused: (messages) =>
    messages.flatMap(({ role, parts }, i) => {
      const own = list(parts);
      const faults = own.length === 0 ? [`${role} has no parts`] : [];
      if (own.some((part) => "text" in part && isBlank(part.text))) faults.push(`${role} has an empty text`);
      if (own.every((part) => part.thought === true)) faults.push("thoughts alone");
      const names = (all: Part[], kind: string) =>
        all.filter(named(kind)).map((part) => (part[kind] as { name: string }).name);
      const next = messages[i + 1];
      const given = next?.role === "user" ? names(list(next.parts), "functionResponse") : [];
      if (role === "model" && !same(names(own, "functionCall"), given))
        faults.push("calls without their results");
      const isFirst = messages[i - 1]?.role !== "model";
      if (role === "user" && isFirst && names(own, "functionResponse").length > 0)
        faults.push("a result first");
      return faults;
    }),
};

const item = (role: string, agentItem: Part, more: Part = {}): Stored => ({
  role,
  content: null,
  ...more,
  agentItem,
});

/** https://platform.openai.com/docs/api-reference/responses, in the messages that keep items of the Agents SDK. */
export const agentItems: Provider = {
  conversation: messagesOf(
    said("user"),
    fc.constant(item("assistant", { type: "reasoning", id: "rs", content: [] })),
    id.map((callId) =>
      item(
        "assistant",
        { type: "function_call", callId, name: "look", arguments: "{}" },
        { tool_calls: [{ id: callId, type: "function", function: { name: "look", arguments: "{}" } }] },
      ),
    ),
    id.map((callId) =>
      item(
        "tool",
        { type: "function_call_result", callId, output: "ok" },
        { content: "ok", tool_call_id: callId },
      ),
    ),
    fc.array(words, { maxLength: 2 }).map((texts) => ({
      type: "message",
      role: "assistant",
      status: "completed",
      content: texts.map((one) => ({ type: "output_text", text: one })),
    })),
    fc.constant(item("assistant", { type: "message", role: "assistant", status: "completed", content: [] })),
  ),
  refused: (messages) =>
    messages.flatMap((one, i) => {
      const own = (one.agentItem ?? one) as Part;
      const next = (messages[i + 1]?.agentItem ?? messages[i + 1] ?? {}) as Part;
      const before = (messages[i - 1]?.agentItem ?? {}) as Part;
      if (own.type === "reasoning")
        return messages[i + 1]?.role === "assistant" ? [] : ["reasoning without its item"];
      if (own.type === "function_call")
        return next.type === "function_call_result" && next.callId === own.callId
          ? []
          : ["a call without its result"];
      if (own.type === "function_call_result")
        return before.type === "function_call" && before.callId === own.callId
          ? []
          : ["a result without its call"];
      if (typeof own.content === "string") return isBlank(own.content) ? ["an empty message"] : [];
      const isEmpty = list(own.content).length === 0 || list(own.content).some((part) => isBlank(part.text));
      return isEmpty ? ["an empty message"] : [];
    }),
};
