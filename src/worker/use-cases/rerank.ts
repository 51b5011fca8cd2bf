import { DeadlineExceeded } from "../../platform/deadline.ts";
import { withPairs } from "../../domain/ranking/pairs.ts";
import type { Arm, RecallAnswer } from "../../domain/schema/recall.ts";
import type { Services } from "../services.ts";

/** Hits that the reranker reads. */
export const RERANKED = 30;
/** The deadline of the reranker. */
const WITHIN_MS = 2_000;

/**
 * The answer with the reranker's scores: they move the hits, and the confidence with the best of them. Without a reranker, or if
 * it fails, order and confidence stay.
 */
export async function rerankHits<Answer extends Pick<RecallAnswer, "hits" | "arms" | "confidence">>(
  { recall: { reranker, models }, now }: Pick<Services, "recall" | "now">,
  query: string,
  { answer, k, explain }: { answer: Answer; k: number; explain: boolean | undefined },
): Promise<Answer> {
  const began = now();
  const arm = (status: Arm["status"], candidates: number): Arm => ({
    name: "rerank",
    status,
    candidates,
    capped: false,
    ms: now() - began,
  });
  if (reranker === null || answer.hits.length === 0)
    return { ...answer, arms: [...answer.arms, arm("off", 0)] };
  const read = answer.hits.slice(0, Math.max(k, RERANKED));
  try {
    const scores = await reranker.rerank(
      query,
      read.map(({ text }) => text),
      { withinMs: WITHIN_MS },
    );
    const hits = explain === true ? read.map((hit, i) => withPair(hit, scores[i])) : read;
    // Both models have this weight in common.
    const judged = withPairs({ hits, confidence: answer.confidence }, scores, models.static.pair);
    return { ...answer, ...judged, arms: [...answer.arms, arm("ok", read.length)] };
  } catch (error) {
    console.error({ message: "the reranker failed", model: reranker.model, error: String(error) });
    const status = error instanceof DeadlineExceeded ? "late" : "failed";
    return { ...answer, arms: [...answer.arms, arm(status, 0)] };
  }
}

const withPair = <Hit extends Pick<RecallAnswer["hits"][number], "why">>(hit: Hit, pair = 0): Hit => ({
  ...hit,
  why: { ...hit.why, pair },
});
