import { RECORDS } from "./records.ts";
import type { LanguageWords } from "./words.ts";

/** A kind of words: of a record, or of all. */
export type Cue = Exclude<keyof LanguageWords, "shows">;
/** The expressions of a language. `words`: whole words that most sentences have, which tell the language. */
type Language = {
  code: string;
  cues: ReadonlyMap<Cue, RegExp>;
  words: ReadonlySet<string>;
  shows: readonly (readonly [predicate: string, words: RegExp])[];
};

/**
 * A text as its words are compared. `said`: in lower case, with a space around each word. `names`: the places of words with a capital,
 * but the first. `languages`: those whose words it has.
 */
export type Reading = { said: string; names: readonly number[]; languages: readonly Language[] };

/** Letters of languages that are looked for without spaces: they write none, or their endings are many. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const WORD = /[\p{L}\p{M}\p{N}]+(?:['-]+[\p{L}\p{M}\p{N}]+)*/gu;
const LETTERS = String.raw`[\p{L}\p{M}\p{N}'-]*`;

const isUnspaced = (text: string): boolean => UNSPACED.test(text);
const unmarked = (word: string): string =>
  word
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036f]/gu, "")
    .normalize("NFC");
const listed = (words: string): string[] =>
  words
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")
    .flatMap((word) => [...new Set([word, unmarked(word)])]);

function expressionOf(words: string): RegExp {
  const parts = listed(words).map((word) =>
    isUnspaced(word) ? word : `(?<= )${word.replaceAll("*", LETTERS)}(?= )`,
  );
  return new RegExp(parts.length === 0 ? "(?!)" : parts.join("|"), "gu");
}

const LANGUAGES: readonly Language[] = Object.entries(RECORDS).map(([code, { shows = {}, ...record }]) => ({
  code,
  // The names of a record's fields are the kinds.
  cues: new Map(
    (Object.entries(record) as [Cue, string][]).map(([cue, words]) => [cue, expressionOf(words)]),
  ),
  shows: Object.entries(shows).map(([predicate, words]) => [predicate, expressionOf(words)] as const),
  // A single letter of another language is an article or a preposition.
  words: new Set(
    Object.values(record)
      .flatMap(listed)
      .filter((word) => !/^[a-z]$|[ *]/u.test(word)),
  ),
}));
const [ENGLISH] = LANGUAGES.filter(({ code }) => code === "en");

/** Only English has it with a capital within a sentence. */
const I = /(?<![\p{L}'’])I(?![\p{L}.])/u;
const NO_LANGUAGES: readonly Language[] = [];

/** Reads a text. `around`: the languages of what stands around it. */
export function read(text: string, around: readonly Language[] = NO_LANGUAGES): Reading {
  const words = wordsIn(text);
  return { ...words, languages: [...new Set([...languagesIn(words.said, I.test(text)), ...around])] };
}

/** Reads a part of what was read: its languages are those of the whole. */
export const readPart = (text: string, { languages }: Pick<Reading, "languages">): Reading => ({
  ...wordsIn(text),
  languages,
});

function wordsIn(text: string): Pick<Reading, "said" | "names"> {
  let said = " ";
  const names: number[] = [];
  for (const [word] of text.replaceAll(/[’`´]/gu, "'").normalize("NFC").matchAll(WORD)) {
    if (said !== " " && /^\p{Lu}[\p{L}\p{M}]/u.test(word)) names.push(said.length);
    said += `${word.toLowerCase()} `;
  }
  return { said, names };
}

/** The languages of which a text has most words. Without a word of any, Latin letters are read as English, and others are not. */
function languagesIn(said: string, hasI: boolean): readonly Language[] {
  const words = said.split(" ");
  const flat = isUnspaced(said);
  const hits = LANGUAGES.map((language) => {
    const found =
      words.filter((word) => language.words.has(word)).length + (language === ENGLISH && hasI ? 1 : 0);
    return flat && isUnspaced(language.words.values().next().value ?? "")
      ? [...language.words].filter((word) => isUnspaced(word) && said.includes(word)).length
      : found;
  });
  const most = Math.max(...hits);
  if (most > 0) return LANGUAGES.filter((_, i) => hits[i] === most);
  return ENGLISH !== undefined && /^[\p{Script=Latin}\P{L}]*$/u.test(said) ? [ENGLISH] : NO_LANGUAGES;
}

/** The places of the words of a kind. */
export const placesOf = ({ said, languages }: Pick<Reading, "said" | "languages">, cue: Cue): number[] =>
  languages.flatMap(({ cues }) => Array.from(said.matchAll(cues.get(cue) ?? /(?!)/gu), ({ index }) => index));

/** True if a text has a word of a kind. */
export const has = ({ said, languages }: Pick<Reading, "said" | "languages">, cue: Cue): boolean =>
  languages.some(({ cues }) => said.search(cues.get(cue) ?? /(?!)/u) >= 0);

/** True if a word is one that tells a language of the text. */
export const isWordOf = (word: string, { languages }: Pick<Reading, "languages">): boolean =>
  languages.some(({ words }) => words.has(word));

/** True if a text begins with a word of a kind. */
export const begins = ({ said, languages }: Pick<Reading, "said" | "languages">, cue: Cue): boolean =>
  languages.some(({ cues }) => said.search(cues.get(cue) ?? /(?!)/u) === 1);

/** True if a text denies something. A predicate may be English, whatever language its message is in. */
export const deniesSomething = (text: string, { languages } = read(text)): boolean =>
  has(readPart(text, withEnglish(languages)), "denies");

/** The same of what is supposed or planned. */
export const plansSomething = (text: string, { languages }: Pick<Reading, "languages">): boolean =>
  has(readPart(text, withEnglish(languages)), "supposes");

const withEnglish = (languages: readonly Language[]) => ({
  languages: ENGLISH === undefined ? languages : [ENGLISH, ...languages],
});

/** True unless each language of a text has words for such a predicate, and the text has none of them. */
export const shows = ({ said, languages }: Reading, predicate: string): boolean => {
  const words = wordsIn(predicate).said;
  return languages.some(
    (language) =>
      !language.shows.some(([head, shown]) => words.includes(` ${head}`) && said.search(shown) < 0),
  );
};

/** True if a text gives an order to a memory or an assistant, or speaks of them. */
export const speaksToTheMemory = (text: string): boolean => {
  const reading = read(text);
  return has(reading, "memory") || begins(reading, "orders");
};
