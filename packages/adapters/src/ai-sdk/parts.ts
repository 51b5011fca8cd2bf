import { field, listField, textField } from "../../../../src/domain/conversation/message.ts";
import { listedCalls } from "../../../../src/domain/conversation/tool-call-formats.ts";
import type { Message } from "../../../client/src/shapes.ts";
import { textOf } from "./message-text.ts";
import type { AssistantPart, PromptMessage } from "./sdk.ts";

/** The part types of the SDK, each with its required string fields. */
const OWN = new Map([
  ["text", ["text"]],
  ["reasoning", ["text"]],
  ["file", ["mediaType"]],
  ["reasoning-file", ["mediaType"]],
  ["custom", ["kind"]],
  ["tool-call", ["toolCallId", "toolName"]],
  ["tool-result", ["toolCallId", "toolName"]],
  ["tool-approval-response", ["approvalId"]],
]);

function isOwn(part: unknown): part is AssistantPart | ToolPart {
  const type = textField(part, "type") ?? "";
  if (OWN.get(type)?.every((name) => textField(part, name) !== undefined) !== true) return false;
  if (type === "tool-result") return textField(field(part, "output"), "type") !== undefined;
  return !type.endsWith("file") || field(part, "data") !== undefined;
}

/**
 * The parts of a message in the SDK's own shape; in other shapes, the parts with text. If a message has `parts`, its
 * `content` repeats them.
 */
export function partsOf(message: Message): AssistantPart[] {
  const { content } = message;
  const parts = listField(message, "parts").flatMap(partOf);
  if (parts.length > 0) return parts;
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return listField(message, "content").flatMap(partOf);
}

export function partOf(part: unknown): AssistantPart[] {
  if (isOwn(part) && part.type !== "tool-approval-response") return [revived(part)];
  const text = textField(part, "text");
  return text === undefined ? [] : [{ type: "text", text }];
}

type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];

export const toolParts = (message: Message): ToolPart[] =>
  listField(message, "content").flatMap((part): ToolPart[] => {
    if (!isOwn(part)) return [];
    if (part.type === "tool-approval-response") return [part];
    return part.type === "tool-result" ? [revived(part)] : [];
  });

/** Restores a part's file data as in a prompt: a `URL`, or Base64. */
function revived<P extends AssistantPart>(part: P): P {
  if (part.type === "file" || part.type === "reasoning-file") return { ...part, data: fileData(part.data) };
  if (part.type !== "tool-result" || part.output.type !== "content") return part;
  const value = listField(part.output, "value").map((one) =>
    field(one, "type") === "file" ? { ...Object(one), data: fileData(field(one, "data")) } : one,
  );
  return { ...part, output: { ...part.output, value } };
}

function fileData(data: unknown): unknown {
  const url = field(data, "type") === "url" ? field(data, "url") : data;
  if (typeof url !== "string") return data;
  // Base64 has no colon.
  return url.includes(":") && URL.canParse(url)
    ? { type: "url", url: new URL(url) }
    : { type: "data", data: url };
}

/** The calls that a message holds in a separate list. */
export const callParts = (message: Message): AssistantPart[] =>
  listedCalls(message).map(({ id, name, input }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: parsed(input),
  }));

/** A tool message that is one single result, as Cairn and OpenAI write it. */
export function wholeResult(message: Message, names: ReadonlyMap<string, string>): ToolPart[] {
  const toolCallId = textField(message, "toolCallId") ?? textField(message, "tool_call_id");
  const value = textOf({ role: message.role, content: partsOf(message) });
  if (toolCallId === undefined || toolParts(message).length > 0) return [];
  const toolName = names.get(toolCallId) ?? "unknown";
  return [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }];
}

function parsed(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}
