/**
 * A user's message as a model gets it: the turn's block, then what the user said. Its other fields stay. The results of tools that
 * Anthropic's API puts into such a message stay first, as it requires.
 */
export function withBlock<M extends { content?: unknown }>(message: M, block: string): M {
  const { content } = message;
  if (typeof content === "string") return { ...message, content: `${block}\n\n${content}` };
  const field = Array.isArray(content) ? "content" : "parts";
  const parts: unknown = field in message ? message[field as keyof M] : undefined;
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  const results = list.findLastIndex(isToolResult) + 1;
  return { ...message, [field]: list.toSpliced(results, 0, { type: "text", text: block }) };
}

const isToolResult = (part: unknown): boolean =>
  typeof part === "object" && part !== null && "type" in part && part.type === "tool_result";
