import { partOf, wordsOf } from "../language/recall-words.ts";
import { sentencesOf, withoutMarksAround } from "./marks.ts";
import { isTelling, WORDS } from "./question.ts";

/** The words of small talk: `src/domain/language/words.ts` says what each list is. */
export const COURTESY = wordsOf("courtesy");
export const FILLERS = wordsOf("fillers");
export const TIMES = wordsOf("times");
export const EXCLAIMS = wordsOf("exclaims");
export const AGREES = wordsOf("agrees");
export const BESIDE = wordsOf("beside");
/** A text of more words than this is about something. */
const MOST_SMALL_TALK = 10;
/** The most telling words that may follow an exclamation. */
const MOST_AFTER_EXCLAIM = 2;
const [ASKING, AFTER_REQUEST, REQUESTING] = [
  wordsOf("asking"),
  wordsOf("afterRequest"),
  wordsOf("requesting"),
];
/** A request ends before one of these. */
const NO_REQUEST = ASKING.union(wordsOf("asksWithRequest"));
const SALUTATION = new RegExp(
  String.raw`^\s*${partOf("salutations")}(?:\s+[\p{L}\p{M}]+){0,2}\s*(?:[,!.:;–—\-]+(?:\s+|$)|$)`,
  "iu",
);
const POLITE_END = new RegExp(String.raw`\s+${partOf("politeEnds")}\b[\s\p{P}]*$`, "iu");
/** A question of so many words besides small talk can be asked without the sentences around it. */
const ENOUGH = 2;

/**
 * The part of a query that asks or tells something: without greetings, thanks and the request ("could you please tell me"),
 * and without punctuation around it. All of it if nothing would be left.
 */
export function withoutCourtesy(query: string): string {
  const bare = withoutMarksAround(query);
  if (asksNothing(query) || isPoliteWhen(lowerWords(query))) return bare || query;
  const sentences = sentencesOf(bare);
  const telling = sentences.map(bodyOf).filter((sentence) => sentence !== "");
  const main = telling.filter((sentence) => !isMostlySmallTalk(sentence));
  // A short question ("What was her name?") needs the sentences around it.
  const isEnough = lowerWords(main.join(" ")).filter((word) => !isSmallTalk(word)).length >= ENOUGH;
  const sentencesLeft = isEnough ? main : telling;
  const isWhole =
    sentencesLeft.length === sentences.length && sentencesLeft.every((one, i) => one === sentences[i]);
  const rest = isWhole ? bare : withoutMarksAround(sentencesLeft.join(" "));
  return lowerWords(rest).some(isTelling) ? rest : bare || query;
}

/** True if a query only greets, thanks, agrees or exclaims: nothing that is stored answers it. */
export function asksNothing(query: string): boolean {
  const words = lowerWords(query);
  if (words.length > MOST_SMALL_TALK) return false;
  const [first = ""] = words;
  const others = words.filter((word) => !saysNothing(word));
  if (EXCLAIMS.has(first) && !query.includes("?") && !namesSomething(query))
    return others.filter((word) => isTelling(word)).length <= MOST_AFTER_EXCLAIM;
  return isPoliteWhen(words) && (others.length === 0 || !query.includes("?"));
}

/** True for words of courtesy with nothing beside them but "when": "when you can, thanks", and "When, please?", which asks. */
function isPoliteWhen(words: readonly string[]): boolean {
  return (
    words.some((word) => COURTESY.has(word) || AGREES.has(word) || EXCLAIMS.has(word)) &&
    words.every((word) => word === "when" || saysNothing(word))
  );
}

const saysNothing = (word: string): boolean =>
  word !== "what" &&
  !ASKING.has(word) &&
  (isSmallTalk(word) || AGREES.has(word) || BESIDE.has(word) || EXCLAIMS.has(word));

/** A sentence without its courteous beginning and end; empty if nothing else is in it. */
function bodyOf(sentence: string): string {
  const salutation = SALUTATION.exec(sentence)?.[0] ?? "";
  const body = sentence.slice(salutation.length);
  const words = lowerWords(body);
  // An emoji is no word, and says something.
  if (salutation === "" && words.length === 0) return body.trim();
  if (salutation === "" && !isCourteous(body)) return words.every(isFiller) ? "" : body;
  if (isChatter(body)) return "";
  const clauses = withoutRequest(body).split(/(?<=[,;–—])/u);
  while (clauses.some((clause, i) => i === clauses.length - 1 && isCourteous(clause) && isChatter(clause)))
    clauses.pop();
  const rest = clauses.join("").replace(POLITE_END, "");
  return isChatter(rest) ? "" : rest;
}

/** The same without a beginning like "I was wondering if you could tell me". */
function withoutRequest(sentence: string): string {
  const words = [...sentence.matchAll(WORDS)].map(({ 0: word, index }) => ({
    word: word.toLowerCase(),
    index,
  }));
  const first = words.findIndex(({ word }) => !isSmallTalk(word) || NO_REQUEST.has(word));
  const opening = words.slice(0, Math.max(0, first)).map(({ word }) => word);
  if (!opening.some((word) => REQUESTING.has(word))) return sentence;
  let end = opening.findLastIndex((word) => COURTESY.has(word) || word === "tell") + 1;
  if (end === 0) return sentence;
  while (AFTER_REQUEST.has(opening[end] ?? "")) end++;
  return sentence.slice(words[end]?.index);
}

/** True if a text has a number, or a word that begins with a capital letter inside a sentence. */
const namesSomething = (text: string): boolean => /\d|(?<=\S\s+)(?!I\b)\p{Lu}/u.test(text);

/** True if a sentence is addressed to the assistant, and most of its telling words are small talk. It names nothing. */
function isMostlySmallTalk(sentence: string): boolean {
  if (namesSomething(sentence)) return false;
  const words = lowerWords(sentence);
  if (!words.some((word) => COURTESY.has(word) || word === "you")) return false;
  const telling = words.filter((word) => isTelling(word));
  return telling.length > 0 && telling.filter(isSmallTalk).length > telling.length / 2;
}

const lowerWords = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];
const isFiller = (word: string): boolean => !ASKING.has(word) && (!isTelling(word) || FILLERS.has(word));
const isSmallTalk = (word: string): boolean =>
  !isTelling(word) || COURTESY.has(word) || FILLERS.has(word) || TIMES.has(word);
const isCourteous = (text: string): boolean => lowerWords(text).some((word) => COURTESY.has(word));
/** "When you can" is chatter, and "when was it" is not. */
const isChatter = (text: string): boolean =>
  lowerWords(text).every(
    (word, i, words) => isSmallTalk(word) && (!ASKING.has(word) || words[i + 1] === "you"),
  );

/** True for a word of chatter that is no courtesy, and may be a value: "perfect", "lovely". */
export const isFillerWord = (word: string): boolean =>
  !COURTESY.has(word) && (FILLERS.has(word) || AGREES.has(word));

/** True for a word of courtesy or chatter, which is about the conversation and not about what is so. */
export const isAboutTalk = (word: string): boolean =>
  COURTESY.has(word) || FILLERS.has(word) || AGREES.has(word);
