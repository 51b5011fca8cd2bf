import {
  type Cue,
  deniesSomething,
  has,
  isWordOf,
  placesOf,
  type LanguageReading,
  readPart,
  shows,
  withoutWords,
} from "../../language/cues.ts";
import { HEAD, hasForm, hasFormOf, isOfOthers, isSmall } from "../../language/forms.ts";
import { isUnspaced } from "../../language/scripts.ts";
import { contentStems, needsOf, stem } from "../../memory/content-stems.ts";
import type { FactProposal } from "../proposal.ts";
import type { Clause } from "./clause.ts";
import { isPastVerb } from "./ended.ts";
import { type Conversation, type CheckedMessage, type Sentence } from "./conversation.ts";
import type { Reason } from "./reasons.ts";

/** Words of a question that needs no person. */
const BRIEF = 4;
const USER = /^(?:the )?user$/iu;
const OF_USER = /^(?:the )?user(?:['’]s)?\s+|(?<![\p{L}\p{N}])user(?![\p{Script=Latin}\p{N}])/iu;
const wordAt = (wording: string, at: number): string => wording.slice(at).split(" ", 1)[0] ?? "";
/** The place behind a word and its space. */
const behind = (wording: string, at: number): number => at + wordAt(wording, at).length + 1;
const last = (places: readonly number[]): number => Math.max(-1, ...places);

/** The words for persons in a text that a fact does not name. */
class Persons {
  readonly #known: ReadonlySet<string>;

  constructor({ subject, predicate, object }: FactProposal) {
    this.#known = new Set(contentStems(`${subject} ${predicate} ${object}`));
  }

  knows(word: string): boolean {
    return this.#known.has(stem(word));
  }

  /** True if a text has a word that begins as one of the fact: "allergies", "allergic". */
  areNear({ wording }: LanguageReading): boolean {
    const heads = new Set([...this.#known].map((word) => word.slice(0, HEAD)));
    return wording.split(" ").some((word) => word.length >= HEAD && heads.has(word.slice(0, HEAD)));
  }

  /** Where such words stand. */
  in(reading: LanguageReading, ...cues: Cue[]): number[] {
    return cues
      .flatMap((cue) => placesOf(reading, cue))
      .filter((at) => !this.knows(wordAt(reading.wording, at)));
  }

  /** Where names stand, but for those from which only small words lead to the object: "from Cairo to Dubai". */
  names(reading: LanguageReading): number[] {
    if (hasForm("capitalizesNouns", reading)) return [];
    return reading.names.filter(
      (at) =>
        !this.knows(wordAt(reading.wording, at)) &&
        !reading.wording
          .slice(behind(reading.wording, at))
          .trim()
          .split(" ")
          .every((word) => isSmall(word, reading)),
    );
  }
}

/** The name of a subject that is not the user: "sister" of "user's sister". Null for the user. */
export const nameIn = (subject: string): string | null =>
  USER.test(subject.trim()) ? null : subject.replace(OF_USER, "").trim();

/** The last question of the assistant's message before another. */
export function questionBefore(
  { at }: CheckedMessage,
  { messages }: Pick<Conversation, "messages">,
): Sentence | undefined {
  const before = messages[at - 1];
  return before?.source.role === "assistant"
    ? before.sentences().findLast((one) => one.isQuestion())
    : undefined;
}

/** Why a sentence does not say it of the subject of a fact; null if it does. */
export function refusalOfSubject(
  fact: FactProposal,
  { text, before, begun, whole }: Clause,
  { message, sentence }: { message: CheckedMessage; sentence: Sentence },
  conversation: Conversation,
): Reason | null {
  const persons = new Persons(fact);
  const name = nameIn(fact.subject);
  if (name !== null) {
    const state = { before, persons, message, sentence };
    const isSaid = name === fact.subject ? saysOfNamed(name, state) : saysOfRelation(name, state);
    return isSaid ? null : "not_about_user";
  }
  if (isAboutAnother(fact, before, { persons, sentence })) return "not_first_person";
  if (isToldByAnother(begun, persons)) return "not_own_words";
  const all = readPart(text, before);
  const question = questionBefore(message, conversation);
  // "Which phone is it?" "My Pixel."
  const ofQuestion = has(all, "self") ? [] : (question?.reading() ?? []);
  const isShown = [message.reading(), ofQuestion].flat().some((one) => shows(one, fact.predicate));
  const shown = isShown ? null : "predicate_not_in_source";
  if (has(all, "self") || has(all, "whose")) return shown;
  const upTo = { ...before, wording: before.wording + whole.wording };
  if (namesAnother(upTo, persons)) return "not_first_person";
  if (question !== undefined) return refusalOfAnswer(fact, persons, question, { message, upTo });
  return beginsWithName(sentence, persons) ? "not_first_person" : shown;
}

const namesAnother = (upTo: LanguageReading, persons: Persons): boolean =>
  has(upTo, "third") || persons.in(upTo, "others").length > 0;

const isAboutAnother = (
  { predicate }: FactProposal,
  before: LanguageReading,
  { persons, sentence }: { persons: Persons; sentence: Sentence },
): boolean => isWithoutUser(before) || isOfAnother(before, persons) || hasVerbOfAnother(predicate, sentence);

/** "They decided that I am a spy." */
function isToldByAnother(begun: LanguageReading, persons: Persons): boolean {
  const speaker = last(placesOf(begun, "self"));
  const teller = last(persons.in(begun, "others").filter((at) => at < speaker));
  return teller >= 0 && !placesOf(begun, "joins").some((at) => at > teller && at < speaker);
}

/** A sentence that may say something of somebody else. `before`: its words before the object. */
type Spoken = { before: LanguageReading; persons: Persons; message: CheckedMessage; sentence: Sentence };

/** True if a sentence may say it of this one: it names them, or it names nobody and a sentence before does. "I" is nobody with a name. */
function saysOfNamed(name: string, { before, persons, message, sentence }: Spoken): boolean {
  const needs = needsOf(name);
  if (sentence.says(needs) || hasFormOf(name, sentence.text, sentence.reading())) return true;
  if (persons.names(before).length > 0 || has(before, "self")) return false;
  const sentences = message.sentences();
  return sentences.slice(0, sentences.indexOf(sentence)).some((one) => one.says(needs));
}

/** The same of one of the user's. Many words tell a relation ("bro", "she"), and "we" may be the user's team, but "I" is nobody else. */
function saysOfRelation(name: string, { before, persons, sentence }: Spoken): boolean {
  if (sentence.says(needsOf(name))) return true;
  if (persons.names(before).length > 0) return false;
  const reading = sentence.reading();
  return !has(withoutWords(before, "plural"), "self") || has(reading, "others") || has(reading, "whose");
}

/** True if the speaker before the object is the one of whom something is not said: "everyone but me". */
function isWithoutUser(before: LanguageReading): boolean {
  const at = last(placesOf(before, "excepts"));
  if (at < 0) return false;
  return !has(withoutWords({ ...before, wording: before.wording.slice(at - 1) }, "excepts"), "self");
}

/** True if the last person before the object is not the speaker. "My" and a noun that the fact does not name is another. */
function isOfAnother(before: LanguageReading, persons: Persons): boolean {
  const { wording } = before;
  const people = persons.in(before, "others", "you");
  // "The man I met breeds dogs." Some languages put "my" behind.
  const ends = new Set(people.map((at) => behind(wording, at)));
  const speaker = last(placesOf(before, "self").filter((at) => !ends.has(at)));
  // "I live with my cousin Bob": the person is the object.
  const isObject = (at: number): boolean =>
    speaker >= 0 && wording[at - 1] === " " && behind(wording, at) === wording.length;
  const whose = placesOf(before, "whose");
  const things = whose.filter((at) => {
    const [, first = "", second = ""] = wording.slice(at).split(" ");
    const isSpeaker =
      persons.knows(first) ||
      persons.knows(second) ||
      has({ ...before, wording: ` ${first} ${second} ` }, "traits");
    return first !== "" && !isSpeaker && !people.some((one) => one === behind(wording, at) && isObject(one));
  });
  // "The cat we adopted is deaf": the verb is not the speaker's, unless the fact's verb stands before it.
  const isVerbOf = (at: number): boolean => {
    const between = wording.slice(behind(wording, speaker), at);
    const isOwn =
      between === "" ||
      between
        .trim()
        .split(" ")
        .some((word) => persons.knows(word));
    return (
      !isOwn &&
      !(["joins", "turns", "causes"] as const).some((cue) => has({ ...before, wording: ` ${between}` }, cue))
    );
  };
  const verbs = placesOf(before, "third").filter((at) =>
    speaker < 0 ? whose.length === 0 : at > speaker && isVerbOf(at),
  );
  const others = [...people, ...persons.names(before)].filter((at) => isUnspaced(wording) || !isObject(at));
  return last([...others, ...things, ...verbs]) > speaker;
}

/** True if a sentence may begin with a name and what that one does: "Anna collects stamps". */
function beginsWithName(sentence: Sentence, persons: Persons): boolean {
  const [text, reading] = [sentence.text, sentence.reading()];
  const [name = "", verb = ""] = reading.wording.trim().split(" ");
  const isKnown = (word: string): boolean => persons.knows(word) || isWordOf(word, reading);
  return (
    /^\p{Lu}\p{Ll}/u.test(text) &&
    !isKnown(name) &&
    !isKnown(verb) &&
    (isOfOthers(verb, reading) || isPastVerb(verb, reading))
  );
}

/** True if a sentence has the verb of the predicate as others have it, and not beside its speaker: "A client of ours sleeps". */
function hasVerbOfAnother(predicate: string, sentence: Sentence): boolean {
  const reading = sentence.reading();
  const [verb = ""] = readPart(predicate, reading).wording.trim().split(" ");
  const { wording } = reading;
  const at = wording.indexOf(` ${verb} `);
  if (at < 0 || !isOfOthers(verb, reading)) return false;
  return !placesOf(reading, "self").some(
    (one) => one === at + verb.length + 2 || behind(wording, one) === at + 1,
  );
}

/** Why a sentence without a person does not answer the question before it: that has to ask the user, and about nobody else. */
function refusalOfAnswer(
  { predicate, object }: FactProposal,
  persons: Persons,
  question: Sentence,
  { message, upTo }: { message: CheckedMessage; upTo: LanguageReading },
): Reason | null {
  const reading = question.reading();
  // "Any food that I should avoid?", "Tea or coffee?"
  const isBrief = reading.wording.split(" ").length - 2 <= BRIEF;
  const isOfUser = question.has("you") || (question.has("self") && shows(message.reading(), predicate));
  if (question.has("supposes") || !(isOfUser || isBrief || persons.areNear(reading))) return "not_stated";
  const denies = deniesSomething(`${predicate} ${object}`, reading);
  if (question.has("denies") !== denies && !(denies && has(upTo, "denies"))) return "negated";
  // The same word is "they" and "you" in some languages.
  const you = placesOf(reading, "you");
  const isOther = persons.in(reading, "others").some((at) => !you.includes(at));
  const first = you[0] ?? reading.wording.length;
  const isAsked = last(placesOf(reading, "asks")) > first;
  const isNamed = persons.names(reading).some((at) => isAsked || at < first);
  return isOther || isNamed ? "not_about_user" : null;
}
