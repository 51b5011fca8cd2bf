export type RerankOptions = {
  /** After so many milliseconds it rejects with `DeadlineExceeded`. */
  withinMs: number;
};

/**
 * Scores how well each text answers a query. It reads both together: better than vectors, which know each by itself, and much
 * slower. If it fails, the promise rejects, and the caller keeps the order of the hits.
 */
export interface Reranker {
  readonly model: string;
  /** A score of 0 to 1 for each of 1–100 texts, in their order. An implementation says how much it reads of a long one. */
  rerank(query: string, texts: readonly string[], options: RerankOptions): Promise<number[]>;
}
