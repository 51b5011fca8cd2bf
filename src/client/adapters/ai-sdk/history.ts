import { field, listField, textField } from "../../../conversation/message.ts";
import { sanitizeConversation } from "../../../conversation/sanitize.ts";
import { givenResults, requestedCalls } from "../../../conversation/tool-calls.ts";
import type { Message } from "../../shapes.ts";
import type { AssistantPart, Prompt, PromptMessage } from "./sdk.ts";
import { textOf } from "./recalled.ts";

/**
 * Stored messages as a model takes them, of whatever adapter: each call with its result, beginning with a user's. What a
 * prompt goes on to say itself, as in a later step of a run, is left out.
 */
export function promptOf(stored: readonly Message[], prompt: Prompt): PromptMessage[] {
  const names = new Map<string, string>();
  const messages = stored.flatMap((message) => promptMessage(message, names));
  // First what is repeated, since of a turn that goes on in the prompt, only a part is stored.
  const before = withoutRepeated(
    messages,
    prompt.filter(({ role }) => role !== "system"),
  );
  const fresh = sanitizeConversation(before);
  const summaries = fresh.filter(({ role }) => role === "system");
  const said = fresh.filter(({ role }) => role !== "system");
  const first = said.findIndex(({ role }) => role === "user");
  return [...summaries, ...(first < 0 ? [] : said.slice(first))];
}

/** Without the end of `messages` that is the beginning of `prompt`. */
function withoutRepeated(messages: readonly PromptMessage[], prompt: Prompt): readonly PromptMessage[] {
  const begins = (at: number) => messages.slice(at).every((message, i) => same(message, prompt[i]));
  const at = messages.findIndex((_, i) => messages.length - i <= prompt.length && begins(i));
  return at < 0 ? messages : messages.slice(0, at);
}

/** Whether two messages say the same, and call and answer the same: what else they carry differs as they travel. */
const same = (one: PromptMessage, other: PromptMessage | undefined): boolean =>
  other !== undefined && signature(one) === signature(other);

const signature = (message: PromptMessage): string =>
  JSON.stringify([message.role, textOf(message), requestedCalls(message), givenResults(message)]);

/** `names`: of the tools that were called, by the calls' ids; OpenAI's results do not name them. */
function promptMessage(message: Message, names: Map<string, string>): PromptMessage[] {
  switch (message.role) {
    case "system":
    case "developer":
      return [{ role: "system", content: textOf({ ...message, content: message.content }) }];
    case "user": {
      const content = partsOf(message).filter((part) => part.type === "text" || part.type === "file");
      return content.length === 0 ? [] : [{ role: "user", content, ...options(message) }];
    }
    case "assistant": {
      const content = [...partsOf(message), ...listedCalls(message)];
      for (const part of content) if (part.type === "tool-call") names.set(part.toolCallId, part.toolName);
      return content.length === 0 ? [] : [{ role: "assistant", content, ...options(message) }];
    }
    case "tool": {
      const content = [...toolParts(message), ...wholeResult(message, names)];
      return content.length === 0 ? [] : [{ role: "tool", content, ...options(message) }];
    }
    default:
      return [];
  }
}

const options = ({ providerOptions }: Message): object =>
  typeof providerOptions === "object" && providerOptions !== null ? { providerOptions } : {};

const OWN = ["text", "reasoning", "file", "reasoning-file", "custom", "tool-call", "tool-result"];

/** The parts that the SDK knows; of another's, what has a text. */
function partsOf(message: Message): AssistantPart[] {
  const { content } = message;
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return [...listField(message, "content"), ...listField(message, "parts")].flatMap(
    (part): AssistantPart[] => {
      const type = textField(part, "type");
      if (type === "file" || type === "reasoning-file") return [withData(part as FilePart)];
      if (type !== undefined && OWN.includes(type)) return [part as AssistantPart]; // as this adapter stored it
      const text = textField(part, "text");
      return text === undefined ? [] : [{ type: "text", text }];
    },
  );
}

type FilePart = Extract<AssistantPart, { type: "file" }>;

/** A string of Base64 or a URL, told apart again. */
function withData(part: FilePart): FilePart {
  const data: unknown = part.data;
  if (typeof data !== "string") return part;
  // Base64 has no colon.
  return data.includes(":")
    ? { ...part, data: { type: "url", url: new URL(data) } }
    : { ...part, data: { type: "data", data } };
}

type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];

const toolParts = (message: Message): ToolPart[] =>
  listField(message, "content").filter((part): part is ToolPart =>
    ["tool-result", "tool-approval-response"].includes(textField(part, "type") ?? ""),
  );

/** Calls in a list of their own: `toolCalls` of Cairn, `tool_calls` of OpenAI. */
function listedCalls(message: Message): AssistantPart[] {
  const calls = [...listField(message, "toolCalls"), ...listField(message, "tool_calls")];
  return calls.flatMap((call): AssistantPart[] => {
    const named = field(call, "function") ?? call;
    const [toolCallId, toolName] = [textField(call, "id"), textField(named, "name")];
    if (toolCallId === undefined || toolName === undefined) return [];
    return [{ type: "tool-call", toolCallId, toolName, input: parsed(field(named, "arguments")) }];
  });
}

/** A tool message that is one result as a whole, as those of Cairn and OpenAI. */
function wholeResult(message: Message, names: ReadonlyMap<string, string>): ToolPart[] {
  const toolCallId = textField(message, "toolCallId") ?? textField(message, "tool_call_id");
  const value = textOf({ ...message, content: message.content });
  if (toolCallId === undefined || toolParts(message).length > 0) return [];
  const toolName = names.get(toolCallId) ?? "unknown";
  return [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value } }];
}

function parsed(input: unknown): unknown {
  if (typeof input !== "string") return input ?? {};
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}
