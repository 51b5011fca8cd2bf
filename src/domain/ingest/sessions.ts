import { isSmallTalk } from "../context/small-talk.ts";
import { withSpeaker } from "./checks/check-speaker.ts";
import { holdsSecret } from "./checks/secrets.ts";
import { contentStems, numbersAndNames } from "../memory/content-stems.ts";
import { begins, has, read as readWords, speaksToTheMemory } from "../language/cues.ts";
import { GAP, ownWords, sentencesOf } from "./own-words.ts";
import type { SourceMessage } from "./proposal.ts";

/** A part of a conversation, by its first and last seq. `text`: what the user said; empty for small talk. */
export type Session = { from: number; to: number; text: string };

/** Messages on each side of a place that are compared, to see if the topic shifts there. */
const SIDE = 6;
/** The share of the words of one side that the other has, below which the topic shifts. */
const SAME_TOPIC = 0.04;
/** Characters of a session's text, of a message that is read, and of one sentence. */
const [TEXT, READ, SENTENCE] = [600, 4_000, 300];

/**
 * Splits messages into sessions: where nothing is said for longer than `gapMs`, and where the topic shifts. The topic shifts where
 * a message of the user begins six messages that share hardly a word with the six before. Reads no message of a later session than
 * the one that is asked for, but a few.
 */
export function* sessionsOf(
  messages: readonly SourceMessage[],
  { gapMs }: { gapMs: number },
): Generator<Session, void> {
  const read = new Map<number, ReadonlySet<string>>();
  const stemsOf = (i: number): ReadonlySet<string> => {
    const known = read.get(i) ?? new Set(contentStems(messages[i]?.text.slice(0, READ) ?? ""));
    read.set(i, known);
    return known;
  };
  let start = 0;
  for (let i = 1; i <= messages.length; i++) {
    const [before, next] = [messages[i - 1], messages[i]];
    const ends =
      next === undefined ||
      (before !== undefined && next.at - before.at > gapMs) ||
      (next.role === "user" && i - start >= SIDE && messages.length - i >= SIDE && shifts(stemsOf, i));
    if (!ends) continue;
    const said = messages.slice(start, i);
    if (said.length > 0) yield { from: said[0]?.seq ?? 0, to: said.at(-1)?.seq ?? 0, text: inOwnWords(said) };
    start = i;
  }
}

/** True if the messages before a place share hardly a word with those after it. */
function shifts(stemsOf: (i: number) => ReadonlySet<string>, place: number): boolean {
  const sideFrom = (from: number) =>
    new Set(Array.from({ length: SIDE }, (_, i) => [...stemsOf(from + i)]).flat());
  const [before, after] = [sideFrom(place - SIDE), sideFrom(place)];
  const fewer = Math.min(before.size, after.size);
  if (fewer < SIDE) return false;
  const shared = [...after].filter((stem) => before.has(stem)).length;
  return shared / fewer < SAME_TOPIC;
}

/** The most telling sentences of the user, in their order. */
function inOwnWords(messages: readonly SourceMessage[]): string {
  const sentences = messages
    .filter(({ role }) => role === "user")
    .flatMap((message) =>
      sentencesOf(ownWords(message.text.slice(0, READ)))
        .filter(isOfStory)
        .map((sentence) => ({ said: withSpeaker(sentence, message), weight: weightOf(sentence) })),
    )
    .flatMap(({ said, weight }, place) => (said === null ? [] : [{ text: said, place, weight }]));
  const chosen: typeof sentences = [];
  let room = TEXT;
  for (const sentence of sentences.toSorted((a, b) => b.weight - a.weight || a.place - b.place)) {
    if (sentence.weight === 0 || sentence.text.length + 1 > room) continue;
    chosen.push(sentence);
    room -= sentence.text.length + 1;
  }
  return chosen
    .toSorted((a, b) => a.place - b.place)
    .map(({ text }) => text)
    .join(" ");
}

/** True unless a sentence is small talk, speaks to the memory, is left of a quotation, or holds a secret. */
const isOfStory = (sentence: string): boolean =>
  sentence.length <= SENTENCE &&
  !isSmallTalk(sentence) &&
  !speaksToTheMemory(sentence) &&
  !sentence.includes(GAP) &&
  !/\p{Cf}/u.test(sentence) &&
  !holdsSecret(sentence);

/** Names and numbers tell most, then what the user states; a question tells what it was about. */
function weightOf(sentence: string): number {
  const words = new Set(contentStems(sentence)).size;
  if (words < 2) return 0;
  const reading = readWords(sentence);
  const isOfUser = has(reading, "self") || has(reading, "whose");
  const isQuestion = /[?？؟]$/u.test(sentence) || begins(reading, "asks");
  return Math.min(words, 8) + 3 * numbersAndNames(sentence).length + (isOfUser && !isQuestion ? 4 : 0);
}
