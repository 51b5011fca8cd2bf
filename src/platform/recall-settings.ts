import type { WorkersAi } from "./embeddings/workers-ai.ts";
import { type RankingModels, rankingModels } from "../domain/ranking/weights.ts";
import type { Reranker } from "./reranking/reranker.ts";
import { rerankerModels, WorkersAiReranker } from "./reranking/workers-ai.ts";

/** The ways to find messages: by words alone, in `full` (by vectors too), or in full and by Vectorize. */
const messageIndexings = ["lexical", "full", "vectorize"] as const;
export type MessageIndexing = (typeof messageIndexings)[number];

/** The variables of recall. */
export type RecallVars = { MESSAGE_INDEXING?: string; RERANKER_MODEL?: string; AI?: WorkersAi };

export type RecallSettings = {
  messageIndexing: MessageIndexing;
  /** Null: nothing is reranked. */
  reranker: Reranker | null;
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
  const problems = [
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
    models: rankingModels,
    messageIndexing: messageIndexing ?? "full",
    reranker: known === undefined || vars.AI === undefined ? null : new WorkersAiReranker(vars.AI, known),
    problems: problems.filter((one) => one !== null),
  };
}

const set = (text: string | undefined) => (text?.trim() === "" ? undefined : text?.trim());
