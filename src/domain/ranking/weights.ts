import type { ConfidenceWeights } from "./confidence.ts";
import type { Feature } from "./features.ts";
import type { CandidateKind } from "./pool.ts";
import type { StatementWeights } from "./judgement.ts";
import numbers from "./weights.json" with { type: "json" };

/** The weights of the sum that orders candidates, for each kind. A feature without a weight counts nothing. */
export type RankingWeights = Record<CandidateKind, Partial<Record<Feature, number>>>;
/** With less confidence than the threshold, `answerable: 'auto'` returns no hits; than the strict one, `strict`. */
export type RankingModel = {
  /** The documents' vectors are those of the word model. */
  isStatic: boolean;
  weights: RankingWeights;
  statements: StatementWeights;
  /** Of the score that a model gives to a question and a hit together, where one is asked. */
  pair: number;
  confidence: ConfidenceWeights;
  threshold: number;
  strictThreshold: number;
};
/** `static`: documents have vectors of the word model; `contextual`: of any other model. */
export type EmbedderKind = "static" | "contextual";

export type RankingModels = Record<EmbedderKind, RankingModel>;

/** `every`: the weights that all kinds have in common. */
export type GivenWeights = Partial<RankingWeights & Record<"every", RankingWeights[CandidateKind]>>;
type Own = Pick<RankingModel, "confidence"> & { weights: GivenWeights };
/** The file of the numbers: those that both models have in common, and each one's own, which take the place of these. */
export type RankingNumbers = {
  shared: Omit<RankingModel, "isStatic" | "confidence" | "weights"> & { weights: GivenWeights };
} & Record<EmbedderKind, Own>;

/** The weights with others in their place. */
export const changedWeights = (
  usual: RankingWeights,
  { every, memory, people, assistant }: GivenWeights,
): RankingWeights => ({
  memory: { ...usual.memory, ...every, ...memory },
  people: { ...usual.people, ...every, ...people },
  assistant: { ...usual.assistant, ...every, ...assistant },
});

/** Fitted by `npm run eval -- --fit`, and smoothed so that no set loses what another gains; docs/internals/recall-quality.md has the figures. */
export const rankingNumbers: RankingNumbers = numbers;

const NONE: RankingWeights = { memory: {}, people: {}, assistant: {} };
const modelOf = (kind: EmbedderKind): RankingModel => {
  const { shared, [kind]: own } = rankingNumbers;
  return {
    ...shared,
    isStatic: kind === "static",
    weights: changedWeights(changedWeights(NONE, shared.weights), own.weights),
    confidence: own.confidence,
  };
};

export const rankingModels: RankingModels = { static: modelOf("static"), contextual: modelOf("contextual") };
