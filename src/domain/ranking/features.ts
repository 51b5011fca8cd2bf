import { applies } from "./applies.ts";
import type { WordStatistics } from "./lexicon.ts";
import { matchOf, type PieceMatch, pieceMatches } from "./matches.ts";
import { type PoolMember, REACH } from "./pool.ts";
import { asksForAdvice, asksTime, mentions, otherScriptWords, tellsTime } from "./question.ts";
import { DAY } from "./time-span.ts";

/** The features of a candidate, each 0 to 1 over the pool; `date` may be −1. docs/internals/recall.md explains them. */
export const features = [
  "words",
  "wordsNear",
  "exact",
  "soft",
  "softNear",
  "sitting",
  "vector",
  "vectorPair",
  "speaker",
  "user",
  "length",
  "asks",
  "answers",
  "time",
  "date",
  "key",
  "importance",
  "recency",
  "applies",
] as const;
export type Feature = (typeof features)[number];
export type FeatureTable = Record<Feature, Float32Array>;
type Pool = readonly PoolMember[];
/** The candidates, and how much each says by itself. */
type Weighed = { pool: Pool; standalone: Float32Array };

/** `until`: the end of the times that the question names. `isPast`: it is about what was so before, without such a time. */
export type Question = { text: string; now: number; until?: number | undefined; isPast?: boolean };

/** The weight of a word so many steps away. */
const FADES = Array.from({ length: REACH + 1 }, (_, steps) => 0.8 ** steps);
/** The sum of the squares of its pieces' lengths that gives a message its full weight: the longer a piece is, the more it tells. */
const SAYS_ENOUGH = 4;
/** The number of words of another script that does, and the characters in which they are counted. */
const [ENOUGH_WORDS, LOOKED_AT] = [3, 300];
/** Half of what is new about a candidate is gone after this time. */
const HALF_LIFE_MS = 30 * DAY;
/** The length of a text counts by its logarithm, from some words to several pages. */
const [SHORT, LONG] = [100, 5_000];

/** The match of each candidate with the question, before it is scaled by the best. `near`: with its neighbours. */
export type Matches = {
  pieces: readonly (PieceMatch & { near: Float32Array })[];
  cosine: Float32Array;
  soft: Float32Array;
};
/** The candidates with their features. */
export type Featured = { pool: Pool; words: WordStatistics | null; table: FeatureTable; matches: Matches };

export function featuresOf(question: Question, pool: Pool, words: WordStatistics | null): Featured {
  const { text, now } = question;
  const weighed = { pool, standalone: Float32Array.from(pool, (one) => standaloneWeight(one, words)) };
  const { standalone } = weighed;
  const pieces = (words === null ? [] : pieceMatches(text, pool, words)).map((piece) => ({
    ...piece,
    near: around(piece.own, weighed, Math.max),
  }));
  const alone = pool.map((_, i) => matchOf(pieces, ({ own }) => own[i]));
  const soft = Float32Array.from(alone, (match) => match.soft);
  const softly = scaled(soft);
  const closest = pool.reduce((best, { cosine }) => Math.max(best, cosine ?? 0), 0);
  // A document without a vector gets a share of the best cosine, by its words.
  const cosine = columnOf(pool, (one, i) => Math.max(0, one.cosine ?? (closest || 1) * (softly[i] ?? 0)));
  const bm25 = columnOf(pool, (one) => one.words);
  const asks = columnOf(pool, (one) => one.isMessage && one.text.includes("?"));
  const only = speakerIn(text, pool);
  const advice = asksForAdvice(text);
  const asksForTime = asksTime(text);
  // A memory has no neighbours.
  const ofMessages = (valueOf: (one: PoolMember, i: number) => number) =>
    scaled(columnOf(pool, valueOf)).map((value, i) => (pool[i]?.isMessage === true ? value : 0));
  const wordsNear = around(bm25, weighed, (sum, one) => sum + one);
  const strongest = strongestOfSitting(soft, pool);
  const table: FeatureTable = {
    words: scaled(bm25),
    wordsNear: ofMessages((_, i) => wordsNear[i] ?? 0),
    // A share as it is: one common word is little of a question, also where nothing holds more of it.
    exact: Float32Array.from(alone, (match) => match.exact),
    soft: softly,
    softNear: ofMessages((_, i) => matchOf(pieces, ({ near }) => near[i]).soft),
    sitting: ofMessages(({ sitting }, i) => (strongest.get(sitting) ?? 0) * (standalone[i] ?? 1)),
    vector: scaled(cosine),
    vectorPair: ofMessages(({ before }, i) => {
      const own = cosine[i] ?? 0;
      return own + ((standalone[i] ?? 1) * ((cosine[before ?? i] ?? own) - own)) / 2;
    }),
    // The person in question: the speaker of a message, or a name in a memory.
    speaker: columnOf(pool, (one) => only !== null && isAbout(one, only)),
    user: columnOf(pool, ({ role }) => role === (advice ? "assistant" : "user")),
    length: columnOf(pool, (one) => (advice ? 0 : lengthOf(one.text))),
    asks,
    // The message after a matching question is likely its answer.
    answers: scaled(columnOf(pool, ({ before = -1 }) => (asks[before] ?? 0) * (soft[before] ?? 0))),
    time: columnOf(pool, (one) => asksForTime && tellsTime(one.text)),
    date: columnOf(pool, ({ date }) => date),
    key: columnOf(pool, ({ key }) => key),
    importance: columnOf(pool, ({ importance }) => importance),
    recency: columnOf(pool, ({ createdAt }) => 0.5 ** (Math.max(0, now - createdAt) / HALF_LIFE_MS)),
    applies: applies(text, pool, words?.lexicon ?? null),
  };
  return { pool, words, table, matches: { pieces, cosine, soft } };
}

const columnOf = (pool: Pool, valueOf: (one: PoolMember, i: number) => number | boolean): Float32Array =>
  Float32Array.from(pool, (one, i) => Number(valueOf(one, i)));

/** The one speaker of the pool whom the question names, in lower case. */
function speakerIn(text: string, pool: Pool): string | null {
  const speakers = new Set(pool.flatMap(({ speaker }) => speaker?.toLowerCase() ?? []));
  const [speaker = null, ...others] = [...speakers].filter((one) => mentions(text, one));
  return others.length === 0 ? speaker : null;
}

/** A value and those of the neighbours, combined; what says little itself borrows little. */
function around(
  values: Float32Array,
  { pool, standalone }: Weighed,
  combine: (all: number, one: number) => number,
): Float32Array {
  return values.map((value, i) =>
    (pool[i]?.near ?? []).reduce(
      (all, { at, distance }) =>
        combine(all, (values[at] ?? 0) * (standalone[i] ?? 1) * (FADES[distance] ?? 0)),
      value,
    ),
  );
}

/**
 * The weight of a message by itself, 0 to 1. "Noted, thanks!" tells little, and is no answer. The model has pieces of Latin
 * letters alone: words of other letters are counted.
 */
function standaloneWeight(
  { isMessage, pieces, text, speaker }: PoolMember,
  words: WordStatistics | null,
): number {
  if (!isMessage || words === null) return 1;
  let sum = 0;
  for (const piece of pieces) {
    sum += words.lexicon.length(piece) ** 2 / SAYS_ENOUGH;
    if (sum >= 1) return 1;
  }
  const start = speaker?.length ?? 0;
  sum += otherScriptWords(text.slice(start, start + LOOKED_AT)) / ENOUGH_WORDS;
  return Math.min(1, sum) ** 2;
}

function strongestOfSitting(values: Float32Array, pool: Pool): ReadonlyMap<number, number> {
  const best = new Map<number, number>();
  for (const [i, { sitting }] of pool.entries())
    best.set(sitting, Math.max(best.get(sitting) ?? 0, values[i] ?? 0));
  return best;
}

/** A name in a memory counts like the speaker of a message. */
const isAbout = ({ isMessage, speaker, text }: PoolMember, name: string): boolean =>
  isMessage ? speaker?.toLowerCase() === name : mentions(text, name);

const lengthOf = (text: string): number =>
  Math.min(1, Math.log(1 + text.length / SHORT) / Math.log(1 + LONG / SHORT));

/** To 0–1, the best at 1; zero stays zero. */
function scaled(values: Float32Array): Float32Array {
  const best = values.reduce((most, value) => Math.max(most, value), 0);
  return best === 0 ? values : values.map((value) => value / best);
}
