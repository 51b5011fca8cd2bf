import { stemmer } from "stemmer";
import { rowsOf, wordsOf as listOf } from "../language/recall-words.ts";
import { isUnspaced } from "../language/scripts.ts";
import { folded } from "../ranking/fold.ts";

const WORD = /\d{1,3}(?:[.,]\d{3})+(?![\d\p{L}])|[\p{L}\p{N}][\p{L}\p{N}'’.@+-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
const LATIN = /^[a-z']+$/;

/** Words that say nothing about a fact. */
const EMPTY = listOf("empty");

const [ENDINGS, OWNER_ENDS] = [rowsOf("endings"), rowsOf("ownerEnd")].map((rows) =>
  rows.flat().map((ending) => new RegExp(`${ending}$`, "u")),
) as [RegExp[], RegExp[]];
const withoutEnds = (word: string, ends: readonly RegExp[]): string =>
  ends.reduce((rest, end) => rest.replace(end, ""), word);

/** The numbers that people write as words. */
const NUMBERS: ReadonlyMap<string, string> = new Map(
  rowsOf("numerals").flatMap((words) => words.map((word, i) => [word, String(i)] as const)),
);

/** A word for comparison: folded and stemmed, a number without its separators. */
export function stem(word: string): string {
  // Most words: nothing of the rest changes them.
  if (/^[a-z]+$/.test(word)) return NUMBERS.get(word) ?? stemmer(word);
  const plain = withoutEnds(folded(word.replaceAll(/[’`´]/gu, "'")), OWNER_ENDS);
  const number =
    NUMBERS.get(plain) ?? (/^\d{1,3}(?:[.,]\d{3})+$/u.test(plain) ? plain.replaceAll(/[.,]/gu, "") : null);
  if (number !== null) return number;
  return LATIN.test(plain) ? stemmer(plain) : plain;
}

export const wordsOf = (text: string): string[] => text.match(WORD) ?? [];

/** The stems of the words of a text that say something. */
export const contentStems = (text: string): string[] =>
  wordsOf(text)
    .map((word) => withoutEnds(word, ENDINGS))
    .filter((word) => word !== "" && !EMPTY.has(folded(word)))
    .map(stem);

/** The words of a source: their stems, and the text without spaces for scripts that write none. */
export type SourceWords = { stems: ReadonlySet<string>; flat: string };

/** The words of a source. Many texts are looked for in it: stem it once. */
export const sourceWords = (source: string): SourceWords => ({
  stems: new Set(wordsOf(source).flatMap((word) => [stem(word), ...partsOf(word)])),
  flat: folded(source).replaceAll(/\s+/gu, ""),
});

/** A word of a text, by its place: its stem, and those of its parts. */
export type PlacedWord = { index: number; stems: ReadonlySet<string> };
export const placedWords = (text: string): PlacedWord[] =>
  Array.from(text.matchAll(WORD), ({ 0: word, index }) => ({
    index,
    stems: new Set([stem(word), ...partsOf(word)]),
  }));

/** The words of several sources. */
export const joined = (some: readonly SourceWords[]): SourceWords => ({
  stems: new Set(some.flatMap(({ stems }) => [...stems])),
  flat: some.map(({ flat }) => flat).join(""),
});

/** A word that a source has to say: one of these lists of stems, or a text of a script without spaces. */
export type Need = { anyOf: readonly (readonly string[])[] } | { flat: string };

/** The words of a text that a source has to say, each once. Many sources are searched for them: stem them once. */
export function needsOf(text: string): readonly Need[] {
  const needs = new Map<string, Need>();
  for (const word of new Set(wordsOf(text))) {
    const plain = folded(word);
    if (EMPTY.has(plain)) continue;
    if (isUnspaced(word)) needs.set(plain, { flat: plain });
    else {
      const anyOf = [[stem(word)], partsOf(word)];
      needs.set(anyOf.map((stems) => stems.join(" ")).join("\n"), { anyOf });
    }
  }
  return [...needs.values()];
}

/** True if a source says all these words. */
export const says = ({ stems, flat }: SourceWords, needs: readonly Need[]): boolean =>
  needs.every((need) =>
    "flat" in need
      ? flat.includes(need.flat)
      : need.anyOf.some((words) => words.every((word) => stems.has(word))),
  );

const partsOf = (word: string): string[] => word.split(/[-'’.]/u).map(stem);

/** The numbers and the names in a text: words with a digit, and words in capitals that do not begin it. */
export const numbersAndNames = (text: string): string[] =>
  wordsOf(text).filter((word, i) => /\p{N}/u.test(word) || (i > 0 && /^\p{Lu}/u.test(word)));
