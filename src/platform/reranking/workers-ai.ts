import { withDeadline } from "../deadline.ts";
import { split } from "../embeddings/split.ts";
import { estimatedTokens } from "../embeddings/tokens.ts";
import type { WorkersAi } from "../embeddings/workers-ai.ts";

/** The values of `RERANKER_MODEL`. */
export const rerankerModels = ["@cf/baai/bge-reranker-base"] as const;

/** Tokens of a query and a text together, with the separators. From the model's card (BAAI/bge-reranker-base). */
const TOKENS = 512;
const SPECIAL_TOKENS = 4;
/** The most tokens of the query. The rest is for the text. */
const QUERY_TOKENS = 192;
/** Pieces of one call, and of all calls: a call costs by its tokens. */
const [CALL, PIECES] = [100, 400];

/**
 * Reranks with a cross-encoder of Workers AI. A long text is scored in pieces, and has the score of its best one. Of 30
 * texts, the first 13 pieces of each (some 8,000 characters) are read.
 */
export class WorkersAiReranker {
  readonly model: string;
  readonly #ai: WorkersAi;

  constructor(ai: WorkersAi, model: string = rerankerModels[0]) {
    this.#ai = ai;
    this.model = model;
  }

  /** A score of 0 to 1 for each of 1–100 texts, in their order. Rejects with `DeadlineExceeded` after `withinMs`. */
  async rerank(
    query: string,
    texts: readonly string[],
    { withinMs }: { withinMs: number },
  ): Promise<number[]> {
    return withDeadline(this.#rerank(query, texts), withinMs);
  }

  async #rerank(query: string, texts: readonly string[]): Promise<number[]> {
    const [start = query] = split(query, QUERY_TOKENS);
    const room = TOKENS - SPECIAL_TOKENS - estimatedTokens(start);
    const most = Math.max(1, Math.floor(PIECES / texts.length));
    const pieces = texts.flatMap((text, of) =>
      split(text, room)
        .slice(0, most)
        .map((piece) => ({ of, piece })),
    );
    const calls = chunks(pieces, CALL).map(async (some) => {
      const contexts = some.map(({ piece }) => ({ text: piece }));
      return scoresOf(await this.#ai.run(this.model, { query: start, contexts }), some.length);
    });
    const scores = (await Promise.all(calls)).flat();
    const scale = scores.some((score) => score < 0 || score > 1) ? sigmoid : (score: number) => score;
    const best = texts.map(() => 0);
    for (const [i, { of }] of pieces.entries()) best[of] = Math.max(best[of] ?? 0, scale(scores[i] ?? 0));
    return best;
  }
}

/**
 * Scores how well each text answers a query. It reads both together: better than vectors, which know each by itself, and much
 * slower. If it fails, the promise rejects, and the caller keeps the order of the hits.
 */
export type Reranker = Pick<WorkersAiReranker, keyof WorkersAiReranker>;

/** `{ response: [{ id, score }] }`. The id is the index of the context in the model's published schema. */
function scoresOf(answer: unknown, count: number): number[] {
  const response = typeof answer === "object" && answer !== null && "response" in answer && answer.response;
  const scores = Array.from({ length: count }, () => NaN);
  if (Array.isArray(response))
    for (const { id, score } of response as { id?: unknown; score?: unknown }[])
      if (typeof id === "number" && typeof score === "number" && id in scores) scores[id] = score;
  if (!scores.every(Number.isFinite)) throw new Error("the reranker did not answer a score for each text");
  return scores;
}

/** The model computes a logit. The schema does not say if the service maps it to 0–1. */
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
