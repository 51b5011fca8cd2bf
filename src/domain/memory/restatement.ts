import { deniesSomething } from "../ingest/statement.ts";
import { contentStems, numbersAndNames, stem } from "./content-stems.ts";

/** The least share of the words of both texts that they have in common, and the least cosine of their vectors. */
const [WORDS, COSINE] = [0.75, 0.5];

/** Words that say the same about a person, by their first one. */
const SAME: readonly string[] = [
  "like love enjoy adore fond fan",
  "live reside home based dwell",
  "work job employed employer",
  "own have has got",
  "user user's person",
  "prefer preference",
  "favourite favorite",
  "speak fluent",
  "call name named called",
  "child kid",
  "big large",
  "mother mom mum",
  "father dad",
];
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  SAME.flatMap((line) => {
    const [first = "", ...others] = line.split(" ").map(stem);
    return others.map((other): [string, string] => [other, first]);
  }),
);
/** Words of a statement that only say whose it is. */
const WHOSE = new Set("user person really very much currently now also just".split(" ").map(stem));

const wordsOf = (text: string): Set<string> =>
  new Set(
    contentStems(text)
      .map((word) => SYNONYMS.get(word) ?? word)
      .filter((word) => !WHOSE.has(word)),
  );

/**
 * True if a new text says what a stored one says, and nothing more: by words and by vectors both. Neither has a number, a name or a
 * denial that the other lacks. `cosine`: of their vectors.
 */
export function isRestatement(fresh: string, stored: string, cosine: number): boolean {
  if (cosine < COSINE || deniesSomething(fresh) !== deniesSomething(stored)) return false;
  const [a, b] = [wordsOf(fresh), wordsOf(stored)];
  if (a.size === 0 || ![...a].every((word) => b.has(word)) || a.size < b.size * WORDS) return false;
  // A name of the stored text that the new one lacks would be another person's or another place's.
  return numbersAndNames(stored)
    .map(stem)
    .every((word) => a.has(word) || WHOSE.has(word));
}
