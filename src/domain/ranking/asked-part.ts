import { withoutMarksAround } from "./marks.ts";
import { isTelling } from "./question.ts";

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** Words that are about the conversation: a greeting, a thank you, a request. English, as the stop words are. */
const COURTESY = setOf(
  `apologies apologize appreciate appreciated ask asked asking assist assistance bother cheers curious dear excuse good
  grateful greetings hello help helping hey hi hiya hope hoping hurry kindly know memory mind obliged pardon please pls
  question questions recall regards remember remembering remind rush sorry thank thankful thanks thx trust wish wonder
  wondered wondering worries`,
);
/** Words that say nothing by themselves. */
const FILLERS = setOf(
  `able advance anyone anything back best better bit check come comes d everyone everything find finds fine forget forgot
  forgotten friend give glad goes going great happen happy hear keep kind let like little ll long look lot lots love lovely
  m many may maybe message might much need new nice now ok okay one perhaps possible problem quick quickly re real really
  right s see shall something super sure t take there thing things think thinking time times trouble try trying ve want
  welcome well whatever wonderful`,
);
/** Words that say nothing beside a courtesy ("Good morning", "have a great weekend"), and by themselves name a time. */
const TIMES = setOf(
  `afternoon day days evening minute moment morning night sec second today tonight week weekend`,
);
/** Words that agree, cheer or part, and say nothing beside small talk. */
const AGREES = setOf(
  `alright amazing awesome brilliant bye cheers congrats cool exactly fantastic fine goodbye great ha haha hah hehe hm hmm
  hooray later lol mhm morning night nope no nothing oh okay okey perfect sounds thats tomorrow well wow yay yeah yep yes
  yo yup`,
);
/** A longer text is about something. */
const SMALL_TALK = 10;
/** A question begins with one of these, and is no chatter. */
const ASKING = setOf("when where which who whom whose why");
/** A request ends before one of these. */
const NO_REQUEST = setOf("did does had how what when where which who whom whose why");
/** Words that follow a request before what is asked for. */
const AFTER_REQUEST = setOf("about again for if me of once please that to us whether you");
/** Without one of these, "Did Ann remember …" is no request. */
const REQUESTING = setOf(
  "curious hello hey hi kindly me please pls question us wonder wondered wondering you your",
);
/** "Hi there, …", "Dear Ann, …". */
const SALUTATION =
  /^\s*(?:hi|hiya|hello|hey|dear|good (?:morning|afternoon|evening))(?:\s+[\p{L}\p{M}]+){0,2}\s*(?:[,!.:;–—-]+(?:\s+|$)|$)/iu;
/** Between two sentences. */
const BREAK = /(?<=[.!?…؟।][\p{Pe}\p{Pf}"']*)\s+|(?<=[。！？])|\s*\n\s*/u;
const EACH_WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * The part of a query that asks or tells something: without greetings, thanks and the request ("could you please tell me"),
 * and without punctuation around it. All of it if nothing would be left.
 */
export function askedPart(query: string): string {
  const sentences = query.split(BREAK);
  const kept = sentences.map(withoutCourtesy).filter((sentence) => sentence !== "");
  const isWhole = kept.length === sentences.length && kept.every((one, i) => one === sentences[i]);
  const asked = isWhole ? query : kept.join(" ");
  return withoutMarksAround(lowerWords(asked).some(isTelling) ? asked : query);
}

/** True if a query only greets, thanks or agrees: nothing that is stored answers it. */
export const asksNothing = (query: string): boolean => {
  const words = lowerWords(query);
  return (
    words.length > 0 &&
    words.length <= SMALL_TALK &&
    words.every((word) => isSmallTalk(word) || AGREES.has(word)) &&
    !words.some((word) => word === "what" || ASKING.has(word))
  );
};

/** A sentence without its courteous beginning and end; empty if nothing else is in it. */
function withoutCourtesy(sentence: string): string {
  const salutation = SALUTATION.exec(sentence)?.[0] ?? "";
  const body = sentence.slice(salutation.length);
  if (salutation === "" && !isCourteous(body)) return lowerWords(body).every(isFiller) ? "" : body;
  if (isChatter(body)) return "";
  const clauses = withoutRequest(body).split(/(?<=[,;–—])/u);
  while (clauses.some((clause, i) => i === clauses.length - 1 && isCourteous(clause) && isChatter(clause)))
    clauses.pop();
  const rest = clauses.join("").replace(/\s+(?:please|pls|thanks|thx)\b[\s\p{P}]*$/iu, "");
  return isChatter(rest) ? "" : rest;
}

/** The same without a beginning like "I was wondering if you could tell me". */
function withoutRequest(sentence: string): string {
  const words = [...sentence.matchAll(EACH_WORD)].map(({ 0: word, index }) => ({
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

const lowerWords = (text: string): string[] => text.toLowerCase().match(EACH_WORD) ?? [];
const isFiller = (word: string): boolean => !ASKING.has(word) && (!isTelling(word) || FILLERS.has(word));
const isSmallTalk = (word: string): boolean =>
  !isTelling(word) || COURTESY.has(word) || FILLERS.has(word) || TIMES.has(word);
const isCourteous = (text: string): boolean => lowerWords(text).some((word) => COURTESY.has(word));
/** "When you can" is chatter, and "When was it?" is not. */
const isChatter = (text: string): boolean =>
  lowerWords(text).every((word) => isSmallTalk(word) && !(text.includes("?") && ASKING.has(word)));
