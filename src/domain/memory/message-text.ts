import { shownName } from "../conversation/speakers.ts";
import { limits } from "../limits.ts";

/** The fields of a message that hold text, in any SDK's shape. */
export type MessageText = { content?: unknown; parts?: unknown; name?: unknown; speaker?: unknown };

/**
 * The text that search indexes of a message: the name of its speaker, then its text parts without a model's reasoning. At most
 * `limits.searchableText` characters; `cut` if there are more. Empty for a message without text (an image, a tool call).
 */
export function searchableText(message: MessageText): { text: string; cut: boolean } {
  const text = partsText(message.content ?? message.parts);
  const name = text === "" ? null : shownName(message);
  const spoken = name === null ? text : `${name}: ${text}`;
  const searched = spoken.slice(0, limits.searchableText).toWellFormed();
  return { text: searched, cut: searched.length < spoken.length };
}

/** The text that the sender wrote in a message: without its name, attachments and results of tools. At most as long as the searched one. */
export const writtenText = (message: MessageText): string =>
  partsText(message.content ?? message.parts, isWritten)
    .slice(0, limits.searchableText)
    .toWellFormed();

function partsText(content: unknown, isTaken = isTextPart): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.map((part: unknown) =>
    isTaken(part) ? part.text : typeof part === "string" ? part : "",
  );
  return texts.filter((text) => text !== "").join("\n");
}

/** Reasoning is not searched: it holds guesses and rejected answers. */
const THOUGHTS: ReadonlySet<unknown> = new Set(["reasoning", "reasoning_text", "thinking"]);

const isTextPart = (part: unknown): part is { text: string } =>
  typeof part === "object" &&
  part !== null &&
  "text" in part &&
  typeof part.text === "string" &&
  !("type" in part && THOUGHTS.has(part.type));

/** The types of parts in which SDKs put what somebody wrote. Google's have none. */
const WRITTEN: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);

const isWritten = (part: unknown): part is { text: string } =>
  isTextPart(part) && (!("type" in part) || WRITTEN.has(part.type));
