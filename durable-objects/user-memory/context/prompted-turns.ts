import { messageHash, turnNames, userText } from "../../../src/domain/context/message-hash.ts";
import { requestedCalls } from "../../../src/domain/conversation/tool-calls.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import { LAST_SEQ } from "../core/position.ts";
import { parsed } from "../threads/message-documents.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import { type AskedTurn, placedName } from "./context-store.ts";

/** The messages at the end of a thread that a prompt is taken to hold. */
export const HELD = 20;
/** Messages that are looked at for an answer, or for those that a prompt holds. */
const LOOKED_AT = 400;
/** Messages of the user that are read besides as many as a prompt has: it may be of an earlier turn. */
const FURTHER = 16;

/** A message of the user in a thread. */
type Said = { seq: number; hash: string };
/** The user's last messages, in their order; `isWhole`: all of the thread's. */
type Tail = { said: Said[]; isWhole: boolean };
/** The names of these turns as far as they have a block, else null. */
type KeptNames = (turns: readonly AskedTurn[]) => (string | null)[];
/** `before`: the hash of the user's message before the prompt; `listed`: the index of the first message that the caller lists. */
type Naming = {
  kept: KeptNames;
  hasCurrent: boolean;
  isStored: boolean;
  before: string | undefined;
  listed: number;
};
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

/**
 * The turns of the thread's last messages, and of the messages behind them, by their hashes: the first ones of these may be stored
 * already. With `hasCurrent`, the last one is asked now.
 */
export async function followingTurn(
  { stores, kept }: { stores: ThreadStores; kept: KeptNames },
  thread: StoredThread,
  {
    held = HELD,
    behind,
    hasCurrent,
  }: { held: number | undefined; behind: readonly string[]; hasCurrent: boolean },
): Promise<Turn> {
  const last = stores.reader.walk(thread, { order: "newest", view: "raw", slice: HELD });
  let heldFrom = 0;
  for (const { seq } of last.take(held)) heldFrom = seq;
  // One message of the user at least, and the one before it, which places its turn.
  const tail = await tailOf(stores, thread, (n, seq) => n >= 2 && seq < heldFrom);
  const { said, isWhole } = tail;
  const stored = storedAlready(behind, said, () => isAnswered(stores, thread, said.at(-1)?.seq ?? 0));
  const first = isWhole ? 0 : 1;
  const past = said.slice(first, said.length - stored).map(({ hash }) => hash);
  const prompt = [...past, ...behind];
  return turnOf(
    prompt,
    { tail, at: prompt.map((_, i) => first + i) },
    {
      kept,
      hasCurrent,
      isStored: hasCurrent && stored === behind.length,
      before: isWhole ? "" : said[0]?.hash,
      listed: past.length,
    },
  );
}

/** The turns of a prompt by the hashes of its messages; with `hasCurrent`, the last one is asked now. */
export async function listedTurn(
  { stores, kept }: { stores: ThreadStores; kept: KeptNames },
  thread: StoredThread,
  { messages, hasCurrent }: { messages: readonly string[]; hasCurrent: boolean },
): Promise<Turn> {
  const tail = await tailOf(stores, thread, (n) => n > messages.length + FURTHER);
  const answered = () => isAnswered(stores, thread, tail.said.at(-1)?.seq ?? 0);
  const at = placesOf(messages, tail, { hasCurrent, answered });
  const before = tail.said[(at[0] ?? 0) - 1]?.hash;
  return turnOf(messages, { tail, at }, { kept, hasCurrent, isStored: false, before, listed: 0 });
}

/**
 * Names the turns of a prompt. `at`: where the thread has each message, its end for one that it lacks; null: unknown.
 * A turn is named by its message and its place in the thread, which no window moves. Where the place is unknown, since the
 * thread lacks what the prompt has, the prompt counts: that name is of the message, the one before it, and how often the two
 * came before.
 */
async function turnOf(
  prompt: readonly string[],
  { tail: { said }, at }: { tail: Tail; at: readonly (number | null)[] },
  { kept, hasCurrent, isStored, before, listed }: Naming,
): Promise<Turn> {
  const counted = await turnNames(prompt, before);
  const asked = counted.map((name, index) => {
    const i = at[index] ?? 0;
    const from = said[i - 1]?.seq;
    if (from === undefined) return { counted: name, place: null };
    return { counted: name, place: { hash: prompt[index] ?? "", from, to: said[i]?.seq ?? LAST_SEQ } };
  });
  const found = kept(asked);
  const names = counted.map((name, i) => ({ index: i - listed, name: found[i] ?? name }));
  if (!hasCurrent) return { name: undefined, isStored, earlier: names };
  const current = names.at(-1);
  const place = asked.at(-1)?.place ?? null;
  const isNew = place !== null && found.at(-1) === null;
  return { name: isNew ? placedName(place) : current?.name, isStored, earlier: names.slice(0, -1) };
}

/** Counts the first messages of a prompt that end the thread; all of them only where the last one is not answered. */
function storedAlready(messages: readonly string[], said: readonly Said[], answered: () => boolean): number {
  for (let n = Math.min(messages.length, said.length); n > 0; n--) {
    const isEnd = said.slice(-n).every(({ hash }, i) => hash === messages[i]);
    if (isEnd && (n < messages.length || !answered())) return n;
  }
  return 0;
}

/** The user's last messages until there are enough. */
async function tailOf(
  stores: ThreadStores,
  thread: StoredThread,
  isEnough: (n: number, seq: number) => boolean,
): Promise<Tail> {
  const said: Said[] = [];
  for (const { seq, text } of userMessages(stores, thread)) {
    if (isEnough(said.length, seq)) return { said: said.toReversed(), isWhole: false };
    said.push({ seq, hash: await messageHash(text) });
  }
  return { said: said.toReversed(), isWhole: true };
}

/** True if the model has answered since a message. */
function isAnswered(stores: ThreadStores, thread: StoredThread, since: number): boolean {
  for (const { seq, message } of lastMessages(stores, thread)) {
    if (seq <= since) return false;
    if (message.role === "assistant" && requestedCalls(message).length === 0) return true;
  }
  return false;
}

/** The place in the thread of each message of a prompt: an index of `said`, its length for one to come, or null if it is unknown. */
function placesOf(
  messages: readonly string[],
  { said, isWhole }: Tail,
  { hasCurrent, answered }: { hasCurrent: boolean; answered: () => boolean },
): (number | null)[] {
  const hashes = said.map(({ hash }) => hash);
  const places: (number | null)[] = [];
  let next = hashes.length;
  for (let i = messages.length - 1; i >= 0; i--) {
    const isCurrent = hasCurrent && i === messages.length - 1;
    const place = isCurrent
      ? currentPlace(messages, hashes, { isWhole, answered })
      : hashes[next - 1] === messages[i]
        ? next - 1
        : lastPair(next, hashes, [messages[i - 1], messages[i]]);
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
  messages: readonly string[],
  hashes: readonly string[],
  { isWhole, answered }: { isWhole: boolean; answered: () => boolean },
): number | null {
  const past = messages.slice(0, -1);
  const isLast = endsAlike(hashes, messages);
  const follows = endsAlike(hashes, past);
  if (isLast && (!follows || !answered() || hashes.length === messages.length)) return hashes.length - 1;
  const isStart = isWhole && messages.every((hash, i) => hash === hashes[i]);
  if (isStart && !isLast && (past.length === 0 || !follows)) return past.length;
  return follows ? hashes.length : lastPair(hashes.length, hashes, [messages.at(-2), messages.at(-1)]);
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
