import { hash32 } from "../../domain/hash.ts";
import { type Embedder, type EmbedOptions, type Vector, EMBED_DEADLINE_MS } from "./embedder.ts";
import { embedLongTexts, type ModelSpec } from "./embed-long-texts.ts";
import { type Endpoint, post } from "../endpoint-request.ts";
import { knownModel, spaceName } from "./models.ts";

/** Bytes of an answer. The vectors of a full batch are a third of it. */
export const LONGEST_ANSWER = 16 * 1024 * 1024;

type Model = {
  /** As the endpoint names it. */
  name: string;
  dimensions: number;
};

/** Embeds by any endpoint that answers as OpenAI's `POST /v1/embeddings` does. */
export class EndpointEmbedder implements Embedder {
  readonly model: string;
  readonly dimensions: number;
  readonly #endpoint: Endpoint;
  readonly #spec: ModelSpec;
  /** The body of a call, without its texts. */
  readonly #request: Record<string, unknown>;

  constructor(endpoint: Endpoint, { name, dimensions }: Model) {
    const known = knownModel(name);
    this.#endpoint = endpoint;
    this.dimensions = dimensions;
    this.#spec = { ...known, dimensions };
    const reduced = known.reducible === true && known.dimensions !== dimensions;
    this.#request = { model: name, encoding_format: "float", ...(reduced && { dimensions }) };
    // Another server may run another model under the same name, or pool differently.
    this.model = spaceName(name, { ...this.#spec, at: fingerprint(endpoint.url.host) });
  }

  embed(
    texts: readonly string[],
    { as = "document", withinMs = EMBED_DEADLINE_MS }: EmbedOptions = {},
  ): Promise<Vector[]> {
    const until = this.#endpoint.now() + withinMs;
    const call = async (input: string[]) =>
      inOrder(await post(this.#endpoint, { ...this.#request, input }, { until, most: LONGEST_ANSWER }));
    return embedLongTexts(texts, { spec: this.#spec, as, call });
  }
}

/** The vectors in the order of the texts: each item has its `index`. */
function inOrder(answer: unknown): unknown {
  const data = answer instanceof Object && "data" in answer ? answer.data : undefined;
  if (!Array.isArray(data)) return undefined;
  const vectors: unknown[] = [];
  for (const item of data as unknown[]) {
    const { index, embedding } = item instanceof Object ? (item as Record<string, unknown>) : {};
    if (typeof index !== "number" || !(index in data) || index in vectors)
      throw new Error("the embeddings endpoint answered vectors that are not numbered 0, 1, 2 …");
    vectors[index] = embedding;
  }
  return vectors;
}

/** In hex: /health shows the model's name, and must not reveal the endpoint's host. */
const fingerprint = (text: string): string => hash32(text).toString(16).padStart(8, "0");
