import type { Embedder, QueryVector } from "../embeddings/embedder.ts";

/** The vector of one text. An embedder that fails is logged, and costs the vector only. */
export async function embedOne(embedder: Embedder, text: string): Promise<QueryVector> {
  const { model, dimensions } = embedder;
  try {
    const [vector = null] = await embedder.embed([text]);
    return { model, dimensions, vector };
  } catch (error) {
    console.error({ message: "the embedder failed", model, error: String(error) });
    return { model, dimensions, vector: "failed" };
  }
}
