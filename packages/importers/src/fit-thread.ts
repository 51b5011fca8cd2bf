// A conversation of a source as lines of an export, which alone keep ids and times.
import { byteLength, isWithin, limits } from "../../../src/domain/limits.ts";
import {
  type CreateThreadBody,
  type Message,
  message as messageShape,
} from "../../../src/domain/schema/thread.ts";
import { isDeeper } from "./nesting.ts";
import type { Fitting } from "./fit.ts";
import { type FoundThread, inShort, type Remark } from "./source.ts";
import { threadIdOf } from "./thread-id.ts";

export type ImportedThread = {
  id: string;
  title: string;
  /** `importedFrom.messages` is the number of messages. */
  metadata: NonNullable<CreateThreadBody["metadata"]>;
  messages: readonly { message: Message; createdAt: number }[];
  /** The lines of an export, without those around them. */
  lines: readonly string[];
  bytes: number;
};

const UNTITLED = "New conversation";

/** The thread in the shape of an import; null if it has no message. */
export function fitThread(
  found: FoundThread,
  { source, owner, now }: Fitting,
): { thread: ImportedThread | null; remarks: Remark[] } {
  const example = inShort(found.title ?? "") || inShort(found.id);
  const remarks: Remark[] = [];
  const remark = (type: Remark["type"], reason: string, count = 1) =>
    void remarks.push({ type, reason, example, count });
  const said = found.messages.filter(({ message }) => {
    const wrong = wrongIn(message);
    if (wrong !== null) remark("skipped", wrong);
    return wrong === null;
  });
  if (said.length === 0) {
    remark("skipped", "conversations without messages");
    return { thread: null, remarks };
  }
  const createdAt = found.createdAt ?? said.find((one) => one.createdAt !== undefined)?.createdAt ?? now;
  const undated = said.filter((one) => one.createdAt === undefined).length;
  if (undated > 0)
    remark("changed", "messages without a time: that of the message before, or of the thread", undated);
  let last = createdAt;
  const messages = said.map(({ message, createdAt: at = last }) => {
    last = at;
    return { message, createdAt: at };
  });
  const { title, more } = titleOf(found);
  if (more.title !== undefined) remark("changed", "titles over 1,024 bytes: whole in the metadata");
  const id = threadIdOf(owner, source, found.id);
  const own = { source, messages: messages.length };
  const importedFrom = {
    ...found.more,
    ...more,
    ...(isWithin(found.id, limits.name) && { id: found.id }),
    ...own,
  };
  const isDeep = isDeeper({ importedFrom }, limits.metadataDepth);
  const fits = !isDeep && byteLength(JSON.stringify({ importedFrom })) <= limits.metadata;
  if (!fits)
    remark(
      "changed",
      `metadata ${isDeep ? `nested deeper than ${limits.metadataDepth}` : "over 10 KiB"}: left out`,
    );
  // It comes from a file of JSON.
  const metadata = { importedFrom: fits ? importedFrom : own } as ImportedThread["metadata"];
  const lines = [
    JSON.stringify({
      type: "thread",
      id,
      title,
      // Nobody who resumes a conversation of another agent comes into this one.
      agent: source,
      metadata,
      lastSeq: messages.length,
      createdAt,
      updatedAt: Math.max(found.updatedAt ?? last, createdAt),
    }),
    ...messages.map(({ message, createdAt: at }, i) =>
      JSON.stringify({ type: "message", threadId: id, seq: i + 1, createdAt: at, message }),
    ),
  ];
  const bytes = lines.reduce((sum, line) => sum + line.length, 0);
  return { thread: { id, title, metadata, messages, lines, bytes }, remarks };
}

function titleOf({ title }: FoundThread): { title: string; more: { title?: string } } {
  const whole = (title ?? "").toWellFormed() || UNTITLED;
  if (isWithin(whole, limits.name)) return { title: whole, more: {} };
  // No character has more than four bytes.
  return { title: whole.slice(0, limits.name / 4).toWellFormed(), more: { title: whole } };
}

function wrongIn(message: Message): string | null {
  if (isDeeper(message, limits.messageDepth)) return `messages nested deeper than ${limits.messageDepth}`;
  const parsed = messageShape.safeParse(message);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return `not a message: ${(issue?.path ?? []).join(".")} ${issue?.message ?? ""}`;
  }
  return byteLength(JSON.stringify(message)) > limits.message ? "messages over 8 MiB" : null;
}
