import { anyOf, fieldsOf, rowsIn } from "./fields.ts";
import type { AnswerWords, RecallWords } from "./words.ts";

type Lists = Exclude<keyof RecallWords, "answers">;
const records = fieldsOf("recall");

/** The rows of a list in all languages that have it, each with its words. */
export const rowsOf = (kind: Lists): string[][] => rowsIn(records.flatMap((record) => record[kind] ?? []));

/** The words of a list in all languages that have it. */
export const wordsOf = (kind: Lists): ReadonlySet<string> => new Set(rowsOf(kind).flat());

/** The part of an expression for what any language has of a kind. */
export const partOf = (kind: Lists): string => anyOf(records.map((record) => record[kind]));

/** An expression for the same as whole words. */
export const wholeWords = (kind: Lists): RegExp => new RegExp(String.raw`\b${partOf(kind)}\b`, "iu");

/** The same for a type of answer. */
export const answerPart = (type: keyof AnswerWords, side: "asks" | "has"): string =>
  anyOf(records.map(({ answers }) => answers?.[type]?.[side]));

const forms = rowsOf("irregular").flatMap((row) =>
  row.map((form) => [form, row.filter((one) => one !== form)] as const),
);
/** The other forms of an irregular verb, by each of its forms, folded: "bought" of "buy". */
export const otherForms: ReadonlyMap<string, readonly string[]> = new Map(forms);
