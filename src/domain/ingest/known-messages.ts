import { type AnyMessage, field } from "../conversation/message.ts";

/** A stored message: `text` is equal for messages that are the same. */
export type Stored = { seq: number; text: string };

/** Reads a thread from its first message on, or from its last one back. */
export type KnownThread = {
  oldest: () => Iterable<Stored>;
  newest: () => Iterable<Stored>;
};

/** The shortest run of messages that counts as sent before if the thread has it anywhere. People repeat shorter ones. */
const LONG_RUN = 8;
/** Messages at the end of a thread in which a run is looked for. */
const SEARCHED = 5_000;
/** Messages at the end of a thread in which an id is looked for, if no more are read anyway. */
const IDS = 1_000;
/** Begins no JSON. */
const ID = "id:";
/** Stored messages that show that the given ones before them are deleted ones. */
const SHOWING = 2;
/** Bounds of the search over deleted messages: ways to match them, and places where an overlap may begin. */
const [WAYS, TRIES] = [32, 20];

/**
 * Equal for messages that are the same within a thread. A UI message is the same while it has its id: it grows with a stream, the
 * result of a tool or an approval. `text` is equal for messages that are equal as JSON.
 */
export function keyOf(message: AnyMessage, text: string): string {
  const id = field(message, "id");
  const isNamed = typeof id === "string" && id !== "" && Array.isArray(field(message, "parts"));
  return isNamed ? ID + JSON.stringify([field(message, "role"), id]) : text;
}

/** True for the key of a UI message. */
export const isId = (key: string): boolean => key.startsWith(ID);

/**
 * Finds which of the given messages a thread has: the seq of each, or null for a new one. New messages follow all known ones, but
 * for those that are known by their id only.
 *
 * A conversation that begins as the thread does is compared from its beginning, over deleted messages. Any other part of a
 * conversation is known if the thread ends with it; else what follows the overlap with the thread's end is new. A run of 8 or more
 * messages is known wherever the thread has it.
 */
export function knownSeqs(keys: readonly string[], thread: KnownThread): (number | null)[] {
  const { seqs: prefix } = commonPrefix(keys, thread.oldest());
  const rest = keys.slice(prefix.length);
  if (rest.length === 0) return prefix;
  const isSearched = rest.length >= LONG_RUN || prefix.length > 0;
  const fewest = rest.some(isId) ? Math.max(IDS, rest.length) : rest.length;
  const tail = lastOf(thread, isSearched ? SEARCHED : fewest);
  const after = prefix.at(-1);
  const others = after === undefined ? tail : tail.filter(({ seq }) => seq > after);
  const run = isSearched ? placeOf(rest, others) : null;
  const known = run ?? overlap(rest, others);
  const left = rest.slice(known.length);
  const ids = new Map(left.some(isId) ? tail.map(({ seq, text }) => [text, seq]) : []);
  return [...prefix, ...known, ...left.map((key) => (isId(key) ? ids.get(key) : undefined) ?? null)];
}

/** True if one conversation begins with the other. */
export function continues(keys: readonly string[], thread: KnownThread, length: number): boolean {
  const { seqs, matched } = commonPrefix(keys, thread.oldest());
  return matched > 0 && (seqs.length === keys.length || matched === length);
}

/** A known message. `gap`: the deleted ones directly before it that are known too. `taken`: all known ones up to it. */
type Match = { seq: number; gap: number; taken: number; before: Match | null };

/**
 * The seqs of the messages with which both begin. `after`: the seq before the first one. A message that was deleted from the thread
 * left a gap in its seqs. Given ones in that place are known, if the thread goes on as the given ones do. `matched`: the number of
 * those that the thread still has. Of the ways to match as many, the one with the fewest deleted messages counts, so that
 * no new message is taken for a deleted one without need.
 */
function commonPrefix(
  keys: readonly string[],
  oldest: Iterable<Stored>,
  after = 0,
): { seqs: number[]; matched: number } {
  let [matched, next, isWhole] = [0, after + 1, true];
  let matches: readonly (Match | null)[] = [null];
  for (const { seq, text } of oldest) {
    const further = furtherOf(matches, { seq, text, gap: seq - next }, keys);
    isWhole = further.length > 0;
    if (!isWhole) break;
    matches = further;
    matched++;
    next = seq + 1;
  }
  const seqs: number[] = [];
  for (let match = matches[0] ?? null; match !== null; match = match.before) {
    // One message alone does not show that those before it are deleted ones.
    if (match.before === null && match.gap > 0 && matched < SHOWING && !isWhole)
      return { seqs: [], matched: 0 };
    for (let back = 0; back <= match.gap; back++) seqs.push(match.seq - back);
  }
  return { seqs: seqs.toReversed(), matched };
}

/** The ways to match one stored message more, by the number of messages taken; of those with the same number, one. */
function furtherOf(
  matches: readonly (Match | null)[],
  { seq, text, gap }: Stored & { gap: number },
  keys: readonly string[],
): Match[] {
  const takenOf = (match: Match | null | undefined) => match?.taken ?? 0;
  const further: Match[] = [];
  const most = Math.min(keys.length, takenOf(matches.at(-1)) + gap + 1);
  let nearest = 0;
  for (let taken = takenOf(matches[0]) + 1; taken <= most && further.length < WAYS; taken++) {
    while (nearest + 1 < matches.length && takenOf(matches[nearest + 1]) < taken) nearest++;
    const before = matches[nearest] ?? null;
    const deleted = taken - 1 - takenOf(before);
    if (deleted <= gap && text === keys[taken - 1]) further.push({ seq, gap: deleted, taken, before });
  }
  return further;
}

const lastOf = (thread: KnownThread, most: number): Stored[] =>
  Array.from(Iterator.from(thread.newest()).take(most)).toReversed();

/** The seqs of the stored messages that are these in one run, the last such run; null if there is none. */
function placeOf(keys: readonly string[], stored: readonly Stored[]): number[] | null {
  for (let start = stored.length - keys.length; start >= 0; start--)
    if (keys.every((text, i) => stored[start + i]?.text === text))
      return stored.slice(start, start + keys.length).map(({ seq }) => seq);
  return null;
}

/** The seqs of the longest end of the stored messages with which the given ones begin, over deleted ones between. */
function overlap(keys: readonly string[], stored: readonly Stored[]): number[] {
  const last = stored.at(-1)?.seq ?? 0;
  let tries = 0;
  for (let start = Math.max(0, stored.length - keys.length); start < stored.length; start++) {
    const first = stored[start];
    if (first === undefined || first.text !== keys[0]) continue;
    const end = stored.slice(start);
    const hasGaps = last - first.seq >= end.length;
    if (!hasGaps && end.every(({ text }, i) => text === keys[i])) return end.map(({ seq }) => seq);
    if (!hasGaps || ++tries > TRIES) continue;
    const { seqs, matched } = commonPrefix(keys, end, first.seq - 1);
    if (matched === end.length) return seqs;
  }
  return [];
}
