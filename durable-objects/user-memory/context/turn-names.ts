import type { ContextRequest } from "../../../src/contract/user-memory.ts";
import { messageHash, turnNames, userText } from "../../../src/domain/context/message-hash.ts";
import { requestedCalls } from "../../../src/domain/conversation/tool-calls.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import { LAST_SEQ } from "../core/position.ts";
import { parsed } from "../threads/message-documents.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import { type ContextStore, placedName, type TurnQuery } from "./context-store.ts";

/** The messages at the end of a thread that a prompt is taken to hold. */
export const HELD = 20;
/** Messages that are looked at for an answer, or for those that a prompt holds. */
const LOOKED_AT = 400;
/** Messages of the user that are read besides as many as a prompt has: it may be of an earlier turn. */
const FURTHER = 16;

/** A thread, and the stores of its messages and of its turns. */
type Source = {
  stores: ThreadStores;
  store: Pick<ContextStore, "turnNames">;
  thread: StoredThread;
};
/** The user's last messages, in their order; `isWhole`: all of the thread's. */
type Tail = { messages: { seq: number; hash: string }[]; isWhole: boolean };
/**
 * The user's messages in a prompt, by their hashes. `at`: where the tail of the thread has each, its end for one that it lacks; null:
 * unknown. With `hasCurrent`, the last one is asked now.
 */
type Prompted = { hashes: readonly string[]; at: readonly (number | null)[]; hasCurrent: boolean };
/** The current turn, without a name where nothing is asked, and the earlier ones of a prompt. */
export type Turn = {
  name: string | undefined;
  isStored: boolean;
  /** `index`: in the caller's list of messages; negative for those that the thread has before it. */
  earlier: readonly { index: number; name: string }[];
};

/** The thread's last messages, the newest first. */
export function* lastMessages(
  stores: ThreadStores,
  thread: StoredThread,
): Generator<{ seq: number; message: Message }> {
  const all = stores.reader.walk(thread, { order: "newest", view: "raw", slice: 16 });
  for (const { seq, body } of all.take(LOOKED_AT)) yield { seq, message: parsed(body) };
}

/** The user's messages with a text, the newest first; `from`: those before this seq. */
export function* userMessages(
  stores: ThreadStores,
  thread: StoredThread,
  from?: number,
): Generator<{ seq: number; text: string }> {
  const all = stores.reader.walk(thread, { order: "newest", view: "raw", role: "user", slice: 16, from });
  for (const { seq, body } of all) {
    const text = userText(parsed(body));
    if (text !== "") yield { seq, text };
  }
}

/** The turns of a prompt, whose caller may have listed its messages; null where there are none. */
export async function promptTurn(
  source: Source,
  { query, messages = [], history, format }: ContextRequest,
): Promise<Turn | null> {
  const hasCurrent = query !== undefined;
  // The format `messages` makes the whole prompt, of which a list tells all.
  const isAll = history === undefined || format === "messages";
  if (isAll && messages.length > 0) return listedTurn(source, messages, hasCurrent);
  if (isAll && !hasCurrent) return null;
  const behind = messages.length > 0 || !hasCurrent ? messages : [await messageHash(query.given)];
  return followingTurn(source, { history, behind, hasCurrent });
}

/**
 * The turns of the thread's last messages, and of the messages behind them, by their hashes: the first ones of these may be stored
 * already.
 */
async function followingTurn(
  source: Source,
  {
    history = HELD,
    behind,
    hasCurrent,
  }: { history: number | undefined; behind: readonly string[]; hasCurrent: boolean },
): Promise<Turn> {
  const { stores, thread } = source;
  const last = stores.reader.walk(thread, { order: "newest", view: "raw", slice: HELD });
  let since = 0;
  for (const { seq } of last.take(history)) since = seq;
  // One message of the user at least, and the one before it, which places its turn.
  const tail = await tailOf(source, (n, seq) => n >= 2 && seq < since);
  const stored = storedAlready(behind, tail, () => isAnswered(source, tail));
  const first = tail.isWhole ? 0 : 1;
  const past = tail.messages.slice(first, tail.messages.length - stored).map(({ hash }) => hash);
  const hashes = [...past, ...behind];
  const { name, earlier } = await turnOf(source, tail, {
    hashes,
    at: hashes.map((_, i) => first + i),
    hasCurrent,
  });
  return {
    name,
    isStored: hasCurrent && stored === behind.length,
    earlier: earlier.map((one) => ({ ...one, index: one.index - past.length })),
  };
}

/** The turns of a prompt by the hashes of its messages. */
async function listedTurn(source: Source, hashes: readonly string[], hasCurrent: boolean): Promise<Turn> {
  const tail = await tailOf(source, (n) => n > hashes.length + FURTHER);
  const at = placesOf(hashes, tail, { hasCurrent, answered: () => isAnswered(source, tail) });
  return { ...(await turnOf(source, tail, { hashes, at, hasCurrent })), isStored: false };
}

/**
 * Names the turns of a prompt. A turn is named by its message and its place in the thread, which no window moves. Where the place is
 * unknown, since the thread lacks what the prompt has, the prompt counts: that name is of the message, the one before it, and how
 * often the two came before.
 */
async function turnOf(
  { store, stores, thread }: Source,
  { messages }: Tail,
  { hashes, at, hasCurrent }: Prompted,
): Promise<Omit<Turn, "isStored">> {
  const counted = await turnNames(hashes, messages[(at[0] ?? 0) - 1]?.hash);
  const turns = counted.map((name, index): TurnQuery => {
    const i = at[index] ?? 0;
    const from = messages[i - 1]?.seq;
    if (from === undefined) return { counted: name, place: null };
    return { counted: name, place: { hash: hashes[index] ?? "", from, to: messages[i]?.seq ?? LAST_SEQ } };
  });
  const stored = store.turnNames(stores.lineage.segments(thread), turns);
  const names = counted.map((name, index) => ({ index, name: stored[index] ?? name }));
  if (!hasCurrent) return { name: undefined, earlier: names };
  const place = turns.at(-1)?.place ?? null;
  const isNew = place !== null && stored.at(-1) === null;
  return { name: isNew ? placedName(place) : names.at(-1)?.name, earlier: names.slice(0, -1) };
}

/** Counts the first messages of a prompt that end the thread; all of them only where the last one is not answered. */
function storedAlready(hashes: readonly string[], { messages }: Tail, answered: () => boolean): number {
  for (let n = Math.min(hashes.length, messages.length); n > 0; n--) {
    const isEnd = messages.slice(-n).every(({ hash }, i) => hash === hashes[i]);
    if (isEnd && (n < hashes.length || !answered())) return n;
  }
  return 0;
}

/** The user's last messages until there are enough. */
async function tailOf(
  { stores, thread }: Source,
  isEnough: (n: number, seq: number) => boolean,
): Promise<Tail> {
  const messages: Tail["messages"] = [];
  let isWhole = true;
  for (const { seq, text } of userMessages(stores, thread)) {
    isWhole = !isEnough(messages.length, seq);
    if (!isWhole) break;
    messages.push({ seq, hash: await messageHash(text) });
  }
  return { messages: messages.toReversed(), isWhole };
}

/** True if the model has answered since the user's last message. */
function isAnswered({ stores, thread }: Source, { messages }: Tail): boolean {
  const since = messages.at(-1)?.seq ?? 0;
  for (const { seq, message } of lastMessages(stores, thread)) {
    if (seq <= since) return false;
    if (message.role === "assistant" && requestedCalls(message).length === 0) return true;
  }
  return false;
}

/** The place in the thread of each message of a prompt: an index of its tail, the tail's length for one to come, or null if it is unknown. */
function placesOf(
  prompt: readonly string[],
  { messages, isWhole }: Tail,
  { hasCurrent, answered }: { hasCurrent: boolean; answered: () => boolean },
): (number | null)[] {
  const hashes = messages.map(({ hash }) => hash);
  const places: (number | null)[] = [];
  let next = hashes.length;
  for (let i = prompt.length - 1; i >= 0; i--) {
    const isCurrent = hasCurrent && i === prompt.length - 1;
    const place = isCurrent
      ? currentPlace(prompt, hashes, { isWhole, answered })
      : hashes[next - 1] === prompt[i]
        ? next - 1
        : lastPair(next, hashes, [prompt[i - 1], prompt[i]]);
    places.push(place);
    next = place ?? next;
  }
  return places.toReversed();
}

/**
 * The place of a prompt's last message in the thread, or its end. A prompt may be cut at its start, be asked again, or be of an
 * earlier turn. Its hashes tell which, unless the messages repeat themselves: then it goes on.
 */
function currentPlace(
  prompt: readonly string[],
  hashes: readonly string[],
  { isWhole, answered }: { isWhole: boolean; answered: () => boolean },
): number | null {
  const past = prompt.slice(0, -1);
  const isLast = endsAlike(hashes, prompt);
  const follows = endsAlike(hashes, past);
  if (isLast && (!follows || !answered() || hashes.length === prompt.length)) return hashes.length - 1;
  const isStart = isWhole && prompt.every((hash, i) => hash === hashes[i]);
  if (isStart && !isLast && (past.length === 0 || !follows)) return past.length;
  return follows ? hashes.length : lastPair(hashes.length, hashes, [prompt.at(-2), prompt.at(-1)]);
}

/** The last place before another one where a message follows the one that the prompt has before it. */
function lastPair(
  end: number,
  hashes: readonly string[],
  [before, hash]: readonly [string | undefined, string | undefined],
): number | null {
  const place = hashes.findLastIndex(
    (one, i) => i < end && i > 0 && one === hash && hashes[i - 1] === before,
  );
  return place < 0 ? null : place;
}

/** True if two lists end alike, as far as both go back; no list ends like an empty one. */
const endsAlike = (one: readonly string[], other: readonly string[]): boolean =>
  one.length > 0 &&
  one.slice(-other.length || one.length).every((hash, i, { length }) => hash === other.at(i - length));
