import * as RECORDS from "./records.ts";
import type { AnswerWords, LanguageWords, RecallWords } from "./words.ts";

type Lists = Exclude<keyof RecallWords, "answers">;
const languages = Object.values<LanguageWords>(RECORDS);
const records = languages.flatMap(({ recall }) => recall ?? []);

/** The words of standing instructions in each language that has them. */
export const STANDING_WORDS = languages.flatMap(({ standing }) => standing ?? []);
const joined = (parts: readonly string[]): string => `(?:${parts.length === 0 ? "(?!)" : parts.join("|")})`;

/** The rows of a list in all languages that have it, each with its words. */
export const rowsOf = (kind: Lists): string[][] =>
  records.flatMap((record) => record[kind]?.split(",").map((row) => row.trim().split(/\s+/u)) ?? []);

/** The words of a list in all languages that have it. */
export const wordsOf = (kind: Lists): ReadonlySet<string> => new Set(rowsOf(kind).flat());

/** The part of an expression for what any language has of a kind. */
export const partOf = (kind: Lists): string => joined(records.flatMap((record) => record[kind] ?? []));

/** An expression for the same as whole words. */
export const wholeWords = (kind: Lists): RegExp => new RegExp(String.raw`\b${partOf(kind)}\b`, "iu");

/** The same for a type of answer. */
export const answerPart = (type: keyof AnswerWords, side: "asks" | "has"): string =>
  joined(records.flatMap(({ answers }) => answers?.[type]?.[side] ?? []));

const forms = rowsOf("irregular").flatMap((row) =>
  row.map((form) => [form, row.filter((one) => one !== form)] as const),
);
/** The other forms of an irregular verb, by each of its forms, folded: "bought" of "buy". */
export const otherForms: ReadonlyMap<string, readonly string[]> = new Map(forms);
