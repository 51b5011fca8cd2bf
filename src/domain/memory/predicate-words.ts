import { anyOf, fieldsOf, rowsIn, wordsIn } from "../language/fields.ts";

/**
 * A predicate by its words. `words`: as written, in lower case, without articles, adverbs, and a form of "be" before an article or
 * before a word in -ing. `base`: these without -s and -ing. `denies`: it says that this is not so, or no longer.
 */
export type PredicateWords = { words: readonly string[]; base: string; denies: boolean };

type Words = ReadonlySet<string>;

const FACTS = fieldsOf("facts");
const [ARTICLES, ADVERBS, BE, DO] = (["articles", "adverbs", "be", "do"] as const).map((kind) =>
  wordsIn(FACTS.map((words) => words[kind])),
) as [Words, Words, Words, Words];
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  rowsIn(FACTS.map(({ irregular }) => irregular)).map(([form = "", verb = ""]) => [form, verb]),
);

const DENIAL = new RegExp(` ${anyOf(FACTS.map(({ denials }) => denials))} `, "u");
const MORE = new RegExp(` ${anyOf(FACTS.map(({ more }) => more))} `, "gu");
/** "Stopped playing" denies "plays", and "started playing" says it. Both need the verb that follows. */
const [STOPPED, STARTED] = (["stops", "starts"] as const).map(
  (kind) => new RegExp(String.raw` ${anyOf(FACTS.map((words) => words[kind]))} (?=\p{L}+ing )`, "u"),
) as [RegExp, RegExp];

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

/**
 * A word in the present without -s and -ing, and as these leave it: without a last "e", and one of two equal consonants. A noun of the
 * same stem is another word: "manager" is not "manages". So is a word in the past: "played" does not say "plays".
 */
function withoutInflection(word: string): string {
  const irregular = IRREGULAR.get(word) ?? word;
  if (!/^[a-z]{3,}$/u.test(irregular)) return irregular;
  return irregular
    .replace(/(?<=[aeiouy].*)ing$|(?<=..[^sui])s$/u, "")
    .replace(/e$/u, "")
    .replace(/([b-df-hj-np-tv-z])\1$/u, "$1")
    .replace(/y$/u, "i");
}

/** Reads a predicate in English. A predicate in another language has its words, and denies nothing. */
export function wordsOf(predicate: string): PredicateWords {
  const whole = ` ${plain(predicate).trim()} `.replaceAll(MORE, " ");
  const claim = whole.replace(DENIAL, " ").replace(STOPPED, " ");
  const denies = claim !== whole;
  const [first = "", ...rest] = claim
    .replace(STARTED, " ")
    .split(" ")
    .filter((word) => word !== "" && !ADVERBS.has(word));
  const next = rest[0] ?? "";
  const isEmpty =
    (BE.has(first) && (next.endsWith("ing") || ARTICLES.has(next))) || (denies && DO.has(first));
  const all = (isEmpty ? rest : [first, ...rest]).filter((word) => !ARTICLES.has(word));
  // "Is a" is "is".
  const words = all.length === 0 ? [first] : all;
  return { words, base: words.map(withoutInflection).join(" "), denies };
}
