// Tool calls and results outside of prompt parts, as OpenAI, `useChat` and Mastra write them.
import { type AnyMessage, field, listField, textField } from "./message.ts";

/** A call in a message's list of calls. `input` as stored: a JSON text in OpenAI's format. */
type ListedCall = { id: string; name: string; input: unknown };

/** The calls in `toolCalls` (Cairn) and `tool_calls` (OpenAI). Skips a call without id or name. */
export function listedCalls(message: AnyMessage): ListedCall[] {
  const calls = [...listField(message, "toolCalls"), ...listField(message, "tool_calls")];
  return calls.flatMap((call) => {
    const named = field(call, "function") ?? call;
    const [id, name] = [textField(call, "id"), textField(named, "name")];
    return id === undefined || name === undefined
      ? []
      : [{ id, name, input: field(named, "arguments") ?? {} }];
  });
}

/** A part with a call, and its outcome if known: a message of `useChat` or Mastra. */
export type Invocation = {
  id: string;
  name: string;
  input: unknown;
  /** The provider executed the call. */
  byProvider: boolean;
  /** `value`: the result, or the reason of the failure. */
  outcome: { kind: "result" | "failure" | "denial"; value: unknown } | undefined;
};

/** The AI SDK's parts of a prompt, which also begin with `tool-`. */
const PROMPT_PARTS = new Set(["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"]);

export function invocationIn(part: unknown): Invocation | undefined {
  const type = textField(part, "type") ?? "";
  if (PROMPT_PARTS.has(type) || !(type === "dynamic-tool" || type.startsWith("tool-"))) return undefined;
  // Mastra nests the call one level deeper, with its own names.
  const invocation = type === "tool-invocation" ? field(part, "toolInvocation") : part;
  const id = textField(invocation, "toolCallId");
  const named = type === "tool-invocation" || type === "dynamic-tool";
  const name = named ? textField(invocation, "toolName") : type.slice("tool-".length);
  if (id === undefined || name === undefined || field(invocation, "state") === undefined) return undefined;
  return {
    id,
    name,
    input: field(invocation, "input") ?? field(invocation, "args") ?? {},
    byProvider: field(part, "providerExecuted") === true,
    outcome: outcomeIn(invocation),
  };
}

function outcomeIn(invocation: unknown): Invocation["outcome"] {
  switch (field(invocation, "state")) {
    case "output-error":
      return { kind: "failure", value: textField(invocation, "errorText") ?? "The tool failed." };
    case "output-denied":
      return { kind: "denial", value: "It was not allowed." };
    case "output-available":
    case "result": {
      const value = field(invocation, "output") ?? field(invocation, "result") ?? null;
      return { kind: field(invocation, "isError") === true ? "failure" : "result", value };
    }
    default:
      return undefined;
  }
}
