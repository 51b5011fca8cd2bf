import { type Cue, has, isWordOf, placesOf, type LanguageReading } from "./cues.ts";
import type { LanguageForm } from "./memory-words.ts";

/** Letters of the ending of a name. */
const ENDING = 2;
/** Letters that tell a word. */
export const HEAD = 5;

/** True if a text may be in a language of this form. */
export const hasForm = (form: LanguageForm, { languages }: Pick<LanguageReading, "languages">): boolean =>
  languages.some(({ forms }) => forms.includes(form));

/** True if a denial behind a word may deny it. */
export const deniesLast = (reading: LanguageReading): boolean => hasForm("deniesLast", reading);

/** The places of the words of a kind that stand right before the speaker: "but I", "and now I". */
export function placesBeforeSelf(reading: LanguageReading, cue: Cue): number[] {
  const speakers = new Set(placesOf(reading, "self"));
  const behind = (at: number): number => reading.wording.indexOf(" ", at) + 1;
  const isNow = (at: number): boolean =>
    has({ ...reading, wording: ` ${reading.wording.slice(at, behind(at))}` }, "now");
  return placesOf(reading, cue)
    .map((at) => [at, behind(at)] as const)
    .filter(([, next]) => speakers.has(isNow(next) ? behind(next) : next))
    .map(([at]) => at);
}

/** True if a text has a name in another case: "Глафира" in "у Глафиры". */
export const hasFormOf = (name: string, text: string, reading: LanguageReading): boolean =>
  hasForm("declinesNames", reading) &&
  name.length > ENDING &&
  text
    .split(/[^\p{L}\p{M}]+/u)
    .some((word) => word.length - name.length <= ENDING && word.startsWith(name.slice(0, 1 - ENDING)));

/** True for a word that leads from a name to what follows: "to". */
export function isSmall(word: string, reading: LanguageReading): boolean {
  const one = { ...reading, wording: ` ${word} ` };
  return (has(one, "common") || has(one, "joins")) && !has(one, "third");
}

/** True for a verb as others have it: "sleeps". */
export const isOfOthers = (verb: string, reading: LanguageReading): boolean =>
  verb.length >= HEAD && has({ ...reading, wording: ` ${verb} ` }, "theirs") && !isWordOf(verb, reading);
