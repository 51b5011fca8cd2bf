import { type Feature, features, featuresOf, type Question, type WordStatistics } from "./features.ts";
import type { PooledCandidate } from "./pool.ts";

/** Chosen on the three conversations of LoCoMo's dev split, and rounded; docs/recall.md has the numbers that chose them. */
const WEIGHTS: Record<Feature, number> = {
  wordsNear: 1,
  wordsSitting: 1,
  soft: 1,
  softNear: 3,
  vector: 1,
  vectorPair: 1,
  speaker: 2,
  asks: -0.5,
  answers: 1,
  time: 1.5,
  date: 3,
  key: 10,
  importance: 0.25,
  recency: 0.25,
};

/** The weights that callers can set, and the features of each. */
const groups = {
  lexical: ["wordsNear", "wordsSitting"],
  soft: ["soft", "softNear"],
  vector: ["vector", "vectorPair"],
  speaker: ["speaker", "asks", "answers"],
  time: ["time", "date"],
  key: ["key"],
  importance: ["importance"],
  recency: ["recency"],
} satisfies Record<string, Feature[]>;
export type WeightName = keyof typeof groups;
const weightNames = Object.keys(groups) as [WeightName, ...WeightName[]];
/** Factors on what is usual: 0 leaves a part out, 1 is as if it was not given. */
export type Weights = { [Name in WeightName]?: number | undefined };

/** The contribution of each group of features to a score. Their rounded sum is the score; a negative sum gives 0. */
type ScoreParts = { [Name in WeightName]?: number };
type Ranked = { n: number; score: number; parts?: ScoreParts };

/**
 * Every candidate, best first. A score is the weighted share that a candidate reaches, times the strength of the best
 * candidate. Scores of two questions compare roughly. `full` is the weight that this question can use (without a date it
 * has none for dates): of two pools for one question, shares of the greater one compare.
 */
export function rank(
  question: Question,
  pool: readonly PooledCandidate[],
  {
    words,
    weights = {},
    explain = false,
  }: {
    words: WordStatistics | null;
    weights?: Weights;
    explain?: boolean;
  },
): { ranked: Ranked[]; full: number } {
  const { table, strength } = featuresOf(question, pool, words);
  const weightOf = weighed(weights);
  const full = features
    .filter((name) => table[name].some((one) => one > 0))
    .reduce((sum, name) => sum + Math.max(0, weightOf[name]), 0);
  const share = full === 0 ? 0 : strength / full;
  const partsOf = (i: number): ScoreParts => {
    const parts: ScoreParts = {};
    for (const name of weightNames) {
      const group: readonly Feature[] = groups[name];
      const part = share * group.reduce((sum, one) => sum + weightOf[one] * (table[one][i] ?? 0), 0);
      if (part !== 0) parts[name] = Math.round(part * 1e4) / 1e4;
    }
    return parts;
  };
  const ranked = pool
    .map(({ n }, i) => {
      const sum = features.reduce((total, name) => total + weightOf[name] * (table[name][i] ?? 0), 0);
      const score = share * Math.max(0, sum);
      return { n, score, sum, ...(explain && { parts: partsOf(i) }) };
    })
    .toSorted((a, b) => b.sum - a.sum || b.n - a.n)
    .map(({ sum: _sum, ...one }) => one);
  return { ranked, full };
}

function weighed(weights: Weights): Record<Feature, number> {
  const own = { ...WEIGHTS };
  for (const name of weightNames) for (const feature of groups[name]) own[feature] *= weights[name] ?? 1;
  return own;
}
