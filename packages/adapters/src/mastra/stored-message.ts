import type { MastraDBMessage } from "@mastra/core/agent";
import { field } from "../../../../src/domain/conversation/message.ts";
import type { Message, StoredMessage } from "../../../client/src/index.ts";

/** The fields of a Mastra message besides role and parts, kept within Cairn's message. */
type Rest = Record<string, unknown> & { createdAt: string; content: unknown };

/** The stored message with the seq of its first version. */
export const withFirst = (stored: Message, firstSeq: number | undefined): Message =>
  firstSeq === undefined ? stored : { ...stored, mastra: { ...Object(stored.mastra), firstSeq } };

/** The place of a stored message among the others of its thread. */
export function firstSeqOf({ seq, message }: StoredMessage): number {
  const first = field(field(message, "mastra"), "firstSeq");
  return typeof first === "number" ? first : seq;
}

/**
 * A message in the AI SDK's shape, for storage in a Cairn thread that other clients read. For clients that read no
 * parts, `content` repeats the text.
 */
export function storedOf({ role, content, ...rest }: MastraDBMessage): Message & { id: string } {
  // An untyped caller may give a string.
  const given: unknown = content;
  const about = { ...rest, createdAt: new Date(rest.createdAt).toISOString() };
  if (typeof given !== "object" || given === null || !("parts" in given) || !Array.isArray(given.parts))
    return {
      role,
      id: rest.id,
      content: typeof given === "string" ? given : null,
      mastra: { ...about, content: given },
    };
  const { parts, ...more } = given;
  return { role, id: rest.id, content: textOf(parts), parts, mastra: { ...about, content: more } };
}

/** The Mastra message of a stored one; a message of another client is converted to text. */
export function messageOf(
  { seq, message, createdAt }: StoredMessage,
  thread: { id: string; resourceId?: string | undefined },
): MastraDBMessage | undefined {
  const { role, parts, mastra } = message;
  if (typeof mastra !== "object" || mastra === null) {
    const text = textIn(message);
    if (text === "") return undefined;
    const id = typeof message.id === "string" ? message.id : `${thread.id}:${seq}`;
    const content = { format: 2, parts: [{ type: "text", text }], content: text };
    // Another client may use other roles.
    return {
      id,
      role,
      createdAt: new Date(createdAt),
      threadId: thread.id,
      resourceId: thread.resourceId,
      content,
    } as MastraDBMessage;
  }
  // `storedOf` wrote it.
  const { content, firstSeq: _, ...rest } = mastra as Rest;
  const whole = Array.isArray(parts) ? { ...(content as object), parts } : content;
  return { ...rest, role, createdAt: new Date(rest.createdAt), content: whole } as unknown as MastraDBMessage;
}

/** The longest text to repeat in `content`, in characters: a message has 8 MiB. */
const MOST = 100_000;

/** Null without text, or with too much. */
function textOf(parts: readonly unknown[]): string | null {
  const text = textIn({ parts: parts.filter((part) => field(part, "type") === "text") });
  return text === "" || text.length > MOST ? null : text;
}

function textIn({ content, parts }: Record<string, unknown>): string {
  const said = content ?? parts;
  if (typeof said === "string") return said;
  if (!Array.isArray(said)) return "";
  return said
    .flatMap((part: unknown) =>
      typeof part === "object" && part !== null && "text" in part ? [part.text] : [],
    )
    .filter((text) => typeof text === "string")
    .join("\n");
}
