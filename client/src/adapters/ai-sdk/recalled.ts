import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { Hit } from "../../shapes.ts";
import { field, listField, textField } from "../../../../src/domain/conversation/message.ts";
import { memoryBlock } from "./block.ts";
import { guarded, type RecallingOptions } from "./options.ts";

const HITS = 8;
/** What a recall gives at most. */
const MOST_HITS = 100;
const MAX_TOKENS = 2_000;
/** The longest query that a recall takes, in bytes of UTF-8. It searches by the first and the last part of a long one. */
const QUERY_BYTES = 256 * 1024;

/** A message of the SDK's, as far as its text goes: of a prompt, or as a program writes it. */
export type MessageLike = { role: string; content: unknown };

/**
 * What is remembered that bears on what the user said last, best first. What a model once answered is left out unless it is
 * wanted: it may repeat what was corrected since.
 */
export async function recalled(
  options: RecallingOptions,
  messages: readonly MessageLike[],
  ended?: AbortSignal,
): Promise<readonly Hit[]> {
  const { memory, user, recall = {} } = options;
  const query = queryIn(messages);
  if (recall === false || query === "") return [];
  const { answers = false, k = HITS, ...how } = recall;
  // A recall leaves no role out: so more is asked for than is kept.
  const spare =
    answers || how.kinds?.includes("message") === false ? k : Math.max(k, Math.min(2 * k, MOST_HITS));
  return guarded<readonly Hit[]>(
    options,
    async (signal) => {
      const { hits } = await memory.recall(user, { ...how, k: spare, query }, { signal });
      return hits.filter(({ role }) => answers || role !== "assistant").slice(0, k);
    },
    { otherwise: [], failure: () => ({ doing: "recall" }), ended },
  );
}

/** The same as a model is shown it, without the messages that it is shown anyway. Undefined if there is nothing. */
export function recalledBlock(
  { maxTokenBudget = MAX_TOKENS }: RecallingOptions,
  hits: readonly Hit[],
  messages: readonly MessageLike[],
): string | undefined {
  const said = new Set(messages.map((message) => textOf(message, () => true)));
  const news = hits.filter(({ kind, text }) => kind !== "message" || !said.has(text));
  return memoryBlock(news, maxTokenBudget);
}

/** The messages with a text before what the user said last. */
export function withBlock<M extends MessageLike>(messages: readonly M[], block: string): M[] {
  const at = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, i) => {
    if (i !== at) return message;
    const { content } = message;
    const parts: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
    // A user's content may be parts in every shape that the SDK takes.
    return { ...message, content: [{ type: "text", text: block }, ...parts] };
  });
}

/** What a message says, its parts a line each: those of type `text`, unless others are wanted. */
export function textOf(
  message: MessageLike,
  wanted = (part: unknown) => field(part, "type") === "text",
): string {
  if (typeof message.content === "string") return message.content;
  return listField(message, "content")
    .filter(wanted)
    .flatMap((part) => textField(part, "text") || [])
    .join("\n");
}

function queryIn(messages: readonly MessageLike[]): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last === undefined ? "" : truncateUtf8(textOf(last).trim(), QUERY_BYTES);
}
