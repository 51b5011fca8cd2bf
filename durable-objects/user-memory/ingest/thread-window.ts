import { isOfOwner, speakerOf, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import { EARLIER } from "../../../src/domain/ingest/checks/check-fact.ts";
import type { SourceMessage, Window } from "../../../src/domain/ingest/proposal.ts";
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

/** A thread, and what reads its messages. */
type From = { reader: Pick<ThreadReader, "walk">; thread: StoredThread };

/**
 * The first messages behind a seq up to another, with those before them. Messages without text are left out. `last`: the seq up to
 * which all were read, which is `upTo` if there are no more.
 */
export function windowAfter(
  from: From,
  { after, upTo, most = MESSAGES }: { after: number; upTo: number; most?: number },
): Window & { last: number } {
  const messages: SourceMessage[] = [];
  const windowTo = (last: number) => {
    const [first] = messages;
    return { context: first ? inOrder(near(from, "newest", first.seq, CONTEXT)) : [], messages, last };
  };
  let [last, characters, read] = [after, 0, 0];
  for (const stored of from.reader.walk(from.thread, { order: "oldest", from: after, view: "raw" })) {
    if (stored.seq > upTo) break;
    const message = sourceMessage(from.thread, stored);
    characters += message.text.length;
    // A message longer than a window is a window of its own.
    const isFull = messages.length === most || (characters > CHARACTERS && messages.length > 0);
    if (isFull || ++read > READ) return windowTo(last);
    last = stored.seq;
    if (message.text !== "") messages.push(message);
  }
  return windowTo(upTo);
}

/** The messages with these seqs and those around each, which the checks read too, in the order of the thread. */
export function messagesAround(from: From, seqs: readonly number[]): SourceMessage[] {
  const all = [...new Set(seqs)].toSorted((a, b) => a - b);
  return inOrder(
    all.flatMap((seq, i) => [
      // No message is read twice.
      ...near(from, "newest", seq + 1, Math.min(EARLIER + 1, seq - (all[i - 1] ?? 0))),
      ...near(from, "oldest", seq, BEHIND),
    ]),
  );
}

/** The messages of a window, with those around it that the checks read too. */
export function widened(from: From, messages: readonly SourceMessage[]): SourceMessage[] {
  const [first, last] = [messages[0], messages.at(-1)];
  if (first === undefined || last === undefined) return [];
  const before = near(from, "newest", first.seq, EARLIER);
  return inOrder([...before, ...messages, ...near(from, "oldest", last.seq, BEHIND)]);
}

const inOrder = (messages: readonly SourceMessage[]): SourceMessage[] =>
  [...new Map(messages.map((message) => [message.seq, message])).values()].toSorted((a, b) => a.seq - b.seq);

/** The messages with a text among so many before a seq (`newest`) or behind it. */
function near(
  { reader, thread }: From,
  order: "newest" | "oldest",
  seq: number,
  most: number,
): SourceMessage[] {
  const walk = reader.walk(thread, { order, from: seq, view: "raw", slice: most }).take(most);
  return Array.from(walk, (stored) => sourceMessage(thread, stored)).filter(({ text }) => text !== "");
}

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
