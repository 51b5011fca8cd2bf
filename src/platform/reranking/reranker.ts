export type RerankOptions = {
  /** After so many milliseconds it rejects with `DeadlineExceeded`. */
  withinMs: number;
};

/**
 * Reads a query beside each text and says how well the one answers the other: better than vectors, which know each by
 * itself, and much slower. A failure is a rejected promise: what was found keeps its order then.
 */
export interface Reranker {
  readonly model: string;
  /** A score of 0 to 1 for each of 1–100 texts, in their order. An implementation says how much it reads of a long one. */
  rerank(query: string, texts: readonly string[], options: RerankOptions): Promise<number[]>;
}
