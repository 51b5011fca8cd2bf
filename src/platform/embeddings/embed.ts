import { DeadlineExceeded } from "../deadline.ts";
import type { EmbedAs, Embedder, TextEmbedding } from "./embedder.ts";

/** The deadline of a caller. */
const CALLER_DEADLINE_MS = 5_000;

/** The vectors of texts, in order. A failure is logged, and gives `failed` for each text, with `late` at the deadline. */
export async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  as: EmbedAs = "document",
): Promise<TextEmbedding[]> {
  const { model, dimensions } = embedder;
  try {
    const vectors = await embedder.embed(texts, { as, withinMs: CALLER_DEADLINE_MS });
    return texts.map((_, i) => ({ model, dimensions, vector: vectors[i] ?? null }));
  } catch (error) {
    const late = error instanceof DeadlineExceeded && { late: true as const };
    const message = late ? "the embedder is too slow for a request" : "the embedder failed";
    console.error({ message, model, error: String(error) });
    return texts.map(() => ({ model, dimensions, vector: "failed", ...late }));
  }
}

/** As `embedAll`, for one text. */
export async function embedOne(embedder: Embedder, text: string, as?: EmbedAs): Promise<TextEmbedding> {
  const [vector] = await embedAll(embedder, [text], as);
  return vector ?? { model: embedder.model, dimensions: embedder.dimensions, vector: "failed" };
}
