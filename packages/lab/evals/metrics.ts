// Measures of retrieval over ranked ids, and how sure they are. Shares from 0 to 1.
import type { Question } from "./dataset.ts";

type Parts = Question["relevant"];

const holds = (ids: readonly string[], part: Parts[number]): boolean => ids.some((id) => part.has(id));

/** The share of the parts of the answer that the first k hold. */
const recallAt = (ranked: readonly string[], relevant: Parts, k: number): number =>
  relevant.filter((part) => holds(ranked.slice(0, k), part)).length / relevant.length;

/** 1 if the first is relevant. */
const hitAt1 = (ranked: readonly string[], relevant: Parts): number =>
  relevant.some((part) => part.has(ranked[0] ?? "")) ? 1 : 0;

/** 1 over the rank of the first relevant id; 0 without one. */
export function reciprocalRank(ranked: readonly string[], relevant: Parts): number {
  const place = ranked.findIndex((id) => relevant.some((part) => part.has(id)));
  return place === -1 ? 0 : 1 / (place + 1);
}

const discount = (i: number): number => 1 / Math.log2(i + 2);

/**
 * Normalised discounted cumulative gain with gains of 0 and 1 (Järvelin and Kekäläinen 2002). An id gains by the first
 * mention of a part.
 */
function ndcgAt(ranked: readonly string[], relevant: Parts, k: number): number {
  const isNew = (id: string, i: number) =>
    relevant.some((part) => part.has(id) && !holds(ranked.slice(0, i), part));
  const gained = ranked.slice(0, k).reduce((sum, id, i) => sum + (isNew(id, i) ? discount(i) : 0), 0);
  const best = Array.from({ length: Math.min(k, relevant.length) }, (_, i) => discount(i)).reduce(
    (sum, one) => sum + one,
    0,
  );
  return gained / best;
}

export const measures = {
  "R@1": (ranked, relevant) => recallAt(ranked, relevant, 1),
  "R@5": (ranked, relevant) => recallAt(ranked, relevant, 5),
  "R@10": (ranked, relevant) => recallAt(ranked, relevant, 10),
  "R@20": (ranked, relevant) => recallAt(ranked, relevant, 20),
  "Hit@1": hitAt1,
  MRR: reciprocalRank,
  "NDCG@5": (ranked, relevant) => ndcgAt(ranked, relevant, 5),
} satisfies Record<string, (ranked: readonly string[], relevant: Parts) => number>;
export type Measure = keyof typeof measures;
export const measureNames = Object.keys(measures) as Measure[];

/** The measure of each question. */
export const scoresOf = (
  measure: Measure,
  questions: readonly Pick<Question, "relevant">[],
  ranked: readonly (readonly string[])[],
): number[] => questions.map(({ relevant }, i) => measures[measure](ranked[i] ?? [], relevant));

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Whole numbers below `n` by a generator of fixed seed, so that the same data have the same figures. */
export function randomBelow(seed = 1): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const RESAMPLES = 1000;
export type Interval = [low: number, high: number];

/** The 95 % interval of a mean over questions: percentiles of the means of 1,000 resamples with replacement. */
export function interval(values: readonly number[]): Interval {
  const below = randomBelow();
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[below(values.length)] ?? 0;
    return sum / values.length;
  }).toSorted();
  return [means[Math.floor(RESAMPLES * 0.025)] ?? 0, means[Math.floor(RESAMPLES * 0.975)] ?? 0];
}

export type Difference = { mean: number; interval: Interval };

/** The mean difference between two ways that were asked the same questions. */
export function pairedDifference(ours: readonly number[], theirs: readonly number[]): Difference {
  const differences = ours.map((one, i) => one - (theirs[i] ?? 0));
  return { mean: mean(differences), interval: interval(differences) };
}

/** The probability that a value of one class is greater than one of the other (ROC AUC); equal ones count half. */
export function auc(positives: readonly number[], negatives: readonly number[]): number {
  const wins = positives.map((one) =>
    mean(negatives.map((other) => (one > other ? 1 : one === other ? 0.5 : 0))),
  );
  return mean(wins);
}
