import type { Vector } from "../../domain/embedding.ts";

export type { TextEmbedding, Vector } from "../../domain/embedding.ts";

/** The use of a text: some models give a query another vector than a document. */
export type EmbedAs = "query" | "document";

export type EmbedOptions = {
  /** Default: `document`. */
  as?: EmbedAs;
  /** Rejects with `DeadlineExceeded` after this time, in milliseconds. Default: 30,000. */
  withinMs?: number;
};

/**
 * Turns texts into vectors. One contract, tested over every implementation (test/platform/embeddings/contract.ts):
 * the answer has one vector a text, in order, each of `dimensions` numbers and of length 1; the same text
 * gives the same vector; a text is read to its end, however long it is. A failure is a rejected promise: callers
 * store and search by words meanwhile.
 */
export interface Embedder {
  /** Names the vector space, with all that changes it. Vectors of different models are never compared. */
  readonly model: string;
  readonly dimensions: number;
  /**
   * Why this deployment cannot embed, and how to fix it. `model` then names no space, and stored vectors stay as they are.
   */
  readonly problem?: string;
  /** The characters that a caller in the background should give at most, to a model that computes in the isolate. */
  readonly batchCharacters?: number;
  /** Takes any number of texts. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Vector[]>;
  /** The vector of one document, at once; undefined unless the model is in the isolate's memory. */
  embedNow?(text: string): Vector | undefined;
}

export const EMBED_DEADLINE_MS = 30_000;

/** Scales to length 1; null for the zero vector. */
export function normalised(vector: Float32Array): Vector {
  let sum = 0;
  for (const x of vector) sum += x * x;
  if (sum === 0) return null;
  const scale = 1 / Math.sqrt(sum);
  return vector.map((x) => x * scale);
}
