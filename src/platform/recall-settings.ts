import type { WorkersAi } from "./embeddings/workers-ai.ts";
import { z } from "zod";
import { signalNames } from "../domain/ranking/confidence.ts";
import { features } from "../domain/ranking/features.ts";
import { statementWeights } from "../domain/ranking/judgement.ts";
import { candidateKinds } from "../domain/ranking/pool.ts";
import {
  changedWeights,
  type RankingModel,
  type RankingModels,
  rankingModels,
} from "../domain/ranking/weights.ts";
import { type Reranker, rerankerModels, WorkersAiReranker } from "./reranking/workers-ai.ts";

/** The ways to find messages: by words alone, in `full` (by vectors too), or in full and by Vectorize. */
const messageIndexings = ["lexical", "full", "vectorize"] as const;
type MessageIndexing = (typeof messageIndexings)[number];

/** The variables of recall. */
export type RecallVars = {
  MESSAGE_INDEXING?: string;
  RERANKER_MODEL?: string;
  RECALL_WEIGHTS?: string;
  AI?: WorkersAi;
};

export type RecallSettings = {
  messageIndexing: MessageIndexing;
  /** Null: nothing is reranked. */
  reranker: Reranker | null;
  /** The usual weights, and in their place those of the deployment. */
  models: RankingModels;
  /** The problems of the variables, for /health. An unknown value counts as unset. */
  problems: readonly string[];
};

/** `vectorize`: true if an index is bound. */
export function recallSettings(vars: RecallVars, vectorize: boolean): RecallSettings {
  const indexing = set(vars.MESSAGE_INDEXING) ?? "full";
  const messageIndexing = messageIndexings.find((one) => one === indexing);
  const model = set(vars.RERANKER_MODEL);
  const known = rerankerModels.find((one) => one === model);
  const own = ownWeights(set(vars.RECALL_WEIGHTS));
  const problems = [
    own.problem,
    messageIndexing === undefined
      ? `MESSAGE_INDEXING is ${indexing}: it is one of ${messageIndexings.join(", ")}`
      : null,
    messageIndexing === "vectorize" && !vectorize
      ? "MESSAGE_INDEXING is vectorize, and no VECTORIZE is bound"
      : null,
    model !== undefined && known === undefined
      ? `RERANKER_MODEL is ${model}: it is one of ${rerankerModels.join(", ")}`
      : null,
    known !== undefined && vars.AI === undefined
      ? `RERANKER_MODEL is ${known}, and there is no AI binding`
      : null,
  ];
  return {
    models: {
      static: changed(rankingModels.static, own.model),
      contextual: changed(rankingModels.contextual, own.model),
    },
    messageIndexing: messageIndexing ?? "full",
    reranker: known === undefined || vars.AI === undefined ? null : new WorkersAiReranker(vars.AI, known),
    problems: problems.filter((one) => one !== null),
  };
}

const weightsOf = <Name extends string>(names: readonly Name[]) => z.partialRecord(z.enum(names), z.number());
/** As `npm run eval -- --fit` prints it. */
const OwnWeights = z
  .strictObject({
    weights: z.partialRecord(z.enum(["every", ...candidateKinds]), weightsOf(features)),
    confidence: weightsOf(["bias", ...signalNames]),
    statements: weightsOf(statementWeights),
    pair: z.number(),
    threshold: z.number().min(0).max(1),
    strictThreshold: z.number().min(0).max(1),
  })
  .partial();
type OwnWeights = z.infer<typeof OwnWeights>;

function ownWeights(text: string | undefined): { model: OwnWeights; problem: string | null } {
  if (text === undefined) return { model: {}, problem: null };
  const read = OwnWeights.safeParse(parsedJson(text));
  if (read.success) return { model: read.data, problem: null };
  const [issue] = read.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? "" : `.${issue.path.join(".")}`;
  return { model: {}, problem: `RECALL_WEIGHTS${field}: ${issue?.message ?? "is no JSON"}` };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const changed = (
  usual: RankingModel,
  { weights = {}, statements = {}, confidence = {}, pair, threshold, strictThreshold }: OwnWeights,
): RankingModel => ({
  ...usual,
  weights: changedWeights(usual.weights, weights),
  statements: { ...usual.statements, ...statements },
  pair: pair ?? usual.pair,
  confidence: { ...usual.confidence, ...confidence },
  threshold: threshold ?? usual.threshold,
  strictThreshold: strictThreshold ?? usual.strictThreshold,
});

const set = (text: string | undefined) => (text?.trim() === "" ? undefined : text?.trim());
