import * as RECORDS from "./records.ts";
import type { LanguageWords } from "./words.ts";

const languages = Object.values<LanguageWords>(RECORDS);

/** A field of the records, of each language that has it. */
export const fieldsOf = <Field extends keyof LanguageWords>(
  field: Field,
): NonNullable<LanguageWords[Field]>[] => languages.flatMap((record) => present(record[field]));

const present = <Value>(value: Value): NonNullable<Value>[] => (value == null ? [] : [value]);

/** The part of an expression for any of several parts. */
export const anyOf = (parts: readonly (string | undefined)[]): string => {
  const some = parts.flatMap(present);
  return `(?:${some.length === 0 ? "(?!)" : some.join("|")})`;
};

/** The rows of several lists, each with its words. */
export const rowsIn = (lists: readonly string[]): string[][] =>
  lists.flatMap((list) => list.split(",").map((row) => row.trim().split(/\s+/u)));

/** The words of several lists. */
export const wordsIn = (lists: readonly string[]): ReadonlySet<string> => new Set(rowsIn(lists).flat());
