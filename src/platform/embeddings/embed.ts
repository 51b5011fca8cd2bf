import { DeadlineExceeded } from "../deadline.ts";
import type { EmbedAs, Embedder, TextEmbedding } from "./embedder.ts";

/** The deadline of a caller. */
const CALLER_DEADLINE_MS = 5_000;

/** The vectors of texts, in order. A failure is logged, and gives `failed` for each text. */
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
    console.error({ message: "the embedder failed", model, error: String(error) });
    const late = error instanceof DeadlineExceeded && { late: true as const };
    return texts.map(() => ({ model, dimensions, vector: "failed", ...late }));
  }
}

/** As `embedAll`, for one text. */
export async function embedOne(embedder: Embedder, text: string, as?: EmbedAs): Promise<TextEmbedding> {
  const [vector] = await embedAll(embedder, [text], as);
  return vector ?? { model: embedder.model, dimensions: embedder.dimensions, vector: "failed" };
}
