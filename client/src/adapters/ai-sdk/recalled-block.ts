import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { Hit } from "../../shapes.ts";
import { field, listField, textField } from "../../../../src/domain/conversation/message.ts";
import { memoryBlock } from "./block.ts";
import { guarded, type RecallingOptions } from "./options.ts";

const HITS = 8;
/** The most hits of one recall. */
const MOST_HITS = 100;
const MAX_TOKENS = 2_000;
/** The longest query of a recall, in bytes of UTF-8. Recall searches by the first and last part of a long one. */
const QUERY_BYTES = 256 * 1024;

/** A message of the SDK, in a prompt or as a program writes it. */
type MessageLike = { role: string; content: unknown };

/**
 * Memories about the user's last message, best first. Leaves out the model's earlier answers unless wanted: they may
 * repeat corrected facts.
 */
export async function recallHits(
  options: RecallingOptions,
  messages: readonly MessageLike[],
  ended?: AbortSignal,
): Promise<readonly Hit[]> {
  const { memory, user, recall = {} } = options;
  const query = queryIn(messages);
  if (recall === false || query === "") return [];
  const { answers = false, k = HITS, ...how } = recall;
  // Recall cannot filter by role, so it requests more hits than it keeps.
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

/** The recalled memories as a block, without messages that the prompt already holds. Undefined if there are none. */
export function recalledBlock(
  { maxTokenBudget = MAX_TOKENS }: RecallingOptions,
  hits: readonly Hit[],
  messages: readonly MessageLike[],
): string | undefined {
  const said = new Set(messages.map((message) => textOf(message, () => true)));
  const news = hits.filter(({ kind, text }) => kind !== "message" || !said.has(text));
  return memoryBlock(news, maxTokenBudget);
}

/** Prepends the block to the user's last message, as a text part. */
export function withBlock<M extends MessageLike>(messages: readonly M[], block: string): M[] {
  const at = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, i) => {
    if (i !== at) return message;
    const { content } = message;
    const parts: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
    // A user's content may have parts in any shape that the SDK takes.
    return { ...message, content: [{ type: "text", text: block }, ...parts] };
  });
}

/** The text of a message, one part on a line; only parts of type `text` unless others are given. */
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
