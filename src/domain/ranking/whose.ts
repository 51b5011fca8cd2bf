import { partOf, wholeWords, wordsOf } from "../language/recall-words.ts";
import type { Reading } from "./judgement.ts";
import { mayBeSame, ownerTest, relativeIn, relativesIn } from "./owners.ts";
import type { PoolMember } from "./pool.ts";
import { mentions } from "./question.ts";

/** The speaker about themselves. */
const OWN = wholeWords("own");
const OF_NAMED = new RegExp(partOf("ofNamed"), "u");
const WHO = new RegExp(String.raw`^${partOf("who")}\b`, "iu");
const SPEAKERS = wholeWords("speakers");
const REPORTS = new RegExp(String.raw`^\w+\s+(?:\w+\s+)?${partOf("reports")}\b`, "iu");
const THE_USERS = new RegExp(String.raw`^${partOf("theUsers")}\b`, "u");
const THE_USER = new RegExp(String.raw`^${partOf("theUser")}\s+`, "u");
const [MY = ""] = wordsOf("my");

/** Another relative than the question names counts so many times: the model takes a sister for a cousin. */
const SURE = 2;

/**
 * The message without the speaker's name, which the index puts before it; a memory without "The user", which is what "I" is in
 * a message, and with "My" for "The user's".
 */
export const ownText = ({ speaker, text, isMessage }: PoolMember): string =>
  speaker !== null && text.startsWith(`${speaker}: `)
    ? text.slice(speaker.length + 2)
    : isMessage
      ? text
      : text.replace(THE_USERS, MY).replace(THE_USER, "");

/** True if a statement is about somebody by name, and another one about "I" or "my". */
export const isOfAnother = (text: string, than: string): boolean =>
  OWN.test(than) && !OWN.test(text) && OF_NAMED.test(text);

/** True if a question asks who says or does what a statement has: "I can" answers "who can?", and "who said that …?" anything. */
export const asksForSpeaker = (question: string, text: string): boolean =>
  WHO.test(question) && (SPEAKERS.test(text) || REPORTS.test(question));

/** Raises what the person in question says or is, and sinks what is about somebody else. `weight`: of both. */
export function judgeWhose(
  readings: readonly Reading[],
  question: string,
  pool: readonly PoolMember[],
  weight: number,
): void {
  const isOwn = OWN.test(question);
  const relatives = relativesIn(question);
  const speakers = new Set(pool.flatMap(({ speaker }) => speaker ?? []));
  const inQuestion = [...speakers].filter((speaker) => mentions(question, speaker));
  const isOthersThing = ownerTest(question);
  for (const reading of readings) {
    const { one, text } = reading;
    const relative = relativeIn(text);
    reading.isOfOther =
      isOthersThing(one, text) ||
      (relative === null
        ? isOfOtherSpeaker(one, text, inQuestion)
        : isOfOtherRelative(relative, relatives, isOwn));
    if (reading.isOfOther) reading.added -= weight * (relatives.length > 0 ? SURE : 1);
    else if (isOwn && relative === null && isOfUser(one)) reading.added += weight;
  }
}

const isOfOtherRelative = (relative: string, ofQuestion: readonly string[], isOwn: boolean): boolean =>
  ofQuestion.length === 0 ? isOwn : !ofQuestion.some((one) => mayBeSame(one, relative));

const isOfUser = ({ role, kind, text }: PoolMember): boolean =>
  role !== "assistant" && kind !== "people" && OWN.test(text);

/** "I" and "my" of a speaker whom the question does not name, where it names another. */
const isOfOtherSpeaker = ({ speaker }: PoolMember, text: string, inQuestion: readonly string[]): boolean =>
  inQuestion.length > 0 &&
  speaker !== null &&
  !inQuestion.includes(speaker) &&
  OWN.test(text) &&
  !inQuestion.some((name) => mentions(text, name));
