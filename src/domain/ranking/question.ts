import { partOf, wholeWords, wordsOf } from "../language/recall-words.ts";
import { folded } from "./fold.ts";
import { joinedNumbers, withJoinedNumbers } from "./joined-numbers.ts";

/** The most words, and terms, of a search: more make FTS5 slow, which parses them into a tree. Keeps the first and last half. */
const MOST = 64;

const STOP_WORDS = wordsOf("stop");
/** True for a word that says what a question is about, not how it is put. */
export const isTelling = (word: string): boolean => !STOP_WORDS.has(word);

/** The words of a question, stop words left out unless there is nothing else; none if it has no word at all (`???`). */
export function contentWords(question: string): string[] {
  // A part of a number is of others, too.
  const words = distinctWords(withJoinedNumbers(question));
  const telling = words.filter(isTelling);
  const content = telling.length > 0 ? telling : words;
  return content.length <= MOST ? content : [...content.slice(0, MOST / 2), ...content.slice(-MOST / 2)];
}

/** Each word of a text: a run of letters, digits and combining marks. */
export const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const distinctWords = (text: string): string[] => [...new Set(folded(text).match(WORDS))];

/** The FTS5 expression for words, of which any may be there: each quoted; a run of a script without spaces in pairs. */
export const matchExpression = (words: readonly string[]): string =>
  words
    .flatMap(termsOf)
    .slice(0, MOST)
    .map((term) => `"${term}"`)
    .join(" OR ");

/** Scripts that put no spaces between words, and Hangul, which puts particles behind them. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const EACH_UNSPACED = new RegExp(UNSPACED, "gu");
/** A word of letters that are not Latin. */
const OTHER_SCRIPT = /[^\P{L}\p{Script=Latin}][\p{L}\p{M}]*/gu;

/** The number of distinct words of other scripts than Latin in a text; two characters of a script without spaces are a word. */
export const otherScriptWords = (text: string): number =>
  [...new Set(folded(text).match(OTHER_SCRIPT))].reduce(
    (sum, word) => sum + (UNSPACED.test(word) ? word.length / 2 : 1),
    0,
  );

/**
 * A text as its words are indexed: FTS5 splits at spaces, so each character of a script without them stands alone. A number in groups
 * is one word, too.
 */
export function indexedText(text: string): string {
  const same = [folded(text), ...joinedNumbers(text)].join(" ");
  return UNSPACED.test(same) ? same.replace(EACH_UNSPACED, " $& ") : same;
}

/** A word as it is looked for: two characters of a script without spaces follow each other where the word is. */
function termsOf(word: string): string[] {
  if (!UNSPACED.test(word)) return [word];
  const parts = indexedText(word).trim().split(/\s+/);
  if (parts.length < 2) return parts;
  return parts.slice(1).map((part, i) => `${parts[i]} ${part}`);
}

/** Words of a question that are searched for names, and the most words of a name. */
const [NAMING, NAME] = [200, 16];

/** Every run of up to 16 words, as a name may be: of the first 200 words. */
export function wordRuns(words: readonly string[]): string[] {
  const all = words.filter((word) => word !== "").slice(0, NAMING);
  const runs = new Set<string>();
  for (let from = 0; from < all.length; from++)
    for (let to = from + 1; to <= Math.min(all.length, from + NAME); to++)
      runs.add(all.slice(from, to).join(" "));
  return [...runs];
}

const ASKS_TIME = new RegExp(String.raw`(?:^|[.:;!?–—]\s)\W{0,3}${partOf("asksTime")}\b`, "iu");
/** True if a question asks for a time. A "when" inside a sentence does not ask. */
export const asksTime = (question: string): boolean => ASKS_TIME.test(question);

const TIME = wholeWords("tellsTime");
/** True if a text tells a time. */
export const tellsTime = (text: string): boolean => TIME.test(text) || /\b\d{4}\b/.test(text);

const [QUESTIONS, ADVICE, PAST] = [wholeWords("questions"), wholeWords("advice"), wholeWords("past")];
/** True if a query is about what was asked before: then a question is an answer. */
export const asksForQuestions = (query: string): boolean => QUESTIONS.test(query);
/** True if a query asks what the assistant said: then an answer of the assistant is more likely than what the user said. */
export const asksForAdvice = (query: string): boolean => ADVICE.test(query);
/** True if a query is about what was so before. */
export const asksForPast = (query: string): boolean => PAST.test(query);

/** The names in a question, in lower case: words in capitals that do not begin it. */
export const namesIn = (question: string): string[] =>
  [...question.matchAll(/(?<=\S\s+)(?!I\b)\p{Lu}[\p{L}\p{N}]+/gu)].map(([name]) => folded(name));

/** True if a text has this name as a word, or as words that follow each other. */
export function mentions(text: string, name: string): boolean {
  const [within, sought] = [folded(text), folded(name)];
  if (sought === "") return false;
  const letter = /[\p{L}\p{N}]/u;
  for (let at = within.indexOf(sought); at >= 0; at = within.indexOf(sought, at + 1))
    if (!letter.test(within[at - 1] ?? "") && !letter.test(within[at + sought.length] ?? "")) return true;
  return false;
}
