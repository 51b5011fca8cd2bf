import { DeadlineExceeded, withDeadline } from "../deadline.ts";
import { type Embedder, type EmbedOptions, type Vector, EMBED_DEADLINE_MS } from "./embedder.ts";
import { embedLongTexts } from "./embed-long-texts.ts";
import { defaultModel, type WorkersAiEmbeddingModel } from "./models.ts";

/** The part of the `AI` binding that Cairn uses. The tests' double has the limits and errors of the real one. */
export type WorkersAi = {
  /** `returnRawResponse`: answers the service's response, whatever its status, in place of its JSON. */
  run(
    model: string,
    input: Record<string, unknown>,
    options?: { returnRawResponse: boolean; signal: AbortSignal },
  ): Promise<unknown>;
};

/** Embeds with a model of Workers AI. */
export class WorkersAiEmbedder implements Embedder {
  readonly model: string;
  readonly dimensions: number;
  readonly #ai: WorkersAi;
  readonly #model: WorkersAiEmbeddingModel;

  constructor(ai: WorkersAi, model = defaultModel) {
    this.#ai = ai;
    this.#model = model;
    this.model = model.space;
    this.dimensions = model.dimensions;
  }

  embed(
    texts: readonly string[],
    { as = "document", withinMs = EMBED_DEADLINE_MS }: EmbedOptions = {},
  ): Promise<Vector[]> {
    const { name, input } = this.#model;
    const until = Date.now() + withinMs;
    const call = async (batch: string[]) => {
      // The caller has gone: the remaining calls are not made.
      if (Date.now() >= until) throw new DeadlineExceeded(withinMs);
      return dataOf(await this.#ai.run(name, input(batch, as)));
    };
    return withDeadline(embedLongTexts(texts, { spec: this.#model, as, call }), withinMs);
  }
}

const dataOf = (answer: unknown): unknown =>
  typeof answer === "object" && answer !== null && "data" in answer ? answer.data : undefined;
