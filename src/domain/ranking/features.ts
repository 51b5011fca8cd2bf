import type { Lexicon } from "./lexicon.ts";
import { type PooledCandidate, REACH } from "./pool.ts";
import { asksTime, contentWords, names, tellingCount, tellsTime } from "./question.ts";

/** The features of a candidate, each 0 to 1 over the pool. docs/recall.md has their weights. */
export const features = [
  "wordsNear",
  "wordsSitting",
  "soft",
  "softNear",
  "vector",
  "vectorPair",
  "speaker",
  "asks",
  "answers",
  "time",
  "date",
  "key",
  "importance",
  "recency",
] as const;
export type Feature = (typeof features)[number];
type FeatureTable = Record<Feature, Float32Array>;
/** The candidates, and how much each says by itself. */
type Weighed = { pool: readonly PooledCandidate[]; standalone: Float32Array };

/** Counts of the words of a user's documents. */
export type Frequencies = {
  /** Number of documents. */
  size: number;
  /** Number of documents that hold this piece. */
  holding: (piece: number) => number;
};
/** The word model, and how many of the user's documents hold each of its pieces. */
export type WordStatistics = { lexicon: Lexicon; frequencies: Frequencies };
export type Question = { text: string; now: number };

/** A question of more pieces than this is compared by its first ones: each costs a look at all words of the pool. */
const MOST_PIECES = 64;
/** The weight of a word so many steps away. */
const FADES = Array.from({ length: REACH + 1 }, (_, steps) => 0.8 ** steps);
/** The number of telling words that gives a message its full weight, and the characters in which they are counted. */
const SAYS_ENOUGH = 3;
const LOOKED_AT = 300;
/** Half of what is new about a candidate is gone after this time. */
const HALF_LIFE_MS = 30 * 86_400_000;

/** The features of each candidate, and how well the best one answers the question in itself (0 to 1). */
export function featuresOf(
  question: Question,
  pool: readonly PooledCandidate[],
  words: WordStatistics | null,
): { table: FeatureTable; strength: number } {
  const standalone = Float32Array.from(pool, standaloneWeight);
  const { soft, softNear, most: mostSoft } = softWords(question.text, { pool, standalone, words });
  const bm25 = Float32Array.from(pool, (one) => one.words);
  const softly = scaled(soft);
  const closest = pool.reduce((best, { cosine }) => Math.max(best, cosine ?? 0), 0);
  // A document without a vector gets a share of the best cosine, by its words.
  const cosine = Float32Array.from(pool, (one, i) =>
    Math.max(0, one.cosine ?? (closest || 1) * (softly[i] ?? 0)),
  );
  const asks = indicator(pool, ({ isMessage, text }) => isMessage && text.includes("?"));
  const only = namedSpeaker(question.text, pool);
  const asksForTime = asksTime(question.text);
  const table: FeatureTable = {
    wordsNear: scaled(around(bm25, { pool, standalone }, (sum, one) => sum + one)),
    wordsSitting: scaled(strongestOfSitting(bm25, pool).map((one, i) => one * (standalone[i] ?? 1))),
    soft: softly,
    softNear: scaled(softNear),
    vector: scaled(cosine),
    vectorPair: scaled(
      cosine.map(
        (one, i) => one + ((standalone[i] ?? 1) * ((cosine[pool[i]?.before ?? i] ?? one) - one)) / 2,
      ),
    ),
    // The person in question: the speaker of a message, or a name in a memory.
    speaker: indicator(pool, ({ speaker, text }) =>
      only === null
        ? false
        : speaker === null
          ? names(text.toLowerCase(), only)
          : speaker.toLowerCase() === only,
    ),
    asks,
    // The message after a matching question is likely its answer.
    answers: scaled(
      Float32Array.from(pool, ({ before }) =>
        before === undefined ? 0 : (asks[before] ?? 0) * (soft[before] ?? 0),
      ),
    ),
    time: indicator(pool, ({ text }) => asksForTime && tellsTime(text)),
    date: Float32Array.from(pool, ({ date }) => date),
    key: indicator(pool, ({ key }) => key),
    importance: Float32Array.from(pool, ({ importance }) => importance),
    recency: Float32Array.from(
      pool,
      ({ createdAt }) => 0.5 ** (Math.max(0, question.now - createdAt) / HALF_LIFE_MS),
    ),
  };
  // If neither vectors nor the word model know the question (another script), only the words found count.
  const byWords = closest === 0 && mostSoft === 0 && bm25.some((one) => one > 0) ? 1 : 0;
  const byKey = table.key.some((one) => one > 0) ? 1 : 0;
  return { table, strength: Math.min(1, Math.max(closest, mostSoft, byWords, byKey)) };
}

/**
 * For each piece of the question, the most similar piece of the document, by how rare and telling the question's is:
 * "late interaction" over a static word model. `most`: the share of the whole question that the best document has.
 */
function softWords(
  text: string,
  { pool, standalone, words }: Weighed & { words: WordStatistics | null },
): { soft: Float32Array; softNear: Float32Array; most: number } {
  const soft = new Float32Array(pool.length);
  const softNear = new Float32Array(pool.length);
  if (words === null) return { soft, softNear, most: 0 };
  const { lexicon, frequencies } = words;
  const questionPieces = [...new Set(contentWords(text).flatMap((word) => lexicon.pieces(word)))].slice(
    0,
    MOST_PIECES,
  );
  const { held, places, starts } = distinctHeld(pool, lexicon.size);
  const best = new Float32Array(pool.length);
  let whole = 0;
  for (const [i, similar] of lexicon.compare(questionPieces, held).entries()) {
    const piece = questionPieces[i] ?? 0;
    const rarity =
      Math.log(1 + frequencies.size / (frequencies.holding(piece) + 0.5)) * Math.sqrt(lexicon.length(piece));
    for (let one = 0; one < best.length; one++) {
      let most = 0;
      for (let at = starts[one] ?? 0; at < (starts[one + 1] ?? 0); at++)
        most = Math.max(most, similar[places[at] ?? 0] ?? 0);
      best[one] = rarity * most;
    }
    add(soft, best);
    add(softNear, around(best, { pool, standalone }, Math.max));
    whole += rarity;
  }
  return { soft, softNear, most: whole === 0 ? 0 : Math.max(0, ...soft) / whole };
}

/**
 * The distinct pieces of the pool, and where those of each candidate are among them: `places` of candidate i are those from
 * `starts[i]` to `starts[i + 1]`. Typed and in one row, for each piece of the question looks at all of them.
 */
function distinctHeld(
  pool: readonly PooledCandidate[],
  size: number,
): { held: number[]; places: Uint16Array; starts: Uint32Array } {
  const held: number[] = [];
  const placeOf = new Uint16Array(size);
  const places = new Uint16Array(pool.reduce((sum, { pieces }) => sum + pieces.length, 0));
  const starts = new Uint32Array(pool.length + 1);
  let end = 0;
  for (const [i, { pieces }] of pool.entries()) {
    for (const piece of pieces) places[end++] = (placeOf[piece] ||= held.push(piece)) - 1;
    starts[i + 1] = end;
  }
  return { held, places, starts };
}

/** The one speaker of the pool whom the question names, in lower case. */
function namedSpeaker(text: string, pool: readonly PooledCandidate[]): string | null {
  const lower = text.toLowerCase();
  const speakers = new Set(pool.flatMap(({ speaker }) => (speaker === null ? [] : [speaker.toLowerCase()])));
  const named = [...speakers].filter((speaker) => names(lower, speaker));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/** A value and those of the neighbours, combined; what says little itself borrows little. */
function around(
  values: Float32Array,
  { pool, standalone }: Weighed,
  combine: (all: number, one: number) => number,
): Float32Array {
  const combined = values.slice();
  for (const [i, { near }] of pool.entries()) {
    let all = values[i] ?? 0;
    for (const { at, distance } of near)
      all = combine(all, (values[at] ?? 0) * (standalone[i] ?? 1) * (FADES[distance] ?? 0));
    combined[i] = all;
  }
  return combined;
}

/** The weight of a message by itself, 0 to 1. "Noted, thanks!" has two telling words, and is no answer. */
function standaloneWeight({ isMessage, text, speaker }: PooledCandidate): number {
  if (!isMessage) return 1;
  const start = speaker === null ? 0 : speaker.length;
  const words = tellingCount(text.slice(start, start + LOOKED_AT), SAYS_ENOUGH);
  return Math.min(1, words / SAYS_ENOUGH) ** 2;
}

function strongestOfSitting(values: Float32Array, pool: readonly PooledCandidate[]): Float32Array {
  const best = new Map<number, number>();
  for (const [i, { sitting }] of pool.entries())
    best.set(sitting, Math.max(best.get(sitting) ?? 0, values[i] ?? 0));
  return Float32Array.from(pool, ({ sitting }) => best.get(sitting) ?? 0);
}

function add(sum: Float32Array, more: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (more[i] ?? 0);
}

/** To 0–1, the best at 1; zero stays zero. */
function scaled(values: Float32Array): Float32Array {
  const best = values.reduce((most, value) => Math.max(most, value), 0);
  return best === 0 ? values : values.map((value) => value / best);
}

const indicator = (pool: readonly PooledCandidate[], is: (one: PooledCandidate) => boolean): Float32Array =>
  Float32Array.from(pool, (one) => (is(one) ? 1 : 0));
