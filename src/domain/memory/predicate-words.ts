import { stemmer } from "stemmer";

/**
 * A predicate by its words. `words`: as written, in lower case, without articles, adverbs and a leading form of "be". `base`: these as
 * stems. `denies`: it says that this is not so, or no longer.
 */
export type PredicateWords = { words: readonly string[]; base: string; denies: boolean };

const list = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/u));

/** Words that leave a predicate as it is. */
const EMPTY = list(
  "a an the my your his her its our their user's currently now still really very always usually often just already mostly truly",
);
const BE = list("is are am 's 'm 're");
const DO = list("do does did");
const IRREGULAR: Readonly<Record<string, string>> = {
  is: "be",
  are: "be",
  am: "be",
  has: "have",
  goes: "go",
  does: "do",
};

const DENIAL = / (?:no longer|not|never|(?<! (?:is|are|was|were|gets?|got) )used to) /u;
const MORE = / (?:any ?more|any longer) /gu;
/** "Stopped playing" denies "plays", and "started playing" says it. Both need the verb that follows. */
const [STOPPED, STARTED] = [
  / (?:(?:has |have )?(?:stops?|stopped|quits?|ceased)|g[ia]ve[sn]? up) (?=\p{L}+ing )/u,
  / (?:(?:has |have )?(?:starts?|started|begins?|began|begun)|t[ao]ken? up|takes up) (?=\p{L}+ing )/u,
];

const plain = (predicate: string): string =>
  predicate
    .normalize("NFKC")
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll(/[’´`]/gu, "'")
    .replaceAll(/\be[\s_-]?mail/gu, "email")
    .replaceAll(/\bcan(?:'t|not)\b/gu, "can not")
    .replaceAll(/n't\b/gu, " not")
    .replaceAll(/[^\p{L}\p{M}\p{N}']+/gu, " ");

/** The stem of a word in the present. A word in the past is itself: "played" does not say "plays". */
const stemOf = (word: string): string =>
  IRREGULAR[word] ?? (/^[a-z]+$/u.test(word) && !word.endsWith("ed") ? stemmer(word) : word);

/** Reads a predicate in English. A predicate in another language has its words, and denies nothing. */
export function wordsOf(predicate: string): PredicateWords {
  const whole = ` ${plain(predicate).trim()} `.replaceAll(MORE, " ");
  const said = whole.replace(DENIAL, " ").replace(STOPPED, " ");
  const denies = said !== whole;
  const all = said
    .replace(STARTED, " ")
    .split(" ")
    .filter((word) => word !== "" && !EMPTY.has(word));
  const from = all.findIndex((word) => !BE.has(word) && !(denies && DO.has(word)));
  // "Is" alone is a predicate of its own.
  const words = all.slice(from === -1 ? -1 : from);
  return { words, base: words.map(stemOf).join(" "), denies };
}
