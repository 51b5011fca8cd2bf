// Measures of retrieval over ranked ids. Every figure is a mean over questions, in percent.
import type { Question } from "./dataset.ts";

type Parts = Question["relevant"];

const holds = (ids: readonly string[], part: Parts[number]): boolean => ids.some((id) => part.has(id));

/** The share of the parts of the answer that the first k hold. */
export const recallAt = (ranked: readonly string[], relevant: Parts, k: number): number =>
  relevant.filter((part) => holds(ranked.slice(0, k), part)).length / relevant.length;

/** 1 if the first is relevant. */
export const hitAt1 = (ranked: readonly string[], relevant: Parts): number =>
  relevant.some((part) => part.has(ranked[0] ?? "")) ? 1 : 0;

const discount = (i: number): number => 1 / Math.log2(i + 2);

/**
 * Normalised discounted cumulative gain with gains of 0 and 1 (Järvelin and Kekäläinen 2002). An id gains by the first
 * mention of a part.
 */
export function ndcgAt(ranked: readonly string[], relevant: Parts, k: number): number {
  const isNew = (id: string, i: number) =>
    relevant.some((part) => part.has(id) && !holds(ranked.slice(0, i), part));
  const gained = ranked.slice(0, k).reduce((sum, id, i) => sum + (isNew(id, i) ? discount(i) : 0), 0);
  const best = Array.from({ length: Math.min(k, relevant.length) }, (_, i) => discount(i)).reduce(
    (sum, one) => sum + one,
    0,
  );
  return gained / best;
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const RESAMPLES = 1000;

/**
 * The 95 % interval of a mean over questions: percentiles of the means of 1,000 resamples with replacement, drawn by a
 * generator of fixed seed, so that the same figures have the same interval.
 */
export function interval(values: readonly number[]): [low: number, high: number] {
  let state = 1;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(values.map(() => values[below(values.length)] ?? 0)),
  ).toSorted((a, b) => a - b);
  return [means[Math.floor(RESAMPLES * 0.025)] ?? 0, means[Math.floor(RESAMPLES * 0.975)] ?? 0];
}
