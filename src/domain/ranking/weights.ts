import type { ConfidenceWeights } from "./confidence.ts";
import type { Feature } from "./features.ts";
import type { CandidateKind } from "./pool.ts";
import type { StatementWeights } from "./second-stage.ts";

/** The weights of the sum that orders candidates, for each kind. A feature without a weight counts nothing. */
export type RankingWeights = Record<CandidateKind, Partial<Record<Feature, number>>>;
/** With less confidence than the threshold, `answerable: 'auto'` returns no hits; than the strict one, `strict`. */
export type RankingModel = {
  /** The documents' vectors are those of the word model. */
  isStatic: boolean;
  weights: RankingWeights;
  statements: StatementWeights;
  confidence: ConfidenceWeights;
  threshold: number;
  strictThreshold: number;
};
/** `static`: documents have vectors of the word model; `contextual`: of any other model. */
export type EmbedderKind = "static" | "contextual";

const memory = { speaker: 1.5, time: 1, date: 6, key: 10, importance: 0.5, recency: 0.25 };
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
  date: 6,
  recency: 0.25,
};

const statements = {
  echo: -8,
  asks: -2.5,
  repeats: -2.5,
  other: -1,
  reply: 0.7,
  later: 0.7,
  change: 1.4,
  gap: 0.9,
};

export type RankingModels = Record<EmbedderKind, RankingModel>;

/** Fitted by `npm run eval -- --fit`, and smoothed so that no set loses what another gains; docs/recall-quality.md has the figures. */
export const rankingModels: RankingModels = {
  static: {
    isStatic: true,
    weights: { memory: { ...memory, words: 0.5, soft: 4.5, vector: 3 }, people, assistant },
    statements,
    confidence: {
      bias: -3.8,
      soft: 0.4,
      softNear: 1,
      cosine: 3,
      covered: 2.9,
      lacksType: -2.6,
      date: 2.1,
      task: -1.1,
      personal: 0.9,
    },
    threshold: 0.13,
    strictThreshold: 0.25,
  },
  contextual: {
    isStatic: false,
    weights: {
      memory: { ...memory, words: 0.5, soft: 2, vector: 6.5 },
      people: { ...people, soft: 2, vectorPair: 3.2 },
      assistant: { ...assistant, soft: 2.6, vector: 2.8 },
    },
    statements,
    confidence: {
      bias: -4,
      soft: 0.3,
      softNear: 0.9,
      cosine: 3.7,
      covered: 2.8,
      lacksType: -2.3,
      date: 2.5,
      task: -1,
      personal: 0.8,
    },
    threshold: 0.13,
    strictThreshold: 0.25,
  },
};
