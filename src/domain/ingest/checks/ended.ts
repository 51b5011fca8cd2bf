import {
  type Cue,
  has,
  placesOf,
  type LanguageReading,
  readPart,
  withEnglish,
  withoutWords,
} from "../../language/cues.ts";
import { anyOf, fieldsOf } from "../../language/fields.ts";
import { deniesLast } from "../../language/forms.ts";
import { otherForms } from "../../language/recall-words.ts";
import { contentStems, stem } from "../../memory/content-stems.ts";
import type { Clause } from "./clause.ts";

/** Kinds of words of a denial that names nothing of its own. */
const OF_DENIAL: readonly Cue[] = ["denies", "now", "turns", "causes", "joins", "self", "third", "common"];

/** True if words deny a claim and say nothing else: "but no longer", "No, I don't." */
export function deniesAlone(reading: LanguageReading, claim: string): boolean {
  if (!has(reading, "denies")) return false;
  const known = new Set(contentStems(claim));
  const { wording: rest } = OF_DENIAL.reduce(withoutWords, reading);
  return rest.split(" ").every((word) => word === "" || known.has(stem(word)));
}

/**
 * True if a clause denies what it says. Behind "I am 29", "not 92" denies something else, unless denials stand last in the language.
 * "Not since May" does not, and "that never barks" does.
 */
export function isDenied({ begun, whole }: Clause, claim: string): boolean {
  if (!has(whole, "denies") || has(begun, "denies") || !has(begun, "self")) return has(whole, "denies");
  const tail = { ...whole, wording: whole.wording.slice(begun.wording.length - 1) };
  const at = Math.min(...placesOf(tail, "denies"));
  const own = { ...tail, wording: tail.wording.slice(0, placesOf(tail, "relates")[0]) };
  const isBehind =
    deniesLast(tail) || has(own, "never") || has({ ...tail, wording: tail.wording.slice(0, at) }, "self");
  return isBehind || deniesAlone({ ...tail, wording: tail.wording.slice(at - 1) }, claim);
}

/** True if a clause says of the past what a predicate says of now: "I lived in Porto". */
export function isOver({ begun, whole }: Clause, predicate: string): boolean {
  const claim = readPart(predicate, withEnglish(begun));
  const verbs = claim.wording.trim().split(" ");
  const isNow = verbs[0] === "is"; // "Is obsessed with."
  if (has(claim, "past") || (!isNow && verbs.some((verb) => isPastVerb(verb, claim)))) return false;
  // "I wear glasses since I was a kid."
  const ends = [...placesOf(whole, "asks"), ...placesOf(whole, "since")].filter(
    (at) => at >= begun.wording.length,
  );
  if (has({ ...whole, wording: whole.wording.slice(0, Math.min(whole.wording.length, ...ends)) }, "past"))
    return true;
  const stems = new Set(verbs.map(stem));
  const isPast = (word: string): boolean =>
    isPastVerb(word, whole)
      ? !isNow && stems.has(stem(word))
      : (otherForms.get(word) ?? []).some((form) => stems.has(stem(form)));
  return placesOf(begun, "self").some((at) => {
    const [speaker = "", next = "", second = ""] = begun.wording.slice(at).split(" ");
    const verb = has({ ...begun, wording: ` ${next} ` }, "adverbs") ? second : next;
    // "I've lived here for years."
    return !WITH_VERB.test(speaker) && isPast(verb);
  });
}

const WITH_VERB = new RegExp(`${anyOf(fieldsOf("statements").map(({ verbEnds }) => verbEnds))}$`, "u");

/** True for "lived", and not for "need". */
export const isPastVerb = (word: string, reading: LanguageReading): boolean =>
  has({ ...reading, wording: ` ${word} ` }, "did") && stem(word) !== word;
