import { limits } from "../limits.ts";

/** The fields of a message that hold text, in any SDK's shape. */
export type MessageText = { content?: unknown; parts?: unknown; name?: unknown };

/**
 * The text that search indexes of a message: its `name`, then its text parts without a model's reasoning. At most
 * `limits.searchableText` characters; `cut` if there are more. Empty for a message without text (an image, a tool call).
 */
export function searchableText(message: MessageText): { text: string; cut: boolean } {
  const text = partsText(message.content ?? message.parts);
  const spoken = typeof message.name === "string" && text !== "" ? `${message.name}: ${text}` : text;
  const searched = spoken.slice(0, limits.searchableText).toWellFormed();
  return { text: searched, cut: searched.length < spoken.length };
}

function partsText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: unknown) => {
      if (typeof part === "string") return part;
      return isTextPart(part) ? part.text : "";
    })
    .filter((text) => text !== "")
    .join("\n");
}

/** Reasoning is not searched: it holds guesses and rejected answers. */
const THOUGHTS: ReadonlySet<unknown> = new Set(["reasoning", "reasoning_text", "thinking"]);

const isTextPart = (part: unknown): part is { text: string } =>
  typeof part === "object" &&
  part !== null &&
  "text" in part &&
  typeof part.text === "string" &&
  !("type" in part && THOUGHTS.has(part.type));
