import { answerPart, partOf } from "../language/recall-words.ts";
import type { AnswerWords } from "../language/words.ts";

/** A type of answer: how a question asks for it, and how a text that has one looks. */
type AnswerType = { asks: RegExp; has: RegExp } & Traits;
type Traits = {
  /** A text has it, too, that has none of its words: by digits and marks. */
  marks?: string;
  /** Its words have capitals in a question; in a text. */
  asksWithCase?: true;
  hasWithCase?: true;
  /** An amount, which the number of a day or an hour is not. */
  isAmount?: true;
  /** The mend of a fault, or its cause, and no value. */
  isMend?: true;
  /** A line without it may be an answer too: it ranks lower, and the confidence does not count it. */
  isWeak?: true;
};

/** A year of four digits is no other number. */
const NO_YEAR = String.raw`\b(?!(?:19|20)\d\d\b)`;
/** Types without a mark of their own (a school, a breed) are not here. "When did" is none: the time at which a thing was said answers it. */
const TRAITS: Record<keyof AnswerWords, Traits> = {
  // A number without a currency will do if it is no time, year or measure.
  money: {
    marks: String.raw`[€$£¥]|\b\d+p\b|(?<![:.\d])${NO_YEAR}\d{2,}\b(?!:\d|\s*${partOf("units")}\b)`,
    isAmount: true,
  },
  age: { marks: String.raw`\b\d{1,3}\b(?!\d|:| ?(?:%|${partOf("notYears")}))`, isAmount: true },
  email: { marks: "@" },
  phone: { marks: String.raw`${NO_YEAR}\d[\d\s()/\-]{2,}\d` },
  spouse: {},
  birthday: {},
  // A code or an identity number: letters with digits, a long number that is no year, or something quoted.
  code: {
    marks: String.raw`\b(?=\w*\d)(?=\w*\p{L})[\p{L}\d]+\b|\p{L}-\d|\d-\p{L}|\d-\d|${NO_YEAR}\d{3,}\b|\w-\w+-\w|["“][^"“”]+["”]`,
    hasWithCase: true,
  },
  measure: { marks: String.raw`\d` },
  duration: { marks: String.raw`\d` },
  frequency: {},
  time: { marks: String.raw`\d` },
  colour: {},
  person: { hasWithCase: true },
  cause: { isMend: true },
  // A code of capitals and digits, or an error, is a fault.
  fault: { asksWithCase: true, isMend: true, isWeak: true },
};

// The keys of the table are the types.
const types = (Object.entries(TRAITS) as [keyof AnswerWords, Traits][]).map(([name, traits]): AnswerType => {
  const { marks, asksWithCase, hasWithCase } = traits;
  const has = answerPart(name, "has");
  return {
    ...traits,
    asks: new RegExp(answerPart(name, "asks"), asksWithCase ? "u" : "iu"),
    has: new RegExp(marks === undefined ? has : `${marks}|${has}`, hasWithCase ? "u" : "iu"),
  };
});
const OF_DAY = new RegExp(partOf("ofDay"), "giu");

/** True if a question asks for a value: a number, a time, a name. "How do I fix this?" asks for none. */
export const asksForValue = (question: string): boolean =>
  types.some(({ asks, isMend }) => isMend !== true && asks.test(question));

const OF_TIME = new RegExp(String.raw`^(?:\d{1,2}|${answerPart("time", "has")})$`, "iu");
/** True for a word that is a part of a time: a weekday, a month, an hour. */
export const isOfTime = (word: string): boolean => OF_TIME.test(word);

/**
 * Tells of a text if it lacks a type of answer that a question asks for; with `weak`, also one that it need not have. Many texts
 * are tested: the question is read once.
 */
export function typeTest(question: string, { weak = false } = {}): (text: string) => boolean {
  const all = types.filter(({ asks, isWeak }) => (weak || isWeak !== true) && asks.test(question));
  // "How much did it cost to fix the boiler?" asks for a price, and for no mend.
  const values = all.filter(({ isMend }) => isMend !== true);
  const typesOfQuestion = values.length > 0 ? values : all;
  return (text) =>
    typesOfQuestion.some(
      ({ has, isAmount }) => !has.test(isAmount === true ? text.replaceAll(OF_DAY, "") : text),
    );
}
