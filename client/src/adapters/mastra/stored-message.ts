import type { MastraDBMessage } from "@mastra/core/agent";
import { field } from "../../../../src/domain/conversation/message.ts";
import type { Message, StoredMessage } from "../../index.ts";

/** What a Mastra message is besides a role and parts, as Cairn's message carries it. */
type Rest = Record<string, unknown> & { createdAt: string; content: unknown };

/**
 * A message as it stands in a Cairn thread: in the shape of the AI SDK, which other clients read too; for those that read no
 * parts, its text is the `content` beside them.
 */
export function storedOf({ role, content, ...rest }: MastraDBMessage): Message & { id: string } {
  // What a caller without types gives as content may be a text.
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

/** The Mastra message of a message in a Cairn thread; of one that another client appended, what it says as text. */
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
    // Roles are whatever the other client calls them.
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
  const { content, ...rest } = mastra as Rest;
  const whole = Array.isArray(parts) ? { ...(content as object), parts } : content;
  return { ...rest, role, createdAt: new Date(rest.createdAt), content: whole } as unknown as MastraDBMessage;
}

/** Characters of a text that is stored twice: a longer one has only its parts, since a message holds 8 MiB. */
const MOST = 100_000;

/** Null if there is no text, or too much. */
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
