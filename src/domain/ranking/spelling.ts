import { stemmer } from "stemmer";
import { folded } from "./fold.ts";
import { contentWords, UNSPACED, WORDS } from "./question.ts";

/** A term of an index, without the ending that its stemmer removes, and how many documents have it. */
export type Term = { term: string; documents: number };

/** Words that are corrected: a shorter one is near too many others (`bake`, `bike`). */
const [SHORTEST, LONGEST] = [5, 32];
/** The shortest word that is corrected to one that no document has. */
const SHORTEST_KNOWN = 6;
/** A word of so many letters may have two typos. */
const TWO_TYPOS = 8;
/** Rows of the word model's most common words. */
const COMMON = 7_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const LATIN = /^[a-z]+$/;
/** The last letters of every ending that Porter's stemmer removes or replaces: it leaves other words as they are. */
const STEMMED = new Set("s e i y ed ng al er or sm ul ic nt ou on ll".split(" "));
/** The pieces of a word in the word model: one, if the model knows it as a word. */
type Pieces = (word: string) => number[];
/** The word model's vocabulary. */
type KnownWords = {
  pieces: Pieces;
  /** The row of a word of `a` to `z`; undefined if the model does not know it as a word. Far cheaper than `pieces`. */
  row: (word: string) => number | undefined;
};

/** The words of a question that may hold a typo. */
export const correctable = (question: string): string[] =>
  contentWords(question).filter(
    (word) =>
      word.length >= SHORTEST && word.length <= LONGEST && /^\p{L}+$/u.test(word) && !UNSPACED.test(word),
  );

/** The beginnings of terms that a word may be a typo of: its own, those with its first two letters swapped, or without the first. */
export const beginnings = (word: string, letters: 1 | 2): string[] => [
  ...new Set([word.slice(0, letters), `${word[1]}${word[0]}`, word.slice(1, 3)]),
];

/**
 * Words that a mistyped one may be, from these terms: those with fewer typos first, then those of fewer pieces, then frequent
 * ones. None has more pieces than the word itself: such a one is no word.
 */
export function corrections(word: string, terms: readonly Term[], pieces: Pieces | null): string[] {
  const documents = new Map(terms.map((one) => [one.term, one.documents]));
  const most = pieces?.(word).length ?? Infinity;
  const meant = new Map<string, { typos: number; documents: number; pieces: number }>();
  const add = (one: string, typos: number, frequency: number) => {
    const count = pieces?.(one).length ?? 0;
    // Two letters are enough to make one right word of another: the word model has to know it.
    if (!meant.has(one) && (typos === 1 ? count <= most : count === 1))
      meant.set(one, { typos, documents: frequency, pieces: count });
  };
  for (const edit of edits(word)) {
    // A stem takes many times as long as the look-up.
    const frequency = documents.get(isStemmed(edit) ? stemmer(edit) : edit);
    if (frequency !== undefined) add(edit, 1, frequency);
  }
  const stem = LATIN.test(word) ? stemmer(word) : word;
  const limit = word.length >= TWO_TYPOS ? 2 : 1;
  for (const { term, documents: frequency } of terms) {
    if (Math.abs(term.length - stem.length) > limit) continue;
    const typos = typosBetween(term, stem, limit);
    if (typos <= limit) add(`${term}${word.slice(stem.length)}`, typos, frequency);
  }
  return Array.from(meant, ([one, rest]) => ({ one, ...rest }))
    .toSorted((a, b) => a.typos - b.typos || a.pieces - b.pieces || b.documents - a.documents)
    .map(({ one }) => one);
}

/**
 * The most common word of the word model's vocabulary that differs by one typo: its rows are in the order of frequency. A word
 * of two pieces is often a right one ("feline"), and a typo only of a common word.
 */
export function knownCorrection(word: string, { pieces, row: rowOf }: KnownWords): string | null {
  let best: { edit: string; row: number } | null = null;
  for (const edit of word.length < SHORTEST_KNOWN ? [] : edits(word)) {
    const row = rowOf(edit) ?? 0;
    if (row > 0 && !(best !== null && best.row <= row)) best = { edit, row };
  }
  return best !== null && (best.row < COMMON || pieces(word).length > 2) ? best.edit : null;
}

/** Every word that differs by one typo (Norvig 2007). */
function* edits(word: string): Generator<string> {
  if (!LATIN.test(word)) return;
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)];
    if (after.length > 1) yield `${before}${after[1]}${after[0]}${after.slice(2)}`;
    if (after !== "") yield `${before}${after.slice(1)}`;
    for (const letter of LETTERS) {
      yield `${before}${letter}${after}`;
      if (after !== "") yield `${before}${letter}${after.slice(1)}`;
    }
  }
}

const isStemmed = (word: string): boolean => STEMMED.has(word.slice(-1)) || STEMMED.has(word.slice(-2));

/** Letters too much, missing, replaced, or swapped with the next one (optimal string alignment); Infinity if above `most`. */
function typosBetween(from: string, to: string, most: number): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= to.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      let typos = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        typos = Math.min(typos, (before[j - 2] ?? 0) + 1);
      row.push(typos);
      least = Math.min(least, typos);
    }
    // A swap in the next row adds one to the row before.
    if (least > most && Math.min(...last) >= most) return Infinity;
    [before, last] = [last, row];
  }
  return last[to.length] ?? 0;
}

/** A text with other words in the place of some. */
export const withCorrections = (text: string, corrected: ReadonlyMap<string, string>): string =>
  corrected.size === 0 ? text : text.replaceAll(WORDS, (word) => corrected.get(folded(word)) ?? word);
