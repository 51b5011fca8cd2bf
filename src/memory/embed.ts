import { withDeadline } from "../deadline.ts";
import type { Embedder, QueryVector } from "../embeddings/embedder.ts";

/** A caller waits for this text's vector no longer than this. */
const WITHIN_MS = 5_000;

/** The vectors of texts, in their order. An embedder that fails is logged, and costs the vectors only. */
export async function embedAll(embedder: Embedder, texts: readonly string[]): Promise<QueryVector[]> {
  const { model, dimensions } = embedder;
  try {
    const vectors = await withDeadline(embedder.embed(texts), WITHIN_MS);
    return texts.map((_, i) => ({ model, dimensions, vector: vectors[i] ?? null }));
  } catch (error) {
    console.error({ message: "the embedder failed", model, error: String(error) });
    return texts.map(() => ({ model, dimensions, vector: "failed" }));
  }
}

/** The vector of one text, in the same way. */
export async function embedOne(embedder: Embedder, text: string): Promise<QueryVector> {
  const [vector] = await embedAll(embedder, [text]);
  return vector ?? { model: embedder.model, dimensions: embedder.dimensions, vector: "failed" };
}
