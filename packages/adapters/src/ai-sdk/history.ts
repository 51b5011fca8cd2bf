import { listField } from "../../../../src/domain/conversation/message.ts";
import { sanitizeConversation } from "../../../../src/domain/conversation/sanitize.ts";
import { givenResults, requestedCalls } from "../../../../src/domain/conversation/tool-calls.ts";
import { withBlock } from "../../../../src/domain/context/prompted-message.ts";
import type { Message } from "../../../client/src/shapes.ts";
import type { HistoryMessage } from "../context/prompt-memory.ts";
import { hasInvocations, stepsOf } from "./invocations.ts";
import { callParts, partOf, partsOf, toolParts, wholeResult } from "./parts.ts";
import { textOf } from "./message-text.ts";
import type { Prompt, PromptMessage } from "./sdk.ts";

/** A message of a thread; with a compaction, it is a summary of others. `block`: what its prompt had before it. */
type Stored = { message: Readonly<Record<string, unknown>> } & Pick<HistoryMessage, "compaction" | "block">;

/**
 * Converts stored messages of any adapter for a model. Summaries come first, then from a user's message on, each call
 * with its result. Leaves out messages that the prompt repeats. Leaves out instructions too: a writer to the thread
 * must not instruct the model.
 */
export function promptOf(stored: readonly Stored[], prompt: Prompt): PromptMessage[] {
  const names = new Map<string, string>();
  const blocks = new Map<PromptMessage, string>();
  const messages = stored.flatMap(({ message: given, compaction, block }) => {
    // Stored messages have a role.
    const message = given as Message;
    if (compaction === undefined && isInstruction(message)) return [];
    const made = promptMessages(message, names);
    if (block !== undefined) for (const one of made) blocks.set(one, block);
    return made;
  });
  // Repetitions go first: of a turn that continues in the prompt, only a part is stored.
  const before = withoutRepeated(
    messages,
    prompt.filter(({ role }) => role !== "system"),
  );
  const told = before.map((message) => {
    const block = blocks.get(message);
    return block === undefined ? message : withBlock(message, block);
  });
  const fresh = sanitizeConversation(told);
  const summaries = fresh.filter(({ role }) => role === "system");
  const said = fresh.filter(({ role }) => role !== "system");
  const first = said.findIndex(({ role }) => role === "user");
  return [...summaries, ...(first < 0 ? [] : said.slice(first))];
}

const isInstruction = ({ role }: Message): boolean => role === "system" || role === "developer";

/** Drops the longest end of `messages` that equals the beginning of `prompt`. */
function withoutRepeated(messages: readonly PromptMessage[], prompt: Prompt): readonly PromptMessage[] {
  const begins = (at: number) => messages.slice(at).every((message, i) => same(message, prompt[i]));
  const at = messages.findIndex((_, i) => messages.length - i <= prompt.length && begins(i));
  return at < 0 ? messages : messages.slice(0, at);
}

/** Compares texts, calls and results; other fields change in transit. */
const same = (one: PromptMessage, other: PromptMessage | undefined): boolean =>
  other !== undefined && signature(one) === signature(other);

const signature = (message: PromptMessage): string =>
  JSON.stringify([message.role, textOf(message), requestedCalls(message), givenResults(message)]);

/** `names` maps ids of calls to names of tools, which OpenAI's results lack. */
function promptMessages(message: Message, names: Map<string, string>): PromptMessage[] {
  switch (message.role) {
    case "system":
    case "developer": {
      const content = textOf({ role: message.role, content: partsOf(message) });
      return content === "" ? [] : [{ role: "system", content }];
    }
    case "user": {
      const content = partsOf(message).filter((part) => part.type === "text" || part.type === "file");
      return content.length === 0 ? [] : [{ role: "user", content, ...options(message) }];
    }
    case "assistant": {
      const parts = listField(message, "parts");
      if (hasInvocations(parts))
        return stepsOf(parts, partOf).map((step) => ({ ...step, ...options(message) }));
      const content = [...partsOf(message), ...callParts(message)];
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
