import { partOf } from "../language/recall-words.ts";
import { typeTest } from "./answer-type.ts";
import { isAboutTalk } from "./courtesy.ts";
import type { Featured, Matches } from "./features.ts";
import type { Reading } from "./judgement.ts";
import { cosineOf, distinctPieces, sumOfRows, type WordStatistics } from "./lexicon.ts";
import { wordsWithoutMarks } from "./marks.ts";
import type { PoolMember } from "./pool.ts";
import { asksForAdvice, namesIn } from "./question.ts";

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

/** A question about somebody rather than the world. A text in another script may be one. */
const PERSONAL = new RegExp(String.raw`\b${partOf("persons")}\b|[^\P{L}\p{Script=Latin}]`, "iu");
const TASK = new RegExp(String.raw`^${partOf("tasks")}\b`, "iu");

/** Characters of a line in which an answer is looked for. */
const LOOKED_AT = 1_000;

/** The signals of a whole result. `best`: the place of the best line in the pool. */
export function signalsOf(
  question: string,
  { pool, words, table, matches: { pieces, cosine } }: Featured,
  { best, readingOf, isStatic }: { best: number; readingOf: ReadonlyMap<number, Reading>; isStatic: boolean },
): Signals {
  const live = [...pool.keys()].filter((i) => readingOf.get(i)?.isEcho !== true);
  const soft = bestShare(pieces, "own", live);
  const softNear = bestShare(pieces, "near", live);
  const nearest = live.toSorted((a, b) => (cosine[b] ?? 0) - (cosine[a] ?? 0)).slice(0, COMPARED);
  const closest =
    isStatic && words !== null
      ? closestByWords(question, nearest, { pool, words })
      : Math.max(0, ...nearest.map((i) => cosine[i] ?? 0));
  // Neither vectors nor the word model know the question (another script): the words that were found count alone.
  const isForeign = soft + closest === 0 && table.words.some((one) => one > 0);
  const names = namesIn(question);
  const isKnown = (name: string) =>
    words !== null && words.lexicon.pieces(name).every((piece) => words.frequencies.holding(piece) > 0);
  const isPersonal = PERSONAL.test(question) || asksForAdvice(question) || names.some(isKnown);
  const matches = isForeign
    ? { soft: 1, softNear: 1, cosine: 1, covered: 1 }
    : { soft, softNear, cosine: closest, covered: coverage(pieces, best, names) };
  return {
    ...matches,
    lacksType: Number(lacksAnswer(question, pool[best], readingOf.get(best))),
    date: Math.max(0, pool[best]?.date ?? 0),
    task: Number(TASK.test(question)),
    personal: Number(isPersonal),
  };
}

const lacksAnswer = (question: string, line: PoolMember | undefined, reading: Reading | undefined) =>
  line !== undefined && (reading?.isOfOther === true || typeTest(question)(line.text.slice(0, LOOKED_AT)));

/** Candidates whose cosine is computed anew, and pieces of each that are looked at. */
const [COMPARED, PIECES] = [4, 256];

/**
 * The greatest cosine of the question with a candidate by the word model. That of the search weighs words by how many of the
 * user's documents hold them, and so falls with further evidence.
 */
function closestByWords(
  question: string,
  nearest: readonly number[],
  { pool, words: { lexicon } }: { pool: Featured["pool"]; words: WordStatistics },
): number {
  const ofQuestion = sumOfRows(distinctPieces(lexicon, wordsWithoutMarks(question)), lexicon);
  const piecesOf = (i: number) => pool[i]?.pieces.subarray(0, PIECES) ?? [];
  return Math.max(0, ...nearest.map((i) => cosineOf(ofQuestion, sumOfRows(piecesOf(i), lexicon))));
}

/** The greatest share of the question that any of these candidates says; its pieces weigh by how telling they are in general. */
function bestShare(pieces: Matches["pieces"], side: "own" | "near", candidates: readonly number[]): number {
  const whole = pieces.reduce((sum, { length }) => sum + Math.sqrt(length), 0);
  const sumOf = (i: number) =>
    pieces.reduce((sum, piece) => sum + Math.sqrt(piece.length) * (piece[side][i] ?? 0), 0);
  return whole === 0 ? 0 : Math.max(0, ...candidates.map(sumOf)) / whole;
}

/** The mean over the question's words, each by the best match of its pieces, without names and words about the conversation. */
function coverage(pieces: Matches["pieces"], line: number, names: readonly string[]): number {
  const counted = pieces.filter(({ word }) => !names.includes(word) && !isAboutTalk(word));
  const ofWords = [...Map.groupBy(counted, ({ word }) => word).values()].map((some) => {
    const whole = some.reduce((sum, { length }) => sum + length, 0);
    return some.reduce((sum, { length, near }) => sum + length * (near[line] ?? 0), 0) / whole;
  });
  return ofWords.length === 0 ? 0 : ofWords.reduce((sum, one) => sum + one, 0) / ofWords.length;
}

/** The estimated probability that the candidates hold an answer, 0 to 1. */
export function confidenceOf(signals: Signals, { bias, ...weights }: ConfidenceWeights): number {
  const sum = signalNames.reduce((all, name) => all + (weights[name] ?? 0) * signals[name], bias);
  return 1 / (1 + Math.exp(-sum));
}
