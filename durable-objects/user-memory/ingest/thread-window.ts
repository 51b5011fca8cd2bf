import { isOfOwner, speakerOf, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { EARLIER } from "../../../src/domain/ingest/checks/check-fact.ts";
import type { SourceMessage } from "../../../src/domain/ingest/proposal.ts";
import type { Window } from "../../../src/domain/ingest/window.ts";
import { writtenText } from "../../../src/domain/memory/message-text.ts";
import type { ReadMessage } from "../../../src/domain/page-json.ts";
import { parsed } from "../threads/message-documents.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadReader } from "../threads/thread-reader.ts";

/** Messages, and characters of them, that one call of a model gets. */
const MESSAGES = 40;
const CHARACTERS = 12_000;
/** Messages that one step reads, with those without text. */
const READ = 400;
/** Messages before the window that a model gets. */
const CONTEXT = 4;
/** Messages behind a cited one that may take it back: an assistant's and a user's. */
const BEHIND = 2;

/**
 * The first messages behind a seq up to another, with those before them. Messages without text are left out. `last`: the seq up to
 * which all were read, which is `upTo` if there are no more.
 */
export function windowAfter(
  reader: Pick<ThreadReader, "walk">,
  thread: StoredThread,
  { after, upTo, most = MESSAGES }: { after: number; upTo: number; most?: number },
): Window & { last: number } {
  const messages: SourceMessage[] = [];
  const upToSeq = (last: number) => {
    const [first] = messages;
    return { context: first === undefined ? [] : messagesBefore(reader, thread, first.seq), messages, last };
  };
  let [last, characters, read] = [after, 0, 0];
  for (const stored of reader.walk(thread, { order: "oldest", from: after, view: "raw" })) {
    if (stored.seq > upTo) break;
    const message = sourceMessage(thread, stored);
    characters += message.text.length;
    // A message longer than a window is a window of its own.
    const isFull = messages.length === most || (characters > CHARACTERS && messages.length > 0);
    if (isFull || ++read > READ) return upToSeq(last);
    last = stored.seq;
    if (message.text !== "") messages.push(message);
  }
  return upToSeq(upTo);
}

/** The messages with these seqs and those around each, which the checks read too, in the order of the thread. */
export function messagesAround(
  reader: Pick<ThreadReader, "walk">,
  thread: StoredThread,
  seqs: readonly number[],
): SourceMessage[] {
  const all = [...new Set(seqs)].toSorted((a, b) => a - b);
  const found = all.flatMap((seq, i) => [
    // No message is read twice.
    ...messagesBefore(reader, thread, seq + 1, Math.min(EARLIER + 1, seq - (all[i - 1] ?? 0))),
    ...messagesBehind(reader, thread, seq),
  ]);
  return inOrder(found);
}

/** The messages of a window, with those around it that the checks read too. */
export function widened(
  reader: Pick<ThreadReader, "walk">,
  thread: StoredThread,
  messages: readonly SourceMessage[],
): SourceMessage[] {
  const [first, last] = [messages[0], messages.at(-1)];
  if (first === undefined || last === undefined) return [];
  return inOrder([
    ...messagesBefore(reader, thread, first.seq, EARLIER),
    ...messages,
    ...messagesBehind(reader, thread, last.seq),
  ]);
}

const inOrder = (messages: readonly SourceMessage[]): SourceMessage[] =>
  [...new Map(messages.map((message) => [message.seq, message])).values()].toSorted((a, b) => a.seq - b.seq);

function messagesBefore(
  reader: Pick<ThreadReader, "walk">,
  thread: StoredThread,
  seq: number,
  most = CONTEXT,
): SourceMessage[] {
  const walk = reader.walk(thread, { order: "newest", from: seq, view: "raw", slice: most });
  return written(thread, Iterator.from(walk).take(most)).toReversed();
}

function messagesBehind(
  reader: Pick<ThreadReader, "walk">,
  thread: StoredThread,
  seq: number,
): SourceMessage[] {
  const walk = reader.walk(thread, { order: "oldest", from: seq, view: "raw", slice: BEHIND });
  return written(thread, Iterator.from(walk).take(BEHIND));
}

const written = (thread: StoredThread, some: Iterable<ReadMessage>): SourceMessage[] =>
  Array.from(some, (stored) => sourceMessage(thread, stored)).filter(({ text }) => text !== "");

function sourceMessage({ speakers }: StoredThread, { seq, body, createdAt }: ReadMessage): SourceMessage {
  const message = parsed(body);
  return {
    seq,
    role: message.role,
    speaker: speakerOf(message),
    isOwner: isOfOwner(message, speakers ?? UNNAMED),
    text: writtenText(message),
    at: createdAt,
  };
}
