import { deniesSomething } from "../language/cues.ts";
import { fieldsOf, rowsIn, wordsIn } from "../language/fields.ts";
import { contentStems, numbersAndNames, stem, wordsOf as wordsOfText } from "./content-stems.ts";
import { normalise } from "./normalise.ts";

/** The least share of the words of both texts that they have in common, and the least cosine of their vectors. */
const [WORDS, COSINE] = [0.75, 0.5];

const FACTS = fieldsOf("facts");
const SYNONYMS: ReadonlyMap<string, string> = new Map(
  rowsIn(FACTS.map(({ synonyms }) => synonyms)).flatMap((row) => {
    const [first = "", ...others] = row.map(stem);
    return others.map((other): [string, string] => [other, first]);
  }),
);
const WHOSE = new Set([...wordsIn(FACTS.map(({ ownerWords }) => ownerWords))].map(stem));

const wordsOf = (text: string): Set<string> =>
  new Set(
    contentStems(text)
      .map((word) => SYNONYMS.get(word) ?? word)
      .filter((word) => !WHOSE.has(word)),
  );

/** The letters of each word that have marks, by its stem: "Müller" is not "Muller". */
function marksOf(text: string): Map<string, Set<string>> {
  const marks = new Map<string, Set<string>>();
  for (const word of wordsOfText(text)) {
    const letters = normalise(word).replaceAll(/[\0-\u007f’´]/gu, "");
    marks.set(stem(word), (marks.get(stem(word)) ?? new Set()).add(letters));
  }
  return marks;
}

/** True if the words that both texts have are spelled with the same letters. */
function haveSameLetters(fresh: string, stored: string): boolean {
  const known = marksOf(stored);
  return [...marksOf(fresh)].every(([word, letters]) => {
    const spellings = known.get(word);
    return spellings === undefined || [...letters].every((marked) => spellings.has(marked));
  });
}

/**
 * True if a new text says what a stored one says, and nothing more: by words and by vectors both. Neither has a number, a name or a
 * denial that the other lacks. `cosine`: of their vectors.
 */
export function isRestatement(fresh: string, stored: string, cosine: number): boolean {
  if (cosine < COSINE || deniesSomething(fresh) !== deniesSomething(stored)) return false;
  const [a, b] = [wordsOf(fresh), wordsOf(stored)];
  if (a.size === 0 || ![...a].every((word) => b.has(word)) || a.size < b.size * WORDS) return false;
  if (!haveSameLetters(fresh, stored)) return false;
  // A name of the stored text that the new one lacks would be another person's or another place's.
  return numbersAndNames(stored)
    .map(stem)
    .every((word) => a.has(word) || WHOSE.has(word));
}
