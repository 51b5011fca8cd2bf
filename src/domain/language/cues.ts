import type { LanguageForm } from "./memory-words.ts";
import * as RECORDS from "./records.ts";
import { isUnspaced } from "./scripts.ts";
import type { LanguageWords } from "./words.ts";

/** A kind of words: of a record, or of all. */
export type Cue = Exclude<
  keyof LanguageWords,
  | "shows"
  | "pleasantries"
  | "recall"
  | "standing"
  | "writing"
  | "statements"
  | "facts"
  | "forms"
  | keyof Attached
>;
type Attached = Pick<LanguageWords, "compounds" | "prefixes">;
/** The expressions of a language. `words`: whole words that most sentences have, which tell the language. */
export type Language = {
  code: string;
  /** True if it is written in Latin letters. */
  isLatin: boolean;
  cues: ReadonlyMap<Cue, RegExp>;
  words: ReadonlySet<string>;
  /** Phrases of some words, which tell it where none of those stands. */
  phrases: RegExp;
  shows: readonly (readonly [predicate: string, words: RegExp])[];
  pleasantries: string;
  forms: readonly LanguageForm[];
};

/**
 * A text as its words are compared. `wording`: in lower case, with a space around each word. `names`: the places of words with a capital,
 * but the first. `languages`: those whose words it has.
 */
export type LanguageReading = { wording: string; names: readonly number[]; languages: readonly Language[] };

const WORD = /[\p{L}\p{M}\p{N}]+(?:['-]+[\p{L}\p{M}\p{N}]+)*/gu;
const LATIN = /^[\p{Script=Latin}\P{L}]*$/u;
const LETTERS = String.raw`[\p{L}\p{M}\p{N}'-]*`;

const unmarked = (word: string): string =>
  word
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036f]/gu, "")
    .normalize("NFC");
export const listed = (words: string): string[] =>
  words
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")
    .flatMap((word) => [...new Set([word, unmarked(word)])]);

/** The words of a kind, the longest first: "no longer" before "no". */
export function expressionOf(words: readonly string[], { compounds = "", prefixes = "" }: Attached): RegExp {
  const attached = listed(prefixes).join("|");
  const start = attached === "" ? "(?<= )" : `(?<= (?:${attached})?)`;
  const longer = listed(compounds);
  const [whole, flat]: [string[], string[]] = [[], []];
  for (const word of words.toSorted((a, b) => b.length - a.length)) {
    const plain = word.replaceAll("*", "");
    const guards = longer
      .filter((one) => one !== plain && one.includes(plain))
      .map((one) => `(?!(?<=${one.slice(0, one.indexOf(plain))})${one.slice(one.indexOf(plain))})`);
    const isFlat = word === plain && isUnspaced(word);
    (isFlat ? flat : whole).push(guards.join("") + word.replaceAll("*", LETTERS));
  }
  // One look at the space before all words is faster than one for each.
  const parts = [...(whole.length === 0 ? [] : [`${start}(?:${whole.join("|")})(?= )`]), ...flat];
  return new RegExp(parts.length === 0 ? "(?!)" : parts.join("|"), "gu");
}

/** Kinds whose words are names and adverbs that other languages have too. */
const TELLING_NONE: ReadonlySet<Cue> = new Set([
  "now",
  "ends",
  "secrets",
  "never",
  "relates",
  "since",
  "excepts",
  "adverbs",
]);

const NO_CUES: ReadonlySet<string> = new Set(["pleasantries", "compounds", "prefixes"]);
/** The fields of a record with the words of a kind that a text is read for. */
export const cuesIn = (record: LanguageWords): [Cue, string][] =>
  Object.entries(record).filter(
    (field): field is [Cue, string] => typeof field[1] === "string" && !NO_CUES.has(field[0]),
  );

export const LANGUAGES: readonly Language[] = Object.entries<LanguageWords>(RECORDS).map(([code, record]) => {
  const { shows = {}, pleasantries = "", forms = [] } = record;
  const expression = (words: readonly string[]): RegExp => expressionOf(words, record);
  const kinds = cuesIn(record).map(([cue, words]) => [cue, listed(words)] as const);
  const telling = kinds.flatMap(([cue, words]) => (TELLING_NONE.has(cue) ? [] : words));
  return {
    code,
    pleasantries,
    forms,
    isLatin: LATIN.test(record.common),
    cues: new Map(kinds.map(([cue, words]) => [cue, expression(words)])),
    shows: Object.entries(shows).map(([predicate, words]) => [predicate, expression(listed(words))] as const),
    // A single letter of another language is an article or a preposition.
    words: new Set(
      telling
        .map((word) => (isUnspaced(word) ? word.replaceAll("*", "") : word))
        .filter((word) => !/^[a-z]$|[ *]/u.test(word)),
    ),
    phrases: expression(kinds.flatMap(([, words]) => words.filter((word) => word.includes(" ")))),
  };
});
const [ENGLISH] = LANGUAGES.filter(({ code }) => code === "en");

/** Only English has "I" with a capital within a sentence, and only Spanish has marks that open one. */
const MARKS: Readonly<Record<string, RegExp>> = { en: /(?<![\p{L}'’])I(?![\p{L}.])/u, es: /[¿¡]/u };
const NO_LANGUAGES: readonly Language[] = [];
/** A language in Latin letters without a record: no word says anything in it. */
const UNKNOWN: Language = {
  code: "",
  isLatin: true,
  cues: new Map(),
  words: new Set(),
  phrases: /(?!)/u,
  shows: [],
  pleasantries: "",
  forms: [],
};

/** Words of a text that may be English, and have none of the words that most sentences have. */
const FEW = 5;
/** Languages that share a word, and do not tell the one of a long text. */
const MANY = 2;

/** Reads a text. `around`: the languages of what stands around it. Without a word of its own, it is in those of its letters. */
export function read(text: string, around: readonly Language[] = NO_LANGUAGES): LanguageReading {
  const words = wordsIn(text);
  const own = languagesIn(words.wording, text);
  const isLatin = LATIN.test(words.wording);
  const near = own.length > 0 ? around : around.filter((one) => one.isLatin === isLatin);
  // "No wine." is of many languages, and of one of those around it.
  const shared = own.length > 1 ? own.filter((one) => near.includes(one)) : [];
  const languages = shared.length > 0 ? shared : [...new Set([...own, ...near])];
  if (languages.length > 0 || !isLatin) return { ...words, languages };
  const isShort = words.wording.split(" ").length - 2 <= FEW;
  return { ...words, languages: isShort && ENGLISH !== undefined ? [ENGLISH] : [UNKNOWN] };
}

/** True if a text has words of a language with a record. */
export const isRead = (text: string): boolean => languagesIn(wordsIn(text).wording, text).length > 0;

/** Reads a part of what was read: its languages are those of the whole. */
export const readPart = (
  text: string,
  { languages }: Pick<LanguageReading, "languages">,
): LanguageReading => ({
  ...wordsIn(text),
  languages,
});

function wordsIn(text: string): Pick<LanguageReading, "wording" | "names"> {
  let wording = " ";
  const names: number[] = [];
  for (const [word] of text.replaceAll(/[’`´]/gu, "'").normalize("NFKC").matchAll(WORD)) {
    if (wording !== " " && /^\p{Lu}[\p{L}\p{M}]/u.test(word)) names.push(wording.length);
    wording += `${word.toLowerCase()} `;
  }
  return { wording, names };
}

/** The languages of which a text has most words, or else a phrase. */
function languagesIn(wording: string, text: string): readonly Language[] {
  const words = wording.split(" ");
  const flat = isUnspaced(wording);
  const hits = LANGUAGES.map((language) => {
    if (flat && isUnspaced(language.words.values().next().value ?? ""))
      return [...language.words].filter((word) => isUnspaced(word) && wording.includes(word)).length;
    return (
      words.filter((word) => language.words.has(word)).length + (MARKS[language.code]?.test(text) ? 1 : 0)
    );
  });
  const most = Math.max(...hits);
  const likely = LANGUAGES.filter(({ phrases }, i) =>
    most > 0 ? hits[i] === most : wording.search(phrases) >= 0,
  );
  // A long text with one word that many languages have is in none of them.
  return likely.length > MANY && words.length > 2 * FEW ? NO_LANGUAGES : likely;
}

type Readable = Pick<LanguageReading, "wording" | "languages">;
const NOTHING = /(?!)/gu;
const expressionsOf = ({ languages }: Pick<Readable, "languages">, cue: Cue): RegExp[] =>
  languages.map(({ cues }) => cues.get(cue) ?? NOTHING);

/** The places of the words of a kind. */
export const placesOf = (reading: Readable, cue: Cue): number[] =>
  expressionsOf(reading, cue).flatMap((words) =>
    Array.from(reading.wording.matchAll(words), ({ index }) => index),
  );

/** True if a text has a word of a kind. */
export const has = (reading: Readable, cue: Cue): boolean =>
  expressionsOf(reading, cue).some((words) => reading.wording.search(words) >= 0);

/** True if a text begins with a word of a kind. */
export const begins = (reading: Readable, cue: Cue): boolean =>
  expressionsOf(reading, cue).some((words) => reading.wording.search(words) === 1);

/** A text without the words of a kind. */
export const withoutWords = (reading: LanguageReading, cue: Cue): LanguageReading => ({
  ...reading,
  wording: expressionsOf(reading, cue).reduce(
    (wording, words) => wording.replaceAll(words, ""),
    reading.wording,
  ),
});

/** True if a word is one that tells a language of the text. */
export const isWordOf = (word: string, { languages }: Pick<LanguageReading, "languages">): boolean =>
  languages.some(({ words }) => words.has(word));

/** True if a text denies something. A predicate may be English, whatever language its message is in. */
export const deniesSomething = (text: string, { languages } = read(text)): boolean =>
  has(readPart(text, withEnglish({ languages })), "denies");

/** The same of what is supposed or planned. */
export const plansSomething = (text: string, { languages }: Pick<LanguageReading, "languages">): boolean =>
  has(readPart(text, withEnglish({ languages })), "supposes");

/** These languages and English. */
export const withEnglish = ({ languages }: Pick<LanguageReading, "languages">) => ({
  languages: ENGLISH === undefined ? languages : [ENGLISH, ...languages],
});

/** True unless each language of a text has words for such a predicate, and the text has none of them. */
export const shows = ({ wording, languages }: LanguageReading, predicate: string): boolean => {
  const words = wordsIn(predicate).wording;
  return languages.some(
    (language) =>
      !language.shows.some(([head, shown]) => words.includes(` ${head}`) && wording.search(shown) < 0),
  );
};

/** True if a text gives an order to a memory or an assistant, or speaks of them. */
export const speaksToTheMemory = (text: string): boolean => {
  const reading = read(text);
  return has(reading, "roles") || has(reading, "memory") || begins(reading, "orders");
};

/** A text about the user and the assistant without the words for these. */
export function withoutRoles(text: string): string {
  const plain = text.replaceAll(/[’`´]/gu, "'").normalize("NFKC");
  const { wording, languages } = read(plain);
  const roles = new Set(expressionsOf({ languages }, "roles").flatMap((words) => wording.match(words) ?? []));
  return [...roles].reduce((rest, words) => {
    const spaced = words.replaceAll(" ", String.raw`[^\p{L}\p{N}]+`);
    const whole = isUnspaced(words) ? spaced : String.raw`(?<![\p{L}\p{N}])${spaced}(?![\p{L}\p{N}])`;
    return rest.replaceAll(new RegExp(whole, "giu"), " ");
  }, plain);
}

const SECRETS = expressionsOf({ languages: LANGUAGES }, "secrets");
/** True if a text names a secret in any language. */
export const namesSecret = (text: string): boolean => {
  const { wording } = wordsIn(text);
  return SECRETS.some((words) => wording.search(words) >= 0);
};
