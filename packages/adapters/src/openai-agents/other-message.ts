// Converts another adapter's message to items: texts, tool calls and results.
import type { AgentInputItem } from "@openai/agents-core";
import { field, listField, textField } from "../../../../src/domain/conversation/message.ts";
import { invocationIn, listedCalls } from "../../../../src/domain/conversation/tool-call-formats.ts";
import type { Message } from "../../../client/src/shapes.ts";

/** A tool call or result, in any shape of src/domain/conversation/tool-call-formats.ts. */
type ToolMessagePart = { callId: string; name: string | undefined; call?: unknown; result?: unknown };

/** `names` maps ids of calls to names of tools, which some results lack. Images and files give no item. */
export function itemsOfOther(message: Message, names: Map<string, string>): AgentInputItem[] {
  const parts = [...listField(message, "content"), ...listField(message, "parts")];
  const inParts = parts.flatMap(toolPartIn);
  // A field and a part may repeat one result.
  const toolParts = [
    ...inParts,
    ...listedCalls(message).map(({ id, name, input }): ToolMessagePart => ({
      callId: id,
      name,
      call: input,
    })),
    ...(inParts.length === 0 ? wholeResult(message) : []),
  ];
  for (const { callId, name } of toolParts) if (name !== undefined) names.set(callId, name);
  const calls = toolParts.flatMap(({ callId, call }) =>
    call === undefined ? [] : [callItem(callId, names, call)],
  );
  const results = toolParts.flatMap(({ callId, result }) =>
    result === undefined ? [] : [resultItem(callId, names, result)],
  );
  const text = typeof message.content === "string" ? message.content : textOf(parts);
  const said = saidItem(message.role, text);
  // Anthropic puts results before the text of the user's message.
  return message.role === "user" ? [...results, ...said] : [...said, ...calls, ...results];
}

function saidItem(role: string, text: string): AgentInputItem[] {
  if (text === "") return [];
  if (role === "assistant")
    return [{ type: "message", role, status: "completed", content: [{ type: "output_text", text }] }];
  if (role === "user") return [{ type: "message", role, content: text }];
  if (role === "system" || role === "developer") return [{ type: "message", role: "system", content: text }];
  return [];
}

const callItem = (callId: string, names: ReadonlyMap<string, string>, given: unknown): AgentInputItem => ({
  type: "function_call",
  status: "completed",
  callId,
  name: names.get(callId) ?? "unknown",
  arguments: typeof given === "string" ? given : JSON.stringify(given),
});

const resultItem = (callId: string, names: ReadonlyMap<string, string>, result: unknown): AgentInputItem => ({
  type: "function_call_result",
  status: "completed",
  callId,
  name: names.get(callId) ?? "unknown",
  output: { type: "text", text: outputText(result) },
});

/** A tool message that is one single result; in the AI SDK, its parts are the results. */
function wholeResult(message: Message): ToolMessagePart[] {
  const id = textField(message, "toolCallId") ?? textField(message, "tool_call_id");
  return message.role === "tool" ? toolPart(id, undefined, { result: message.content ?? "" }) : [];
}

function toolPartIn(part: unknown): ToolMessagePart[] {
  const type = textField(part, "type") ?? "";
  const id = textField(part, "toolCallId");
  if (type === "tool-call")
    return toolPart(id, textField(part, "toolName"), { call: field(part, "input") ?? {} });
  if (type === "tool-result")
    return toolPart(id, textField(part, "toolName"), { result: field(part, "output") ?? "" });
  if (type === "tool_use")
    return toolPart(textField(part, "id"), textField(part, "name"), { call: field(part, "input") ?? {} });
  if (type === "tool_result")
    return toolPart(textField(part, "tool_use_id"), undefined, { result: field(part, "content") ?? "" });
  const invocation = invocationIn(part);
  if (invocation === undefined) return [];
  const { id: callId, name, input, outcome } = invocation;
  return [{ callId, name, call: input, result: outcome?.value }];
}

const toolPart = (
  callId: string | undefined,
  name: string | undefined,
  what: { call?: unknown; result?: unknown },
): ToolMessagePart[] => (callId === undefined ? [] : [{ callId, name, ...what }]);

/** The AI SDK wraps the output's value; others do not. */
function outputText(output: unknown): string {
  const value = field(output, "value") ?? output;
  if (typeof value === "string") return value;
  return (Array.isArray(value) && textOf(value)) || JSON.stringify(value);
}

const TEXTS: readonly unknown[] = ["text", "input_text", "output_text"];

/** Text parts without reasoning, which nobody said. */
const textOf = (parts: readonly unknown[]): string =>
  parts
    .flatMap((part) => (TEXTS.includes(field(part, "type")) ? (textField(part, "text") ?? []) : []))
    .filter((text) => text !== "")
    .join("\n");
