import type { ConfidenceWeights } from "./confidence.ts";
import type { Feature } from "./features.ts";
import type { CandidateKind } from "./pool.ts";

/** The weights of the sum that orders candidates, for each kind. A feature without a weight counts nothing. */
export type RankingWeights = Record<CandidateKind, Partial<Record<Feature, number>>>;
/** `threshold`: with less confidence, `answerable: 'auto'` returns no hits. */
export type RankingModel = { weights: RankingWeights; confidence: ConfidenceWeights; threshold: number };
/** `static`: documents have vectors of the word model; `contextual`: of any other model. */
export type EmbedderKind = "static" | "contextual";

const memory = { speaker: 1.5, time: 1, date: 3, key: 10, importance: 0.5, recency: 0.25 };
const people = {
  words: 0,
  wordsNear: 1.6,
  soft: 1.6,
  softNear: 2.7,
  sitting: 2.9,
  vectorPair: 2.1,
  speaker: 2.7,
  asks: -0.6,
  answers: 1.2,
  time: 2,
  date: 3.9,
  recency: 0.25,
};
const assistant = {
  speaker: 1.5,
  words: 0.8,
  exact: 2.3,
  soft: 3.1,
  sitting: 0.6,
  vector: 0.75,
  user: 1,
  length: -2,
  echo: -8,
  date: 3,
  recency: 0.25,
};

export type RankingModels = Record<EmbedderKind, RankingModel>;

/** Fitted by `npm run eval -- --fit`, and smoothed so that no set loses what another gains; docs/recall-quality.md has the figures. */
export const rankingModels: RankingModels = {
  static: {
    weights: { memory: { ...memory, words: 0.5, soft: 4.5, vector: 3 }, people, assistant },
    confidence: {
      bias: -3.6,
      cosine: 4.3,
      margin: 3.8,
      softNear: 1.3,
      words: -0.3,
      agreement: 0.1,
      speaker: 8,
      personal: 1.6,
    },
    threshold: 0.2,
  },
  contextual: {
    weights: {
      memory: { ...memory, words: 0.5, soft: 2, vector: 6.5 },
      people: { ...people, soft: 2, vectorPair: 3.2 },
      assistant: { ...assistant, soft: 2.6, vector: 2.8 },
    },
    confidence: {
      bias: -3.6,
      soft: 0.1,
      cosine: 7.6,
      softNear: 0.1,
      words: -0.6,
      margin: 2.7,
      speaker: 9.6,
      personal: 1.1,
    },
    threshold: 0.2,
  },
};
