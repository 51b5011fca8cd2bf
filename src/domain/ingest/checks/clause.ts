import { begins, type Cue, has, placesOf, type Reading, readPart } from "../../language/cues.ts";
import { contentStems, stem } from "../../memory/content-stems.ts";
import { GAP } from "../own-words.ts";
import { isUnspaced, type Sentence } from "./conversation.ts";

/** The words of a sentence around the object of a fact. `text`: what of the sentence is no question. */
export type Clause = {
  text: string;
  /** All words before the object. */
  before: Reading;
  /** The words of its clause before the object, and all of its clause. */
  begun: Reading;
  whole: Reading;
  /** True if somebody else's words stand before the object in its clause: nobody can tell what they do to it. */
  isBroken: boolean;
};

const MARK = /[,;+:：，、،；。.!–—…()\n]+(?!\d)/gu;
const COMMA = /[,，、،]|\s[–-]\s/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’.@+-]*/gu;
/** Words of "isn't it?", and kinds of these. */
const TAG = 3;
const OF_TAG: readonly Cue[] = ["asks", "denies", "you", "self", "common", "joins", "others", "third"];

/** The clause of a sentence with an object; null if it is a question. */
export function clauseOf(object: string, sentence: Sentence): Clause | null {
  const { reading } = sentence;
  const from = placeOf(object, sentence.text);
  const text = sentence.isQuestion ? stated(sentence, from) : sentence.text;
  if (text === null) return null;
  const marks = Array.from(text.matchAll(MARK));
  const start = marks.findLast(({ index }) => index < from);
  const end = marks.find(({ index }) => index >= from)?.index ?? text.length;
  const opening = text.slice(start === undefined ? 0 : start.index + start[0].length, from);
  const head = readPart(opening, reading);
  const tail = readPart(text.slice(from, end), reading);
  const turn = Math.max(1, ...placesOf(head, "turns"));
  const stop = Math.min(tail.said.length, ...placesOf(tail, "turns"), ...placesOf(tail, "joins"));
  const begun = { ...head, said: head.said.slice(turn - 1) };
  const whole = { ...begun, said: begun.said + tail.said.slice(1, stop) };
  return {
    text,
    before: readPart(text.slice(0, from), reading),
    begun,
    whole,
    isBroken: opening.includes(GAP),
  };
}

/** Where an object begins in a sentence that has its words. */
function placeOf(object: string, sentence: string): number {
  const whole = sentence.toLowerCase().indexOf(object.toLowerCase());
  if (whole >= 0) return whole;
  const stems = new Set(contentStems(object));
  const isOf = (word: string): boolean =>
    [word.replace(/[.'’-]+$/u, ""), ...word.split(/[-'’.]/u)].some((part) => stems.has(stem(part)));
  return Array.from(sentence.matchAll(WORD)).find(([word]) => isOf(word))?.index ?? 0;
}

/** The part of a question that states something: "I'm vegan, any ideas?" Null if the object is in what is asked. */
function stated({ text, reading }: Sentence, from: number): string | null {
  const comma = Array.from(text.matchAll(COMMA)).at(-1)?.index ?? -1;
  if (from > comma) return null;
  const said = text.slice(0, comma);
  if (said.split(COMMA).some((part) => begins(readPart(part, reading), "asks"))) return null;
  const tag = readPart(text.slice(comma), reading).said.trim();
  const words = tag.split(" ");
  const isTag = isUnspaced(tag)
    ? tag.length <= TAG
    : words.length <= TAG &&
      words.every((word) => OF_TAG.some((cue) => has({ ...reading, said: ` ${word} ` }, cue)));
  return isTag ? null : said;
}
