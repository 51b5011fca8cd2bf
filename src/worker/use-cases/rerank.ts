import { DeadlineExceeded } from "../../platform/deadline.ts";
import type { Arm, RecallAnswer } from "../../domain/schema/recall.ts";
import type { Services } from "../services.ts";

/** Hits that the reranker reads. */
export const RERANKED = 30;
/** The deadline of the reranker. */
const WITHIN_MS = 2_000;

/** Reorders the answer by the reranker's scores. Without a reranker, or if it fails, the order stays. */
export async function rerankHits<Answer extends Pick<RecallAnswer, "hits" | "arms">>(
  { recall: { reranker }, now }: Pick<Services, "recall" | "now">,
  query: string,
  { answer, k }: { answer: Answer; k: number },
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
    const hits = read
      .map((hit, i) => ({ ...hit, score: scores[i] ?? 0 }))
      .toSorted((a, b) => b.score - a.score);
    return { ...answer, hits, arms: [...answer.arms, arm("ok", read.length)] };
  } catch (error) {
    console.error({ message: "the reranker failed", model: reranker.model, error: String(error) });
    const status = error instanceof DeadlineExceeded ? "late" : "failed";
    return { ...answer, arms: [...answer.arms, arm(status, 0)] };
  }
}
