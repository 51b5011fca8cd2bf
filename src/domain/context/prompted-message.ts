/** A user's message as a model gets it: the turn's block, then what the user said. Its other fields stay. */
export function withBlock<M extends { content?: unknown }>(message: M, block: string): M {
  const { content } = message;
  if (typeof content === "string") return { ...message, content: `${block}\n\n${content}` };
  const field = Array.isArray(content) ? "content" : "parts";
  const parts: unknown = field in message ? message[field as keyof M] : undefined;
  return { ...message, [field]: [{ type: "text", text: block }, ...(Array.isArray(parts) ? parts : [])] };
}
