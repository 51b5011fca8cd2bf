import { typeTest } from "./answer-type.ts";
import { asksForAdvice } from "./asks.ts";
import { isAboutTalk } from "./courtesy.ts";
import { cosineOf, distinctPieces, sumOfRows } from "./lexicon.ts";
import { wordsWithoutMarks } from "./marks.ts";
import type { FeatureTable, Matches, WordStatistics } from "./features.ts";
import type { Judgement } from "./judgement.ts";
import type { PooledCandidate } from "./pool.ts";
import { namesIn } from "./question.ts";

/**
 * The signals that an answer is among the candidates. `soft`, `softNear`, `cosine`: the best match of any candidate that is no
 * echo, 0 to 1. `covered`: the mean match of the question's words, names left out, with the best line and its neighbours.
 * `lacksType`: 1 if the question asks for an answer of a type that the best line has not, or that line is about somebody else.
 * `date`: 1 if the line is of the time that the question names. `task`: 1 for a request that needs no memory ("translate").
 * `personal`: 1 if the question is about somebody. No signal compares the best line with other documents: more of the same
 * evidence does not lower a confidence.
 */
export const signalNames = [
  "soft",
  "softNear",
  "cosine",
  "covered",
  "lacksType",
  "date",
  "task",
  "personal",
] as const;
export type Signals = Record<(typeof signalNames)[number], number>;
/** The weights of a logistic function. A signal without a weight has no effect. */
export type ConfidenceWeights = { bias: number } & { [Name in (typeof signalNames)[number]]?: number };

/** A question about somebody rather than the world, in some languages. A text in another script may be one. */
const PERSONAL =
  /\b(?:i|my|mine|myself|we|us|our|ours|ourselves|he|him|his|she|her|hers|they|them|their|ich|mein\w*|je|mon|ma|mes|yo|mis?|eu|meu|minha|io|mi[oa]|ik|mijn)\b|[^\P{L}\p{Script=Latin}]/iu;
/** A task that is done with what the message says. English. */
const TASK =
  /^(?:(?:please|can you|could you|now|ok(?:ay)?,?)\s+)*(?:brainstorm|calculate|code|compare|compose|compute|convert|correct|count|create|define|describe|draft|draw|explain|fix|generate|give me|imagine|implement|invent|list|make|paraphrase|pretend|proofread|recommend|rephrase|rewrite|shorten|solve|sort|spell|suggest|summari[sz]e|tell me (?:a|an|something)|translate|write)\b/i;

/** Characters of a line in which an answer is looked for. */
const LOOKED_AT = 1_000;

/** The signals of a whole result. `best`: the place of the best line in the pool. */
export function signalsOf(
  question: string,
  {
    pool,
    matches,
    table,
    best,
    judged,
    isStatic,
    words,
  }: {
    pool: readonly PooledCandidate[];
    matches: Matches;
    table: Pick<FeatureTable, "words">;
    best: number;
    judged: readonly Judgement[];
    isStatic: boolean;
    words: WordStatistics | null;
  },
): Signals {
  const { pieces, cosine } = matches;
  const live = pool.flatMap((_, i) => (judged[i]?.isEcho === true ? [] : [i]));
  const soft = bestShare(pieces, "own", live);
  const softNear = bestShare(pieces, "near", live);
  const nearest =
    isStatic && words !== null
      ? nearestByWords(question, { pool, cosine, live, words })
      : greatest(live, cosine);
  // Neither vectors nor the word model know the question (another script): the words that were found count alone.
  const isForeign = soft + nearest === 0 && table.words.some((one) => one > 0);
  const names = namesIn(question);
  const isKnown = (name: string) =>
    words !== null && words.lexicon.pieces(name).every((piece) => words.frequencies.holding(piece) > 0);
  const line = pool[best];
  return {
    soft: isForeign ? 1 : soft,
    softNear: isForeign ? 1 : softNear,
    cosine: isForeign ? 1 : nearest,
    covered: isForeign ? 1 : coverage(pieces, best, names),
    lacksType: line !== undefined && lacksAnswer(question, line, judged[best]) ? 1 : 0,
    date: Math.max(0, line?.date ?? 0),
    task: TASK.test(question) ? 1 : 0,
    personal: PERSONAL.test(question) || asksForAdvice(question) || names.some(isKnown) ? 1 : 0,
  };
}

const lacksAnswer = (
  question: string,
  { text }: PooledCandidate,
  judgement: Judgement | undefined,
): boolean => judgement?.isOfOther === true || typeTest(question)(text.slice(0, LOOKED_AT));

const greatest = (live: readonly number[], cosine: Float32Array): number =>
  live.reduce((most, i) => Math.max(most, cosine[i] ?? 0), 0);

/** Candidates whose cosine is computed anew, and pieces of each that are looked at. */
const [COMPARED, PIECES] = [4, 256];

/**
 * The greatest cosine of the question with a candidate by the word model. That of the search weighs words by how many of the
 * user's documents hold them, and so falls with further evidence.
 */
function nearestByWords(
  question: string,
  {
    pool,
    cosine,
    live,
    words: { lexicon },
  }: {
    pool: readonly PooledCandidate[];
    cosine: Float32Array;
    live: readonly number[];
    words: WordStatistics;
  },
): number {
  const ofQuestion = sumOfRows(distinctPieces(lexicon, wordsWithoutMarks(question)), lexicon);
  const nearest = live.toSorted((a, b) => (cosine[b] ?? 0) - (cosine[a] ?? 0)).slice(0, COMPARED);
  return nearest.reduce(
    (most, i) =>
      Math.max(most, cosineOf(ofQuestion, sumOfRows(pool[i]?.pieces.subarray(0, PIECES) ?? [], lexicon))),
    0,
  );
}

/** The greatest share of the question that any of these candidates says; its pieces weigh by how telling they are in general. */
function bestShare(pieces: Matches["pieces"], side: "own" | "near", candidates: readonly number[]): number {
  const weights = pieces.map(({ length }) => Math.sqrt(length));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const shareOf = (i: number) =>
    pieces.reduce((sum, piece, k) => sum + (weights[k] ?? 0) * (piece[side][i] ?? 0), 0);
  return whole === 0 ? 0 : candidates.reduce((most, i) => Math.max(most, shareOf(i) / whole), 0);
}

/** The mean over the question's words, each by the best match of its pieces, without names and words about the conversation. */
function coverage(pieces: Matches["pieces"], line: number, names: readonly string[]): number {
  const left = new Set(names);
  const ofWords = new Map<string, { matched: number; whole: number }>();
  for (const { word, length, near } of pieces) {
    if (left.has(word) || isAboutTalk(word)) continue;
    const { matched, whole } = ofWords.get(word) ?? { matched: 0, whole: 0 };
    ofWords.set(word, { matched: matched + length * (near[line] ?? 0), whole: whole + length });
  }
  let sum = 0;
  for (const { matched, whole } of ofWords.values()) sum += matched / whole;
  return ofWords.size === 0 ? 0 : sum / ofWords.size;
}

/** The estimated probability that the candidates hold an answer, 0 to 1. */
export function confidenceOf(signals: Signals, { bias, ...weights }: ConfidenceWeights): number {
  const sum = signalNames.reduce((all, name) => all + (weights[name] ?? 0) * signals[name], bias);
  return 1 / (1 + Math.exp(-sum));
}
