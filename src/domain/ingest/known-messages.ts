/** A stored message: `text` is equal for messages that are equal as JSON. */
export type Stored = { seq: number; text: string };

/** Reads a thread from its first message on, or from its last one back. */
export type StoredThread = {
  oldest: () => Iterable<Stored>;
  newest: () => Iterable<Stored>;
};

/** The shortest run of messages that counts as sent before if the thread has it anywhere. People repeat shorter ones. */
const LONG_RUN = 8;
/** Messages at the end of a thread in which a run is looked for. */
const SEARCHED = 5_000;

/**
 * Finds which of the given messages a thread has: the seq of each, or null for a new one. New messages follow all known ones.
 *
 * A conversation that begins as the thread does is compared from its beginning, over deleted messages. Any other part of a
 * conversation is known if the thread ends with it; else what follows the overlap with the thread's end is new. A run of 8 or more
 * messages is known wherever the thread has it.
 */
export function knownSeqs(given: readonly string[], thread: StoredThread): (number | null)[] {
  const { seqs: prefix } = commonPrefix(given, thread.oldest());
  const rest = given.slice(prefix.length);
  if (rest.length === 0) return prefix;
  const isSearched = rest.length >= LONG_RUN || prefix.length > 0;
  const tail = lastOf(thread, isSearched ? SEARCHED : rest.length);
  const after = prefix.at(-1);
  const others = after === undefined ? tail : tail.filter(({ seq }) => seq > after);
  const run = isSearched ? placeOf(rest, others) : null;
  const known = run ?? overlap(rest, others);
  return [...prefix, ...known, ...rest.slice(known.length).map(() => null)];
}

/** True if one conversation begins with the other. */
export function continues(given: readonly string[], thread: StoredThread, length: number): boolean {
  const { seqs, matched } = commonPrefix(given, thread.oldest());
  return matched > 0 && (seqs.length === given.length || matched === length);
}

/** A known message. `gap`: the deleted ones directly before it that are known too. `taken`: all known ones up to it. */
type Match = { seq: number; gap: number; taken: number; before: Match | null };

/**
 * The seqs of the messages with which both begin. A message that was deleted from the thread left a gap in its seqs. Given ones in
 * that place are known, if the thread goes on as the given ones do. `matched`: the number of those that the thread still has. Of
 * two ways to match as many, the one with the fewest deleted messages counts: it loses no new message.
 */
function commonPrefix(
  given: readonly string[],
  oldest: Iterable<Stored>,
): { seqs: number[]; matched: number } {
  let best: Match | null = null;
  let [matched, next] = [0, 1];
  let matches: (Match | null)[] = [null];
  for (const { seq, text } of oldest) {
    const further = new Map<number, Match>();
    for (const gap of new Set([0, seq - next]))
      for (const before of matches) {
        const taken = (before?.taken ?? 0) + gap + 1;
        if (text === given[taken - 1] && !further.has(taken)) further.set(taken, { seq, gap, taken, before });
      }
    if (further.size === 0) break;
    matches = [...further.values()].toSorted((a, b) => a.taken - b.taken);
    best = matches[0] ?? null;
    matched++;
    next = seq + 1;
  }
  const seqs: number[] = [];
  for (let match = best; match !== null; match = match.before)
    for (let back = 0; back <= match.gap; back++) seqs.push(match.seq - back);
  return { seqs: seqs.toReversed(), matched };
}

function lastOf(thread: StoredThread, most: number): Stored[] {
  const last: Stored[] = [];
  for (const one of thread.newest()) {
    if (last.length === most) break;
    last.push(one);
  }
  return last.toReversed();
}

/** The seqs of the stored messages that are these in one run, the last such run; null if there is none. */
function placeOf(given: readonly string[], stored: readonly Stored[]): number[] | null {
  for (let start = stored.length - given.length; start >= 0; start--)
    if (given.every((text, i) => stored[start + i]?.text === text))
      return stored.slice(start, start + given.length).map(({ seq }) => seq);
  return null;
}

/** The seqs of the longest end of the stored messages with which the given ones begin. */
function overlap(given: readonly string[], stored: readonly Stored[]): number[] {
  for (let length = Math.min(given.length, stored.length); length > 0; length--) {
    const end = stored.slice(-length);
    if (end.every(({ text }, i) => text === given[i])) return end.map(({ seq }) => seq);
  }
  return [];
}
