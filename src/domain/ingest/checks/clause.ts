import { begins, type Cue, has, placesOf, type LanguageReading, readPart } from "../../language/cues.ts";
import { placesBeforeSelf } from "../../language/forms.ts";
import { isUnspaced } from "../../language/scripts.ts";
import { type Need, needsOf, type PlacedWord, says } from "../../memory/content-stems.ts";
import { GAP } from "../own-words.ts";
import { type Sentence } from "./conversation.ts";

/** The words of a sentence around the object of a fact. `text`: what of the sentence is no question. */
export type Clause = {
  text: string;
  /** All words before the object, and those from the last "but I" on: what others say and what is supposed ends there, not at "so I". */
  before: LanguageReading;
  since: LanguageReading;
  /** The words of its clause before the object, all of its clause, what follows its clause up to the next mark, and to the end. */
  begun: LanguageReading;
  whole: LanguageReading;
  rest: LanguageReading;
  behind: LanguageReading;
  /** True if somebody else's words stand before the object in its clause: nobody can tell what they do to it. */
  isBroken: boolean;
};

/** Words from one word of an object to the next. */
const APART = 3;
const MARK = /[,;+:：，、،；。.!–—…()\n\p{Emoji_Presentation}]+(?!\d)|[ㅋㅎㅠㅜ]{2,}|\?\?+/gu;
const COMMA = /[,，、،\p{Emoji_Presentation}]|\s[–-]\s|[ㅋㅎㅠㅜ]{2,}|\?\?+/gu;
/** Kinds of words that part a sentence for a denial. */
const PARTING: readonly Cue[] = ["turns", "causes"];
/** Words of "isn't it?", and kinds of these. */
const TAG = 3;
const OF_TAG: readonly Cue[] = ["asks", "denies", "you", "self", "common", "joins", "others", "third"];

/** The clause of a sentence with an object; null if it is a question. `from`: where its words begin. */
export function clauseOf(object: string, from: number, sentence: Sentence): Clause | null {
  const reading = sentence.reading();
  const text = sentence.isQuestion() ? stated(sentence, from) : sentence.text;
  if (text === null) return null;
  const marks = Array.from(text.matchAll(MARK));
  const start = marks.findLast(({ index }) => index < from);
  // "Tea, without sugar" is one object.
  const objectEnd = text.toLowerCase().startsWith(object.toLowerCase(), from) ? from + object.length : from;
  const [close, next] = marks.filter(({ index }) => index >= objectEnd);
  const end = close?.index ?? text.length;
  const opening = text.slice(start === undefined ? 0 : start.index + start[0].length, from);
  const head = readPart(opening, reading);
  const tail = readPart(text.slice(from, end), reading);
  const before = readPart(text.slice(0, from), reading);
  // "I don't smoke and I love hiking."
  const turn = Math.max(
    1,
    ...PARTING.flatMap((cue) => placesOf(head, cue)),
    ...placesBeforeSelf(head, "joins"),
  );
  const stop = Math.min(
    tail.wording.length,
    ...[...PARTING, "joins" as const].flatMap((cue) => placesOf(tail, cue)),
  );
  const begun = { ...head, wording: head.wording.slice(turn - 1) };
  const whole = { ...begun, wording: begun.wording + tail.wording.slice(1, stop) };
  const isCut = stop < tail.wording.length;
  return {
    text,
    before,
    since: {
      ...before,
      wording: before.wording.slice(Math.max(1, ...placesBeforeSelf(before, "turns")) - 1),
    },
    begun,
    whole,
    rest: isCut
      ? { ...tail, wording: tail.wording.slice(stop - 1) }
      : readPart(text.slice(end, next?.index), reading),
    behind: readPart(text.slice(end), reading),
    isBroken: opening.includes(GAP),
  };
}

/**
 * Where the words of an object stand in a sentence: together, in their order and in one clause. -1 if nowhere. Of letters without
 * spaces, each word stands anywhere.
 */
export function placeOf(object: string, sentence: Sentence): number {
  const needs = needsOf(object);
  if (needs.length === 0) return sentence.hasName(object) ? Math.max(0, indexIn(object, sentence)) : -1;
  if (!sentence.says(needs)) return -1;
  const whole = indexIn(object, sentence);
  if (whole >= 0 || needs.some((need) => "flat" in need)) return Math.max(0, whole);
  const [words, text] = [sentence.words(), sentence.text];
  const isParted = (from: PlacedWord | undefined, to: PlacedWord | undefined): boolean =>
    text.slice(from?.index, to?.index).search(MARK) >= 0;
  const place = words.findIndex((_, first) => {
    let at = first;
    return needs.every((need, i) => {
      const room = words.slice(at, i === 0 ? first + 1 : at + APART);
      const next = room.findIndex(
        (one, j) =>
          says(saidOf(words.slice(at + j, at + j + lengthOf(need))), [need]) &&
          (i === 0 || object.includes(",") || !isParted(words[at - 1], one)),
      );
      at += next + 1;
      return next >= 0;
    });
  });
  return words[place]?.index ?? -1;
}

/** "Half-orc" may stand as two words. */
const lengthOf = (need: Need): number =>
  "flat" in need ? 1 : Math.max(...need.anyOf.map((stems) => stems.length));
const saidOf = (words: readonly PlacedWord[]) => ({
  stems: new Set(words.flatMap(({ stems }) => [...stems])),
  flat: "",
});
const indexIn = (object: string, { text }: Sentence): number =>
  text.toLowerCase().indexOf(object.toLowerCase());

/** True if no part of a sentence states anything: it asks from its beginning to its end. */
export const isBareQuestion = (sentence: Sentence): boolean =>
  sentence.isQuestion() && sentence.text.search(COMMA) < 0;

/** The part of a question that states something: "I'm vegan, any ideas?" Null if the object is in what is asked. */
function stated(sentence: Sentence, from: number): string | null {
  const [text, reading] = [sentence.text, sentence.reading()];
  const comma = Array.from(text.matchAll(COMMA)).at(-1)?.index ?? -1;
  if (from > comma) return null;
  const said = text.slice(0, comma);
  if (said.split(COMMA).some((part) => begins(readPart(part, reading), "asks"))) return null;
  const tag = readPart(text.slice(comma), reading).wording.trim();
  const words = tag.split(" ");
  // "It turns out I'm colourblind??"
  if (tag === "") return has(readPart(said, reading), "asks") ? null : said;
  const isTag = isUnspaced(tag)
    ? tag.length <= TAG
    : words.length <= TAG &&
      words.every((word) => OF_TAG.some((cue) => has({ ...reading, wording: ` ${word} ` }, cue)));
  return isTag ? null : said;
}
