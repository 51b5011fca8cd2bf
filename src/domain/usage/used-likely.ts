import { hash32 } from "../hash.ts";
import { contentStems, numbersAndNames, stem } from "../memory/content-stems.ts";

/** A shorter word is too common to tell where an answer has it from. */
const LONG = 5;

/** The words of a query, as numbers: a recall is kept without the query's text. */
export const wordHashes = (query: string): number[] => [...new Set(contentStems(query).map(hash16Bits))];

/** 16 bits of a word: few enough to travel in an id, and of 65,000 other words one has the same. */
function hash16Bits(word: string): number {
  const hash = hash32(word);
  return (hash ^ (hash >>> 16)) & 0xffff;
}

/**
 * True if an answer likely used a memory: it has a number or a name of the memory, or two of its longer words, that the query does
 * not have. `query`: by `wordHashes`.
 */
export function isUsedLikely(memory: string, answer: string, query: readonly number[]): boolean {
  const asked = new Set(query);
  const said = new Set(contentStems(answer));
  const isNew = (word: string) => said.has(word) && !asked.has(hash16Bits(word));
  const named = new Set(numbersAndNames(memory).map(stem));
  if ([...named].some(isNew)) return true;
  return new Set(contentStems(memory).filter((word) => word.length >= LONG && isNew(word))).size >= 2;
}
