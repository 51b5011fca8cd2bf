import { withDeadline } from "../deadline.ts";
import type { Embedder, QueryVector } from "../embeddings/embedder.ts";

/** A caller waits for this text's vector no longer than this. */
const WITHIN_MS = 5_000;

/** The vector of one text. An embedder that fails is logged, and costs the vector only. */
export async function embedOne(embedder: Embedder, text: string): Promise<QueryVector> {
  const { model, dimensions } = embedder;
  try {
    const [vector = null] = await withDeadline(embedder.embed([text]), WITHIN_MS);
    return { model, dimensions, vector };
  } catch (error) {
    console.error({ message: "the embedder failed", model, error: String(error) });
    return { model, dimensions, vector: "failed" };
  }
}
