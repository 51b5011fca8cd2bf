import { limits } from "../limits.ts";
import type { Message } from "../schema/thread.ts";

/**
 * What is searched of a message: its text parts without a model's reasoning, and the speaker's name before them if the
 * message has a `name`; the first `limits.searchableText` characters, and whether that is a part only. Empty for a message
 * without text (an image, a tool call).
 */
export function searchableText(message: Message): { text: string; cut: boolean } {
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

/** What a model thinks is not said: whoever asks what was said would find guesses, and what it decided against. */
const THOUGHTS: ReadonlySet<unknown> = new Set(["reasoning", "reasoning_text", "thinking"]);

const isTextPart = (part: unknown): part is { text: string } =>
  typeof part === "object" &&
  part !== null &&
  "text" in part &&
  typeof part.text === "string" &&
  !("type" in part && THOUGHTS.has(part.type));
