// What messages tell of tool calls and results where these are no parts of a prompt, in the shapes of tool-calls.ts.
import { type AnyMessage, field, listField, textField } from "./message.ts";

/** A call that stands in a list of its own; `input` as it was stored: of OpenAI a JSON text. */
export type ListedCall = { id: string; name: string; input: unknown };

/** Of `toolCalls` (Cairn) and `tool_calls` (OpenAI); what has no id or no name is left out. */
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

/** A part that is a call, and its outcome once that is there, as in the messages of `useChat` and of Mastra. */
export type Invocation = {
  id: string;
  name: string;
  input: unknown;
  /** Whether the provider carried it out itself. */
  byProvider: boolean;
  /** `value`: what it gave, or why it failed. */
  outcome: { kind: "result" | "failure" | "denial"; value: unknown } | undefined;
};

/** The AI SDK's own parts of a prompt, whose names begin alike. */
const PROMPT_PARTS = new Set(["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"]);

export function invocationIn(part: unknown): Invocation | undefined {
  const type = textField(part, "type") ?? "";
  if (PROMPT_PARTS.has(type) || !(type === "dynamic-tool" || type.startsWith("tool-"))) return undefined;
  // Mastra's has what is said of a call one level deeper, and its own names for it.
  const told = type === "tool-invocation" ? field(part, "toolInvocation") : part;
  const id = textField(told, "toolCallId");
  const named = type === "tool-invocation" || type === "dynamic-tool";
  const name = named ? textField(told, "toolName") : type.slice("tool-".length);
  if (id === undefined || name === undefined || field(told, "state") === undefined) return undefined;
  return {
    id,
    name,
    input: field(told, "input") ?? field(told, "args") ?? {},
    byProvider: field(part, "providerExecuted") === true,
    outcome: outcomeIn(told),
  };
}

function outcomeIn(told: unknown): Invocation["outcome"] {
  switch (field(told, "state")) {
    case "output-error":
      return { kind: "failure", value: textField(told, "errorText") ?? "The tool failed." };
    case "output-denied":
      return { kind: "denial", value: "It was not allowed." };
    case "output-available":
    case "result": {
      const value = field(told, "output") ?? field(told, "result") ?? null;
      return { kind: field(told, "isError") === true ? "failure" : "result", value };
    }
    default:
      return undefined;
  }
}
