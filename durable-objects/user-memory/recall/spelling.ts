import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import {
  beginnings,
  correctable,
  corrections,
  withCorrections,
} from "../../../src/domain/ranking/spelling.ts";
import type { WordIndex } from "../search-index/word-index.ts";

/** Words of a query that are corrected: each costs some milliseconds in a large index. */
const MOST_WORDS = 3;
/** Terms compared with a word, of each beginning. */
const MOST_TERMS = 5_000;
/** The most likely corrections of a word, which are looked for in the index. */
const MOST_CORRECTIONS = 20;
/** Documents up to which a word is compared with all terms of its first letter; above, of its first two. */
const FEW_DOCUMENTS = 20_000;

/**
 * A query with words in the place of typos: of words that no document has, and that the word model does not know. The user's
 * own words come first.
 */
export function corrected(
  query: string,
  words: WordIndex,
  { lexicon, size }: { lexicon: Lexicon | null; size: number },
): string {
  const pieces = lexicon === null ? null : (word: string) => lexicon.pieces(word);
  const unknown = correctable(query).filter((word) => pieces?.(word).length !== 1);
  if (unknown.length === 0) return query;
  const instead = new Map<string, string>();
  for (const word of words.absent(unknown).slice(0, MOST_WORDS)) {
    const terms = beginnings(word, size <= FEW_DOCUMENTS ? 1 : 2).flatMap((beginning) =>
      words.terms(beginning, MOST_TERMS),
    );
    const likely = corrections(word, terms, pieces).slice(0, MOST_CORRECTIONS);
    const absent = new Set(likely.length === 0 ? [] : words.absent(likely));
    const meant = likely.find((one) => !absent.has(one)) ?? lexicon?.correction(word) ?? null;
    if (meant !== null) instead.set(word, meant);
  }
  return withCorrections(query, instead);
}
