import { applies } from "./applies.ts";
import { asksForAdvice } from "./asks.ts";
import { distinctPieces, type Lexicon } from "./lexicon.ts";
import { type PooledCandidate, REACH } from "./pool.ts";
import { DAY } from "./time-span.ts";
import { type Passage, passagesOf } from "./passages.ts";
import { otherForms } from "../language/irregular-verbs.ts";
import { asksTime, contentWords, mentions, otherScriptWords, tellsTime } from "./question.ts";

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
/** The candidates, and how much each says by itself. */
type Pieces = Pick<PooledCandidate, "pieces">;
type Weighed = { pool: readonly PooledCandidate[]; standalone: Float32Array };

/** Counts of the words of a user's documents. */
type Frequencies = {
  /** Number of documents. */
  size: number;
  /** Number of documents that hold this piece. */
  holding: (piece: number) => number;
};
/** The word model, and how many of the user's documents hold each of its pieces. */
export type WordStatistics = { lexicon: Lexicon; frequencies: Frequencies };
/** `until`: the end of the times that the question names. `isPast`: it is about what was so before, without such a time. */
export type Question = { text: string; now: number; until?: number | undefined; isPast?: boolean };

/** A question of more pieces than this is compared by its first ones: each costs a look at all words of the pool. */
const MOST_PIECES = 64;
/** The weight of a word so many steps away. */
const FADES = Array.from({ length: REACH + 1 }, (_, steps) => 0.8 ** steps);
/** The sum of the squares of its pieces' lengths that gives a message its full weight: the longer a piece is, the more it tells. */
const SAYS_ENOUGH = 4;
/** The number of words of another script that does, and the characters in which they are counted. */
const [ENOUGH_WORDS, LOOKED_AT] = [3, 300];
/** Half of what is new about a candidate is gone after this time. */
const HALF_LIFE_MS = 30 * DAY;
/** Pieces with a greater cosine are the same piece. */
export const SAME = 0.999;
/** The length of a text counts by its logarithm, from some words to several pages. */
const [SHORT, LONG] = [100, 5_000];

/**
 * A piece of the question: the word it is of, its length as the model has it, and its cosine with the nearest piece of each
 * candidate, and of that and its neighbours.
 */
export type PieceMatch = {
  word: string;
  length: number;
  share: number;
  own: Float32Array;
  near: Float32Array;
};
/** The match of each candidate with the question, before it is scaled by the best. */
export type Matches = { pieces: readonly PieceMatch[]; cosine: Float32Array; soft: Float32Array };

/** The features of each candidate, and their matches before these are scaled by the best. */
export function featuresOf(
  question: Question,
  pool: readonly PooledCandidate[],
  words: WordStatistics | null,
): { table: FeatureTable; matches: Matches } {
  const standalone = Float32Array.from(pool, (one) => standaloneWeight(one, words));
  const { exact, soft, softNear, pieces } = softWords(question.text, { pool, standalone, words });
  const bm25 = Float32Array.from(pool, (one) => one.words);
  const softly = scaled(soft);
  const closest = pool.reduce((best, { cosine }) => Math.max(best, cosine ?? 0), 0);
  // A document without a vector gets a share of the best cosine, by its words.
  const cosine = Float32Array.from(pool, (one, i) =>
    Math.max(0, one.cosine ?? (closest || 1) * (softly[i] ?? 0)),
  );
  const asks = indicator(pool, ({ isMessage, text }) => isMessage && text.includes("?"));
  const only = namedSpeaker(question.text, pool);
  const advice = asksForAdvice(question.text);
  const asksForTime = asksTime(question.text);
  // A memory has no neighbours.
  const ofMessages = (values: Float32Array) =>
    values.map((one, i) => (pool[i]?.isMessage === true ? one : 0));
  const table: FeatureTable = {
    words: scaled(bm25),
    wordsNear: ofMessages(scaled(around(bm25, { pool, standalone }, (sum, one) => sum + one))),
    // A share as it is: one common word is little of a question, also where nothing holds more of it.
    exact,
    soft: softly,
    softNear: ofMessages(scaled(softNear)),
    sitting: ofMessages(scaled(strongestOfSitting(soft, pool).map((one, i) => one * (standalone[i] ?? 1)))),
    vector: scaled(cosine),
    vectorPair: ofMessages(
      scaled(
        cosine.map(
          (one, i) => one + ((standalone[i] ?? 1) * ((cosine[pool[i]?.before ?? i] ?? one) - one)) / 2,
        ),
      ),
    ),
    // The person in question: the speaker of a message, or a name in a memory.
    speaker: indicator(pool, (one) => only !== null && isAbout(one, only)),
    user: indicator(pool, ({ role }) => role === (advice ? "assistant" : "user")),
    length: Float32Array.from(pool, ({ text }) => (advice ? 0 : lengthOf(text))),
    asks,
    // The message after a matching question is likely its answer.
    answers: scaled(
      Float32Array.from(pool, ({ before }) =>
        before === undefined ? 0 : (asks[before] ?? 0) * (soft[before] ?? 0),
      ),
    ),
    time: indicator(pool, ({ text }) => asksForTime && tellsTime(text)),
    date: Float32Array.from(pool, ({ date }) => date),
    key: Float32Array.from(pool, ({ key }) => key),
    importance: Float32Array.from(pool, ({ importance }) => importance),
    recency: Float32Array.from(
      pool,
      ({ createdAt }) => 0.5 ** (Math.max(0, question.now - createdAt) / HALF_LIFE_MS),
    ),
    applies: applies(question.text, pool, words?.lexicon ?? null),
  };
  return { table, matches: { pieces, cosine, soft } };
}

/**
 * The matches of the question's pieces with the words of each candidate and of its neighbours, as shares of the question, and
 * each piece's own.
 */
function softWords(
  text: string,
  { pool, standalone, words }: Weighed & { words: WordStatistics | null },
): Record<"exact" | "soft" | "softNear", Float32Array> & Pick<Matches, "pieces"> {
  const exact = new Float32Array(pool.length);
  const soft = new Float32Array(pool.length);
  const softNear = new Float32Array(pool.length);
  const pieces: PieceMatch[] = [];
  if (words !== null)
    for (const { word, length, share, cosines } of pieceMatches(text, pool, words)) {
      const near = around(cosines, { pool, standalone }, Math.max);
      for (let i = 0; i < pool.length; i++) {
        const own = cosines[i] ?? 0;
        if (own > SAME) exact[i] = (exact[i] ?? 0) + share;
        soft[i] = (soft[i] ?? 0) + share * own;
        softNear[i] = (softNear[i] ?? 0) + share * (near[i] ?? 0);
      }
      pieces.push({ word, length, share, own: cosines, near });
    }
  return { exact, soft, softNear, pieces };
}

/** The passage of a text that says most of a question, and its soft and exact match. */
export type PassageMatch = { passage: Passage; soft: number; exact: number };

/** The best passage of each text; the first of several. */
export function passageMatches(
  question: string,
  texts: readonly string[],
  words: WordStatistics,
): PassageMatch[] {
  const cut = texts.map(passagesOf);
  const flat = cut.flatMap((passages, k) =>
    passages.map(({ start, end }) => ({
      pieces: distinctPieces(words.lexicon, (texts[k] ?? "").slice(start, end)),
    })),
  );
  const [soft, exact] = [new Float32Array(flat.length), new Float32Array(flat.length)];
  for (const { share, cosines } of pieceMatches(question, flat, words))
    for (let i = 0; i < flat.length; i++) {
      const cosine = cosines[i] ?? 0;
      soft[i] = (soft[i] ?? 0) + share * cosine;
      if (cosine > SAME) exact[i] = (exact[i] ?? 0) + share;
    }
  let first = 0;
  return cut.map((passages) => {
    let best = 0;
    for (let i = 1; i < passages.length; i++)
      if ((soft[first + i] ?? 0) > (soft[first + best] ?? 0)) best = i;
    const at = first + best;
    first += passages.length;
    return {
      passage: passages[best] ?? { start: 0, end: 0 },
      soft: soft[at] ?? 0,
      exact: exact[at] ?? 0,
    };
  });
}

/**
 * For each piece of the question, the most similar piece of each text, by how rare and telling the question's is: "late
 * interaction" over a static word model. The forms of one irregular verb are one piece. `share`: the piece's part of the
 * whole question, which a match reaches at most.
 */
function* pieceMatches(
  question: string,
  texts: readonly Pieces[],
  words: WordStatistics,
): Generator<{ word: string; length: number; share: number; cosines: Float32Array }> {
  const { lexicon } = words;
  const wordOf = new Map<number, string>();
  for (const word of contentWords(question))
    for (const piece of lexicon.pieces(word))
      if (wordOf.size < MOST_PIECES && !wordOf.has(piece)) wordOf.set(piece, word);
  const pieces = [...wordOf.keys()];
  const rarities = pieces.map((piece) => rarityOf(piece, words));
  const whole = rarities.reduce((sum, rarity) => sum + rarity, 0);
  const { vocabulary, places, starts } = vocabularyOf(texts, lexicon.size);
  const all = lexicon.compare(pieces, vocabulary).map((similar, i) => {
    for (const form of otherForms.get(wordOf.get(pieces[i] ?? 0) ?? "") ?? []) {
      const [piece = 0, ...rest] = lexicon.pieces(form);
      const at = rest.length === 0 ? vocabulary.indexOf(piece) : -1;
      if (at >= 0) similar[at] = 1;
    }
    const matches = new Float32Array(texts.length);
    for (let one = 0; one < matches.length; one++) {
      let most = 0;
      for (let at = starts[one] ?? 0; at < (starts[one + 1] ?? 0); at++)
        most = Math.max(most, similar[places[at] ?? 0] ?? 0);
      matches[one] = most;
    }
    return matches;
  });
  for (const number of new Set([...wordOf.values()].filter((word) => /\p{N}/u.test(word))))
    keepWhole(all.filter((_, i) => wordOf.get(pieces[i] ?? 0) === number));
  for (const [i, cosines] of all.entries()) {
    const piece = pieces[i] ?? 0;
    yield {
      word: wordOf.get(piece) ?? "",
      length: lexicon.length(piece),
      share: (rarities[i] ?? 0) / whole,
      cosines,
    };
  }
}

/** A text has a number or has it not: 2027 shares a piece with 2022, and is near it in the model. */
function keepWhole(piecesOfNumber: readonly Float32Array[]): void {
  for (let text = 0; text < (piecesOfNumber[0]?.length ?? 0); text++)
    if (piecesOfNumber.some((matches) => (matches[text] ?? 0) <= SAME))
      for (const matches of piecesOfNumber) matches[text] = 0;
}

/** The share of a question that is this name, 0 to 1: its words weigh by how rare and telling they are. */
export function shareOf(name: string, question: string, words: WordStatistics | null): number {
  const named = new Set(contentWords(name));
  const questionWords = contentWords(question);
  const weight = (word: string): number =>
    words === null
      ? 1
      : words.lexicon.pieces(word).reduce((sum, piece) => sum + rarityOf(piece, words), 0) || 1;
  const sum = (some: readonly string[]) => some.reduce((all, word) => all + weight(word), 0);
  // A name of stop words alone has a share only of a question of stop words alone.
  return sum(questionWords.filter((word) => named.has(word))) / Math.max(sum(questionWords), Number.EPSILON);
}

/** The more telling a piece is in general, and the fewer of the user's documents hold it, the greater. */
export const rarityOf = (piece: number, { lexicon, frequencies }: WordStatistics): number =>
  Math.log(1 + frequencies.size / (frequencies.holding(piece) + 0.5)) * Math.sqrt(lexicon.length(piece));

/**
 * The distinct pieces of the pool, and where those of each candidate are among them: `places` of candidate i are those from
 * `starts[i]` to `starts[i + 1]`. Typed and in one row, for each piece of the question looks at all of them.
 */
function vocabularyOf(
  pool: readonly Pieces[],
  size: number,
): { vocabulary: number[]; places: Uint16Array; starts: Uint32Array } {
  const vocabulary: number[] = [];
  const placeOf = new Uint16Array(size);
  const places = new Uint16Array(pool.reduce((sum, { pieces }) => sum + pieces.length, 0));
  const starts = new Uint32Array(pool.length + 1);
  let end = 0;
  for (const [i, { pieces }] of pool.entries()) {
    for (const piece of pieces) places[end++] = (placeOf[piece] ||= vocabulary.push(piece)) - 1;
    starts[i + 1] = end;
  }
  return { vocabulary, places, starts };
}

/** The one speaker of the pool whom the question names, in lower case. */
function namedSpeaker(text: string, pool: readonly PooledCandidate[]): string | null {
  const speakers = new Set(pool.flatMap(({ speaker }) => (speaker === null ? [] : [speaker.toLowerCase()])));
  const named = [...speakers].filter((speaker) => mentions(text, speaker));
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

/**
 * The weight of a message by itself, 0 to 1. "Noted, thanks!" tells little, and is no answer. The model has pieces of Latin
 * letters alone: words of other letters are counted.
 */
function standaloneWeight(
  { isMessage, pieces, text, speaker }: PooledCandidate,
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

function strongestOfSitting(values: Float32Array, pool: readonly PooledCandidate[]): Float32Array {
  const best = new Map<number, number>();
  for (const [i, { sitting }] of pool.entries())
    best.set(sitting, Math.max(best.get(sitting) ?? 0, values[i] ?? 0));
  return Float32Array.from(pool, ({ sitting }) => best.get(sitting) ?? 0);
}

/** A name in a memory counts like the speaker of a message. */
const isAbout = ({ isMessage, speaker, text }: PooledCandidate, name: string): boolean =>
  isMessage ? speaker?.toLowerCase() === name : mentions(text, name);

const lengthOf = (text: string): number =>
  Math.min(1, Math.log(1 + text.length / SHORT) / Math.log(1 + LONG / SHORT));

/** To 0–1, the best at 1; zero stays zero. */
function scaled(values: Float32Array): Float32Array {
  const best = values.reduce((most, value) => Math.max(most, value), 0);
  return best === 0 ? values : values.map((value) => value / best);
}

const indicator = (pool: readonly PooledCandidate[], is: (one: PooledCandidate) => boolean): Float32Array =>
  Float32Array.from(pool, (one) => (is(one) ? 1 : 0));
