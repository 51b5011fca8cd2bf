import type { ConfidenceWeights } from "./confidence.ts";
import type { Feature } from "./features.ts";
import type { CandidateKind } from "./pool.ts";
import type { StatementWeights } from "./second-stage.ts";
import numbers from "./weights.json" with { type: "json" };

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

export type RankingModels = Record<EmbedderKind, RankingModel>;

type Own = Pick<RankingModel, "confidence"> & { weights: Partial<RankingWeights> };
/** The file of the numbers: those that both models have in common, and each one's own, which take the place of these. */
export type RankingNumbers = { shared: Omit<RankingModel, "isStatic" | "confidence"> } & Record<
  EmbedderKind,
  Own
>;

/** Fitted by `npm run eval -- --fit`, and smoothed so that no set loses what another gains; docs/recall-quality.md has the figures. */
export const rankingNumbers: RankingNumbers = numbers;

const modelOf = (kind: EmbedderKind): RankingModel => {
  const { shared, [kind]: own } = rankingNumbers;
  return {
    ...shared,
    isStatic: kind === "static",
    weights: {
      memory: { ...shared.weights.memory, ...own.weights.memory },
      people: { ...shared.weights.people, ...own.weights.people },
      assistant: { ...shared.weights.assistant, ...own.weights.assistant },
    },
    confidence: own.confidence,
  };
};

export const rankingModels: RankingModels = { static: modelOf("static"), contextual: modelOf("contextual") };
