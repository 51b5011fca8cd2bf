import { LANGUAGES } from "../language/cues.ts";
import { he } from "../language/he.ts";
import { partOf, rowsOf, wordsOf } from "../language/recall-words.ts";
import { isUnspaced } from "../language/scripts.ts";
import { th } from "../language/th.ts";
import { AGREES, asksNothing, BESIDE, COURTESY, EXCLAIMS, FILLERS, TIMES } from "../ranking/courtesy.ts";
import { folded } from "../ranking/fold.ts";
import { isTelling, WORDS } from "../ranking/question.ts";
import { sentencesOf } from "../ranking/marks.ts";

const [PLEASANT, TALK] = [wordsOf("pleasant"), wordsOf("remarks")];
/** Pleasantries besides English ones, a list for each language. */
const ELSEWHERE = [...LANGUAGES, he, th].flatMap(({ pleasantries }) =>
  pleasantries === "" ? [] : [folded(pleasantries).split(", ")],
);
const PLEASANTRIES = ELSEWHERE.map((words) => new Set(words));
/** The same of scripts that put no spaces between words, the longest first. */
const UNSPACED_PLEASANTRIES = new RegExp(
  ELSEWHERE.flat()
    .filter(isUnspaced)
    .toSorted((a, b) => b.length - a.length)
    .join("|"),
  "gu",
);

/** A message of more characters or words is about something, and a sentence of more words. */
const MOST_CHARACTERS = 300;
const [MOST_WORDS, MOST_OF_SENTENCE] = [20, 10];

/**
 * True if a chat message has no topic: it greets, thanks, agrees, cheers, parts, apologises, or is about the talk itself
 * ("I'm back", "go on", "are you a bot?"). No memory helps to answer it. `asksNothing`, for queries of recall, is stricter: a
 * search for "sweet" looks for something, and a message that says "sweet" does not.
 */
export function isSmallTalk(message: string): boolean {
  if (message.length > MOST_CHARACTERS) return false;
  const words = wordsIn(message);
  // Marks and emoji alone.
  if (words.length === 0) return true;
  if (words.length > MOST_WORDS) return false;
  if (isPleasantryElsewhere(message)) return true;
  const isCourteous = words.some(isPleasantry) || plain(message).search(SAYINGS) >= 0;
  return sentencesOf(message).every((sentence) => asksNothing(sentence) || hasNoTopic(sentence, isCourteous));
}

/** `isCourteous`: a day or a time in it does not matter, as in "see you on Monday". */
function hasNoTopic(sentence: string, isCourteous: boolean): boolean {
  const text = plain(sentence);
  const asks = sentence.includes("?");
  if (SOCIAL.test(text)) return true;
  if (!asks && ADDRESS.test(text)) return true;
  if (namesSomething(sentence)) return false;
  const words = text.replaceAll(SAYINGS, " ").match(WORDS) ?? [];
  if (words.length > MOST_OF_SENTENCE) return false;
  if (asks ? words.some((word) => ASKING.has(word)) : WHO_OR_WHEN.has(words[0] ?? "")) return false;
  return words.every((word) => isWordOfTalk(word) || (isCourteous && isTime(word)));
}

const [ASKING, WHO_OR_WHEN] = [wordsOf("asksTopic"), wordsOf("whoOrWhen")];

/** "I won't" is nobody who won. */
const CONTRACTIONS = rowsOf("contractions").map(
  ([short = "", ...words]) => [new RegExp(`\\b${short}\\b`, "g"), words.join(" ")] as const,
);
const wordsIn = (text: string): string[] =>
  CONTRACTIONS.reduce((all, [short, words]) => all.replaceAll(short, words), folded(text)).match(WORDS) ?? [];
/** The words of a text, with one space between them. */
const plain = (text: string): string => wordsIn(text).join(" ");

const isPleasantry = (word: string): boolean =>
  [COURTESY, AGREES, EXCLAIMS, PLEASANT].some((known) => known.has(word)) || LAUGHS.test(word);

/** True for a word of a time ("Monday"), or one that only a courtesy makes small talk ("great work"). */
const isTime = (word: string): boolean => TIMES.has(word) || BESIDE.has(word);

/** True for a word that is no topic of a message, also if it is drawn out: "yesss", "sooo". */
function isWordOfTalk(word: string): boolean {
  const spelled = [word, word.replaceAll(DRAWN_OUT, "$1"), word.replaceAll(DRAWN_OUT, "$1$1")];
  return spelled.some((one) => !isTelling(one) || isPleasantry(one) || FILLERS.has(one) || TALK.has(one));
}

const DRAWN_OUT = /(\p{L})\1{2,}/gu;
/** "hahaha", "jajaja", "kkkk", "хахаха". */
const LAUGHS =
  /^(?:[ah]*(?:h[aeio]|j[aei]|xa|rs){2,}[ah]*|а?(?:ах|ха|хе|хи){2,}х?|(?:lo)+l+|k{3,}|w{3,}|ه{2,}|ח{2,})$/u;

/** True if a text has a number, or a word with a capital letter inside a sentence that may be a name. */
function namesSomething(text: string): boolean {
  const capitals = text.match(/(?<=\S\s+)\p{Lu}[\p{L}\p{M}]*/gu) ?? [];
  return /\p{N}/u.test(text) || capitals.map(folded).some((word) => !isWordOfTalk(word) && !isTime(word));
}

/** True if all words of a text are pleasantries of one language besides English. */
function isPleasantryElsewhere(text: string): boolean {
  const words = wordsIn(text);
  const telling = words.filter((word) => !LAUGHS.test(word));
  return (
    PLEASANTRIES.some((known) => telling.every((word) => known.has(word))) ||
    words.join("").replaceAll(UNSPACED_PLEASANTRIES, "") === ""
  );
}

/** Expressions of words that are topics by themselves. */
const SAYINGS = new RegExp(String.raw`\b${partOf("sayings")}\b`, "g");

/** A greeting, thanks or a farewell, and a name. */
const ADDRESS = new RegExp(
  String.raw`^${partOf("greetings")}(?: ${partOf("afterGreeting")})? (?!${partOf("noName")})\p{L}+$`,
  "u",
);
/** Questions and remarks that are made for the sake of the talk, or about the assistant. */
const SOCIAL = new RegExp(`^${partOf("social")}$`, "u");
