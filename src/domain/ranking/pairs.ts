import { HALVED_BY } from "./rank.ts";

type Judged<Hit> = { hits: Hit[]; confidence: number };

/**
 * The hits with the scores of pairs: of the question and each hit, 0 to 1, by a model that reads both together. A pair moves its
 * hit's sum by at most `weight` in either direction, and the best hit's takes the confidence with it: a score is the confidence,
 * less for what a sum lacks to the best. Best first. Without a confidence, no pair makes small talk a question.
 */
export function withPairs<Hit extends { score: number }>(
  { hits, confidence }: { hits: readonly Hit[]; confidence: number },
  pairs: readonly number[],
  weight: number,
): Judged<Hit> {
  if (confidence === 0) return { hits: [...hits], confidence };
  const moved = hits
    .map((hit, i) => {
      const shift = weight * (2 * (pairs[i] ?? 0) - 1);
      return { hit, shift, sum: HALVED_BY * Math.log2(hit.score / confidence) + shift };
    })
    .toSorted((a, b) => b.sum - a.sum);
  const [best] = moved;
  if (best === undefined) return { hits: [], confidence };
  const against = (1 / confidence - 1) * 2 ** (-best.shift / HALVED_BY);
  const changed = 1 / (1 + against);
  return {
    hits: moved.map(({ hit, sum }) => ({ ...hit, score: changed * 2 ** ((sum - best.sum) / HALVED_BY) })),
    confidence: changed,
  };
}
