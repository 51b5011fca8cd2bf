import type { CacheControlEphemeral } from "@anthropic-ai/sdk/resources/messages";

type Marked = { cache_control?: CacheControlEphemeral | null };

/** A block of a system prompt or a message. */
export type Block = Marked & { type: string; text?: unknown };
export type TextBlock = Marked & { type: "text"; text: string };

/** The part that memory reads and changes of a request to the Messages API, to its beta, or of a tool runner. */
export type MessagesRequest = Marked & {
  model: string;
  system?: string | readonly TextBlock[];
  messages: readonly { role: string; content?: string | readonly Block[] }[];
  tools?: readonly object[];
};
type RequestMessage = MessagesRequest["messages"][number];

export const textBlock = (text: string): TextBlock => ({ type: "text", text });

/** A prompt's text as blocks; an empty one has none, since the API refuses it. */
export function blocksOf<B extends Block>(
  content: string | readonly B[] | undefined,
): readonly (B | TextBlock)[] {
  if (typeof content !== "string") return content ?? [];
  return content === "" ? [] : [textBlock(content)];
}

/**
 * The messages with the blocks of memory before what the user says, behind the results of tools, which the API wants first. Each
 * of the user's messages gets blocks, so that its bytes do not depend on a breakpoint.
 */
export const withMemoryBlocks = (
  messages: readonly RequestMessage[],
  blocks: ReadonlyMap<number, string>,
): RequestMessage[] =>
  messages.map((message, index) => {
    if (message.role !== "user") return message;
    const content = blocksOf(message.content);
    const block = blocks.get(index);
    const results = content.findLastIndex(({ type }) => type === "tool_result") + 1;
    return {
      ...message,
      content: block === undefined ? content : content.toSpliced(results, 0, textBlock(block)),
    };
  });
