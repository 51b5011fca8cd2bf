import {
  begins,
  deniesSomething,
  has,
  plansSomething,
  readPart,
  type LanguageReading,
  speaksToTheMemory,
  withoutRoles,
  withoutWords,
} from "../../language/cues.ts";
import { contentStems, needsOf, says, sourceWords, wordsOf } from "../../memory/content-stems.ts";
import { GAP, READ } from "../own-words.ts";
import type { FactProposal } from "../proposal.ts";
import { hidesSomething } from "./characters.ts";
import { voicesOf, withSpeaker } from "./check-speaker.ts";
import { type Clause, clauseOf, placeOf } from "./clause.ts";
import { deniesAlone, isDenied, isOver } from "./ended.ts";
import type { Conversation, CheckedMessage, Sentence } from "./conversation.ts";
import type { Reason } from "./reasons.ts";
import { holdsSecret } from "./secrets.ts";
import { type SentencePlace, type Stated, statedAt } from "./stated.ts";
import { nameIn, refusalOfSubject } from "./subject.ts";

/** Characters of a subject or predicate, of an object, and words of a predicate. */
const [SHORT, LONG, WORDS] = [80, 300, 10];
const MARKUP = /[<>{}[\]\\`|*#]|https?:|www\.|\n/u;
/** Words of a fact times sentences of the user that are compared: a long story that one short fact cites, and many times that. */
export const COMPARISONS = 20_000;
/** Characters of the sentences that name a fact's object: each is read for the fact. */
export const NAMING = 8_000;
/** Characters of a sentence that a memory shows. A longer one tells more than the fact. */
const SHOWN = 400;
/** Messages before a sentence that may have set up a scene, or asked for work on what comes: as many as a window of messages has. */
export const EARLIER = 40;
/** Sentences of the next message that may take it back. */
const NEXT = 2;

/**
 * Why a fact may not become live; none if it may. `sentence`: what states it, in the words of its user; null if these need the fact
 * to be understood, or may not be shown. `stated`: the whole sentence and its message; null if the fact may not become live.
 */
export type Verdict = { reasons: Reason[]; sentence: string | null; stated: Stated | null };

const refused = (...reasons: Reason[]): Verdict => ({ reasons, sentence: null, stated: null });

/** Checks a fact against the messages that it cites: one sentence in a user's own words has to state it. */
export function checkFact(fact: FactProposal, conversation: Conversation): Verdict {
  const { subject, predicate, object, sources } = fact;
  const cited = conversation.of(sources);
  const said = cited.filter(({ source }) => source.role === "user");
  const voices = voicesOf(
    fact,
    said.map((message) => ({ ...message.source, message })),
  );
  // The name of another is judged as a name: ids are names, too.
  const voiced = voices.find((voice) => voice.fact.subject !== subject)?.fact ?? fact;
  const whole = [voiced.subject, predicate, object, voiced.text ?? ""].join(" ");
  const reasons = refusalsOfForm(fact, whole);
  if (hidesSomething(whole) || cited.some(({ hides }) => hides())) reasons.push("hidden_characters");
  // Its words are refused for their number: nothing is looked for.
  if (isTooLong(fact)) return refused(...reasons);
  if (said.length === 0) return refused(...reasons, "not_said_by_user");
  const verdicts = voices.map((voice) =>
    stated(
      voice.fact,
      voice.messages.map(({ message }) => message),
      conversation,
    ),
  );
  const verdict =
    verdicts.find((one) => one.reasons.length === 0) ?? verdicts[0] ?? refused("not_about_user");
  return { ...verdict, reasons: [...new Set([...reasons, ...verdict.reasons])] };
}

const isTooLong = ({ subject, predicate, object }: FactProposal): boolean =>
  [subject, predicate].some((part) => part.length > SHORT) ||
  object.length > LONG ||
  wordsOf(predicate).length > WORDS;

/** Why a fact is none by its words alone. `whole`: all of them. */
function refusalsOfForm(fact: FactProposal, whole: string): Reason[] {
  const { subject, predicate, object, text = "" } = fact;
  const isEmpty = [subject, predicate].some((part) => part.trim() === "");
  const speaks = speaksToTheMemory(`${predicate} ${object}`) || speaksToTheMemory(withoutRoles(text));
  return [
    ...(isTooLong(fact) || isEmpty || MARKUP.test(whole) ? (["malformed"] as const) : []),
    ...(holdsSecret(whole) ? (["secret"] as const) : []),
    ...(speaks ? (["instruction"] as const) : []),
  ];
}

/** The same of messages whose writer is the user. */
function stated(fact: FactProposal, said: readonly CheckedMessage[], conversation: Conversation): Verdict {
  const { subject, predicate, object, text = "" } = fact;
  const all = said.flatMap((message) => message.sentences().map((sentence, i) => ({ message, sentence, i })));
  if (all.length * wordsOf(`${subject} ${predicate} ${object}`).length > COMPARISONS)
    return refused("too_long");
  const needs = needsOf(object);
  const naming = all
    .map((one) => ({ ...one, from: placeOf(object, one.sentence) }))
    .filter(({ from }) => from >= 0);
  if (naming.length === 0) {
    const isThere =
      needs.length > 0 &&
      !all.some(({ sentence }) => sentence.says(needs)) &&
      said.some(({ source }) => says(sourceWords(source.text.slice(0, READ)), needs));
    return refused(isThere ? "not_own_words" : "not_in_source");
  }
  if (naming.reduce((sum, { sentence }) => sum + sentence.text.length, 0) > NAMING)
    return refused("too_long");
  const verdicts = naming.map((place) => refusalOf(fact, place, conversation));
  const place = naming[verdicts.indexOf(null)];
  if (place === undefined) return refused(...new Set(verdicts.flatMap((reason) => reason ?? [])));
  // "They asked about nuts. I'm not allergic to nuts." Predicates are not compared: the denial may be of this one.
  if (naming.some(({ message }, i) => verdicts[i] === "negated" && message.at >= place.message.at))
    return refused("negated");
  const reason = refusalOfText(text, `${subject} ${predicate} ${object}`, place.sentence);
  if (reason !== null) return refused(reason);
  return { reasons: [], sentence: shownOf(fact, place), stated: statedAt(fact, place, conversation) };
}

/** The sentence as a memory shows it: it says who it is about, and holds nobody else's words. */
function shownOf(
  { subject, object }: FactProposal,
  { message, sentence, from }: SentencePlace,
): string | null {
  const text = clauseOf(object, from, sentence)?.text.trim() ?? "";
  const isWhole = sentence.has("self") || sentence.has("whose") || sentence.says(needsOf(subject));
  if (!isWhole || text.length > SHOWN || text.includes(GAP) || MARKUP.test(text) || holdsSecret(text))
    return null;
  return withSpeaker(text, message.source);
}

/** The text of a fact says no more than its sentence, and denies nothing else. */
function refusalOfText(text: string, triple: string, sentence: Sentence): Reason | null {
  const known = new Set(contentStems(`user ${triple} ${sentence.text}`));
  if (!contentStems(text).every((word) => known.has(word))) return "not_in_source";
  return deniesSomething(text) && !deniesSomething(triple) ? "negated" : null;
}

/** Why a sentence does not state a fact, by itself and by what stands around it; null if it does. */
function refusalOf(fact: FactProposal, place: SentencePlace, conversation: Conversation): Reason | null {
  const { sentence, from } = place;
  // Nobody can tell a question or a denial in it.
  if (sentence.reading().languages.length === 0) return "unread_language";
  const clause = clauseOf(fact.object, from, sentence);
  // "What I did not say is that I fear moths."
  if (clause === null || (begins(clause.whole, "asks") && !/[.!。！]$/u.test(sentence.text)))
    return "not_stated";
  if (isOrder(sentence, clause)) return "instruction";
  const claim = `${fact.predicate} ${fact.object}`;
  return (
    refusalByFrame(clause, { claim, predicate: fact.predicate, reading: sentence.reading() }) ??
    refusalByDenial(fact, clause, place) ??
    (isOver(clause, fact.predicate) ? "not_stated" : null) ??
    refusalByContext(place, conversation) ??
    refusalOfSubject(fact, clause, place, conversation)
  );
}

const isOrder = (sentence: Sentence, { whole }: Clause): boolean =>
  sentence.has("roles") ||
  sentence.has("memory") ||
  begins(whole, "orders") ||
  begins(sentence.reading(), "orders");

/** Why the words around a claim make it somebody else's, a scene, or a supposition. */
function refusalByFrame(
  clause: Clause,
  { claim, predicate, reading }: { claim: string; predicate: string; reading: LanguageReading },
): Reason | null {
  const { before, since, whole } = clause;
  const upTo = { ...before, wording: since.wording + whole.wording };
  // "She insists on paper copies" is no report of it.
  const isReported = has(upTo, "reports") && !has(readPart(predicate, reading), "reports");
  if (clause.isBroken || isReported || has(before, "hands")) return "not_own_words";
  if (
    has({ ...before, wording: before.wording + whole.wording }, "scenes") ||
    has(before, "undoes") ||
    has(withoutWords(clause.behind, "frames"), "undoes") ||
    (has(withoutWords(upTo, "frames"), "supposes") && !plansSomething(claim, reading))
  )
    return "not_stated";
  return null;
}

/** Why a sentence denies a fact, or does not deny what the fact denies. */
function refusalByDenial(fact: FactProposal, clause: Clause, place: SentencePlace): Reason | null {
  const claim = `${fact.predicate} ${fact.object}`;
  const denies = deniesSomething(claim, place.sentence.reading());
  if (denies !== isDenied(clause, claim)) return "negated";
  const next = place.message.sentences()[place.i + 1];
  const replies = [clause.rest, ...(next === undefined || next.isQuestion() ? [] : [next.reading()])];
  // "My wife is vegetarian, I'm not."
  const isNamed = nameIn(fact.subject) !== null;
  if (!denies && replies.some((one) => deniesAlone(one, claim) && !(isNamed && has(one, "self"))))
    return "negated";
  return null;
}

/** Why what stands before and after a sentence makes it no statement. */
function refusalByContext({ message, i }: SentencePlace, { messages }: Conversation): Reason | null {
  const { at, source } = message;
  const said = messages.filter(
    (one) => one.source.role === "user" && one.source.speaker === source.speaker && one.at >= at - EARLIER,
  );
  const earlier = said.filter((one) => one.at < at).toReversed();
  // "Translate what comes": its text is in a message of its own.
  const waiting = earlier.filter(({ ownText }) => !ownText().includes(GAP));
  if (holds("hands", i, [message, ...waiting])) return "not_own_words";
  if (holds("scenes", i, [message, ...earlier])) return "not_stated";
  const next = said.find((one) => one.at > at);
  const question = next && messages[next.at - 1];
  const isAnswer =
    question?.source.role === "assistant" && question.sentences().at(-1)?.isQuestion() === true;
  const later = next?.undoing().filter((place) => place < NEXT) ?? [];
  // "Is it fun?" "Not really." But "Really?" "No, just kidding."
  const isReply =
    isAnswer &&
    later.every((place) => {
      const reading = next?.sentences()[place]?.reading() ?? message.reading();
      return begins(reading, "denies") && !has(withoutWords(reading, "denies"), "undoes");
    });
  const isUndone = message.undoing().some((place) => place > i) || (later.length > 0 && !isReply);
  return isUndone ? "not_stated" : null;
}

/** True if a word of a kind stands before a sentence of the first message, or in the others, and nothing ends it by then. The latest is first. */
function holds(cue: "hands" | "scenes", i: number, messages: readonly CheckedMessage[]): boolean {
  for (const [n, message] of messages.entries()) {
    const upTo = n === 0 ? i : Infinity;
    const end = message.placesOf("ends").findLast((place) => place <= upTo) ?? -1;
    if (message.placesOf(cue).some((place) => place > end && place < upTo)) return true;
    if (end >= 0) return false;
  }
  return false;
}
