import { asksForAdvice } from "./asks.ts";
import type { FeatureTable, Matches } from "./features.ts";
import type { PooledCandidate } from "./pool.ts";
import { contentWords, mentions } from "./question.ts";

/**
 * The signals that an answer is among the candidates. `soft`, `exact`, `cosine`, `softNear`: the best match of any candidate,
 * 0 to 1. `words`: ln(1 + content words). `margin`: the best match less that of rank `COMPARED`. `spread`: the best match's
 * distance from the mean, in fives of standard deviations. `agreement`: 1 if the nearest candidate by vector is also the best by
 * words, otherwise less. `speaker`: 0, or less if somebody else than the person in question matches best. `personal`: 1 or 0.
 */
export const signalNames = [
  "soft",
  "exact",
  "cosine",
  "softNear",
  "words",
  "margin",
  "spread",
  "agreement",
  "speaker",
  "personal",
] as const;
export type Signals = Record<(typeof signalNames)[number], number>;
/** The weights of a logistic function. A signal without a weight has no effect. */
export type ConfidenceWeights = { bias: number } & { [Name in (typeof signalNames)[number]]?: number };

/** Asks about the user rather than the world: "I" or "my" in some languages. A text in another script may have one. */
const PERSONAL =
  /\b(?:i|my|mine|myself|we|us|our|ours|ourselves|ich|mein\w*|je|mon|ma|mes|yo|mis?|eu|meu|minha|io|mi[oa]|ik|mijn)\b|[^\P{L}\p{Script=Latin}]/iu;
/** `margin` compares the best match with that of this rank, from 1. */
const COMPARED = 10;

/** The signals of a whole result. A match is the sum of a candidate's soft match and its cosine. */
export function signalsOf(
  question: string,
  { pool, matches, table }: { pool: readonly PooledCandidate[]; matches: Matches; table: FeatureTable },
): Signals {
  const { soft, exact, cosine, softNear } = matches;
  const both = pool.map((_, i) => (soft[i] ?? 0) + (cosine[i] ?? 0));
  const sorted = both.toSorted((a, b) => b - a);
  const byVector = both.length === 0 ? 0 : cosine.indexOf(Math.max(...cosine));
  const better = soft.filter((one) => one > (soft[byVector] ?? 0)).length;
  const ofSpeaker = Math.max(0, ...both.filter((_, i) => (table.speaker[i] ?? 0) > 0));
  // Neither vectors nor the word model know the question (another script): the words that were found count alone.
  const unknown = (sorted[0] ?? 0) === 0 && table.words.some((one) => one > 0);
  const named = pool.some(({ speaker }) => speaker !== null && mentions(question, speaker));
  return {
    soft: unknown ? 1 : greatest(soft),
    exact: unknown ? 1 : greatest(exact),
    cosine: unknown ? 1 : greatest(cosine),
    softNear: unknown ? 1 : greatest(softNear),
    words: Math.log1p(contentWords(question).length),
    margin: (sorted[0] ?? 0) - (sorted[COMPARED - 1] ?? 0),
    spread: zScore(sorted) / 5,
    agreement: 1 / (1 + better),
    speaker: named && ofSpeaker > 0 ? ofSpeaker - (sorted[0] ?? 0) : 0,
    personal: named || PERSONAL.test(question) || asksForAdvice(question) ? 1 : 0,
  };
}

const greatest = (values: Float32Array): number => values.reduce((most, value) => Math.max(most, value), 0);

/** The first value's distance from the mean, in standard deviations. */
function zScore(sorted: readonly number[]): number {
  const mean = sorted.reduce((sum, value) => sum + value, 0) / Math.max(1, sorted.length);
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, sorted.length);
  return variance === 0 ? 0 : ((sorted[0] ?? 0) - mean) / Math.sqrt(variance);
}

/** The estimated probability that the candidates hold an answer, 0 to 1. */
export function confidenceOf(signals: Signals, { bias, ...weights }: ConfidenceWeights): number {
  const sum = signalNames.reduce((all, name) => all + (weights[name] ?? 0) * signals[name], bias);
  return 1 / (1 + Math.exp(-sum));
}
