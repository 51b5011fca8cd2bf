import { field, listField, textField } from "../../../../src/domain/conversation/message.ts";

/** The text of a message, one part on a line; only parts of type `text` unless others are given. */
export function textOf(
  message: { role: string; content: unknown },
  wanted = (part: unknown) => field(part, "type") === "text",
): string {
  if (typeof message.content === "string") return message.content;
  return listField(message, "content")
    .filter(wanted)
    .flatMap((part) => textField(part, "text") || [])
    .join("\n");
}
