import { stemmer } from "stemmer";
import { BoundedCache } from "../bounded-cache.ts";
import { folded } from "../ranking/fold.ts";

const WORD = /\d{1,3}(?:[.,]\d{3})+(?![\d\p{L}])|[\p{L}\p{N}][\p{L}\p{N}'’.@+-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
const LATIN = /^[a-z']+$/;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Words that say nothing about a fact. */
const EMPTY = new Set(
  `a an and are as at be been being by do does did for from had has have i if in into is it its me my of on or our she so than that the their them then they this to us very was we were who will with you your he her his him not no
   der die das den dem des ein eine einen einem einer und oder in im am an auf zu zum zur mit von vom fur ist bin sind habe hat als
   le la les un une des de du d l et ou a au aux en dans avec pour est suis sont je j mon ma mes
   el los las una unos unas del al y o en con por para es soy mi mis un
   os as um uma do da dos das no na nos nas e ou com por para sou meu minha
   il lo gli i di del della dei e o a al in con per sono mio mia
   de het een en of in op met van voor is ben mijn`
    .split(/\s+/u)
    .filter((word) => word !== ""),
);

/** The numbers that people write as words. */
const NUMBERS: Readonly<Record<string, string>> = Object.fromEntries(
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
    .split(" ")
    .map((word, i) => [word, String(i)]),
);

/** A word for comparison: folded and stemmed, a number without its separators. */
export function stem(word: string): string {
  const plain = folded(word.replaceAll(/[’`´]/gu, "'")).replace(/'s$/u, "");
  const number =
    NUMBERS[plain] ?? (/^\d{1,3}(?:[.,]\d{3})+$/u.test(plain) ? plain.replaceAll(/[.,]/gu, "") : null);
  if (number !== null) return number;
  return LATIN.test(plain) ? stemmer(plain) : plain;
}

export const wordsOf = (text: string): string[] => text.match(WORD) ?? [];

/** The stems of the words of a text that say something. */
export const contentStems = (text: string): string[] =>
  wordsOf(text)
    .map((word) => word.replace(/n['’]t$/u, "").replace(/['’](?:m|s|ve|ll|re|d)$/u, ""))
    .filter((word) => word !== "" && !EMPTY.has(folded(word)))
    .map(stem);

type Words = { stems: ReadonlySet<string>; flat: string };

/** Many texts are looked for in the same source. */
const found = new BoundedCache<Words>(100);

function wordsIn(source: string): Words {
  const known = found.get(source);
  if (known !== undefined) return known;
  const stems = new Set(wordsOf(source).flatMap((word) => [stem(word), ...word.split(/[-'’.]/u).map(stem)]));
  const words = { stems, flat: folded(source).replaceAll(/\s+/gu, "") };
  found.set(source, words);
  return words;
}

/** True if all words of a text occur in another one. In scripts without spaces, the text itself has to occur. */
export function saysAll(source: string, text: string): boolean {
  const { stems, flat } = wordsIn(source);
  return wordsOf(text).every((word) => {
    if (EMPTY.has(folded(word))) return true;
    if (UNSPACED.test(word)) return flat.includes(folded(word));
    return stems.has(stem(word)) || word.split(/[-'’.]/u).every((part) => stems.has(stem(part)));
  });
}

/** The numbers and the names in a text: words with a digit, and words in capitals that do not begin it. */
export const numbersAndNames = (text: string): string[] =>
  wordsOf(text).filter((word, i) => /\p{N}/u.test(word) || (i > 0 && /^\p{Lu}/u.test(word)));
