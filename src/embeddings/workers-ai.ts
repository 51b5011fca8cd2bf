import { type Embedder, normalised, type Vector } from "./embedder.ts";

/** Workers AI takes at most this many texts a call. */
const BATCH = 100;
/** The model reads 512 tokens of a text; what is behind some 2,000 characters would only make the call larger. */
const READ = 2_000;

/** What Cairn needs of the `AI` binding; a double in the tests caps and fails as the real one does. */
export type WorkersAi = { run(model: string, input: { text: string[] }): Promise<unknown> };

/** Embeds with Workers AI's `@cf/baai/bge-base-en-v1.5`: 768 dimensions, 512 tokens a text. */
export class WorkersAiEmbedder implements Embedder {
  readonly model = "@cf/baai/bge-base-en-v1.5";
  readonly dimensions = 768;
  readonly #ai: WorkersAi;

  constructor(ai: WorkersAi) {
    this.#ai = ai;
  }

  async embed(texts: readonly string[]): Promise<Vector[]> {
    const vectors: Vector[] = [];
    for (let start = 0; start < texts.length; start += BATCH)
      vectors.push(...(await this.#batch(texts.slice(start, start + BATCH))));
    return vectors;
  }

  async #batch(texts: string[]): Promise<Vector[]> {
    // The model refuses an empty text and would fail the whole batch; it has no vector in any case.
    const asked = texts.filter((text) => text.trim() !== "").map((text) => text.slice(0, READ));
    const data = asked.length === 0 ? [] : vectorsOf(await this.#ai.run(this.model, { text: asked }));
    if (data.length !== asked.length)
      throw new Error(`Workers AI answered ${data.length} vectors for ${asked.length} texts`);
    const next = data.values();
    return texts.map((text) => (text.trim() === "" ? null : this.#vector(next.next().value)));
  }

  #vector(numbers: number[] | undefined): Vector {
    if (numbers?.length !== this.dimensions)
      throw new Error(
        `Workers AI answered a vector of ${numbers?.length} dimensions, not ${this.dimensions}`,
      );
    return normalised(Float32Array.from(numbers));
  }
}

function vectorsOf(answer: unknown): number[][] {
  const data = typeof answer === "object" && answer !== null && "data" in answer ? answer.data : undefined;
  if (!Array.isArray(data)) throw new Error("Workers AI answered no vectors");
  // Their lengths are checked one by one as they are taken.
  return data as number[][];
}
