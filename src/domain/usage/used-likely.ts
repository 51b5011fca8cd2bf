import { hash32 } from "../hash.ts";
import { contentStems, numbersAndNames, stem } from "../memory/content-stems.ts";

/** A shorter word is too common to tell where an answer has it from. */
const LONG = 5;
/** Characters at the beginning of an answer and of each memory that are compared: an outcome may have hundreds of memories. */
const ANSWER = 20_000;
const MEMORY = 1_000;

/** The words of a query, as numbers: a recall is kept without the query's text. */
export const wordHashes = (query: string): number[] => [...new Set(contentStems(query).map(hash16Bits))];

/** 16 bits of a word: few enough to travel in an id, and of 65,000 other words one has the same. */
function hash16Bits(word: string): number {
  const hash = hash32(word);
  return (hash ^ (hash >>> 16)) & 0xffff;
}

/**
 * Tells whether an answer likely used a memory: it has a number or a name of the memory, or two of its longer words, that the query
 * does not have. `query`: by `wordHashes`. The answer is read once, for all memories.
 */
export function usedLikelyBy(answer: string, query: readonly number[]): (memory: string) => boolean {
  const ofQuery = new Set(query);
  const ofAnswer = new Set(contentStems(answer.slice(0, ANSWER)));
  const isNew = (word: string) => ofAnswer.has(word) && !ofQuery.has(hash16Bits(word));
  return (memory) => {
    const text = memory.slice(0, MEMORY);
    if (numbersAndNames(text).map(stem).some(isNew)) return true;
    return new Set(contentStems(text).filter((word) => word.length >= LONG && isNew(word))).size >= 2;
  };
}
