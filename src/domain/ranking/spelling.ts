import { folded } from "./fold.ts";
import { contentWords, UNSPACED } from "./question.ts";

/** A term of an index, without the ending that its stemmer removes, and how many documents have it. */
export type Term = { term: string; documents: number };

/** Words that are corrected: a shorter one is near too many others. */
const [SHORTEST, LONGEST] = [4, 32];
/** A word of so many letters may have two typos. */
const TWO_TYPOS = 8;
/** Endings that `porter` removes. A stem with one of them may be what was meant. */
const ENDINGS =
  `,s,es,e,ed,ing,ings,er,ers,y,ies,ied,ly,al,ally,ic,ical,ion,ions,ation,ations,ment,ments,ness,able,ible,ful,ity,
ous,ive,ant,ants,ent,ents,ance,ence,ist,ists,ism,ize,ized,izing,ate,ated,ating,or,ors`.split(/,\s*/);

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

/** Words that a mistyped one may be, from these terms: those with the fewest typos first, then known ones, then frequent ones. */
export function corrections(
  word: string,
  terms: readonly Term[],
  isKnown: ((word: string) => boolean) | null,
): string[] {
  // Without a dictionary, a right word with two other letters would be taken for a typo.
  const most = word.length >= TWO_TYPOS && isKnown !== null ? 2 : 1;
  const found = terms
    .filter(({ term }) => isNear(term, word, most))
    .flatMap(({ term, documents }) =>
      inflected(term).map((meant) => ({ meant, documents, typos: typosBetween(meant, word).at(-1) ?? 0 })),
    )
    .filter(({ typos }) => typos <= most)
    .map((one) => ({ ...one, known: isKnown?.(one.meant) === true ? 1 : 0 }))
    .toSorted((a, b) => a.typos - b.typos || b.known - a.known || b.documents - a.documents);
  return [...new Set(found.map(({ meant }) => meant))];
}

/** True if the word begins like the term, up to its last letter, which a stemmer may have changed. */
function isNear(term: string, word: string, most: number): boolean {
  if (term.length > word.length + most) return false;
  return Math.min(...typosBetween(term.slice(0, -1), word)) <= most;
}

function inflected(term: string): string[] {
  const last = term.at(-1) ?? "";
  const bases = last === "e" || last === "i" ? [term.slice(0, -1)] : [term, `${term}${last}`];
  return [term, ...bases.flatMap((base) => ENDINGS.map((ending) => `${base}${ending}`))];
}

/**
 * The typos between a word and each beginning of another one: a letter too much, one missing, another one, or two swapped
 * (optimal string alignment).
 */
function typosBetween(from: string, to: string): number[] {
  let [before, last]: number[][] = [[], Array.from({ length: to.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let typos = Math.min(
        (last?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last?.[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        typos = Math.min(typos, (before?.[j - 2] ?? 0) + 1);
      row.push(typos);
    }
    [before, last] = [last, row];
  }
  return last ?? [];
}

/** A text with other words in the place of some. */
export const withCorrections = (text: string, corrected: ReadonlyMap<string, string>): string =>
  corrected.size === 0
    ? text
    : text.replaceAll(/[\p{L}\p{N}\p{M}]+/gu, (word) => corrected.get(folded(word)) ?? word);
