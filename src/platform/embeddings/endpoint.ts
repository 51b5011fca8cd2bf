import { type Embedder, type EmbedOptions, type Vector, WITHIN_MS } from "./embedder.ts";
import { knownModel } from "./endpoint-models.ts";
import { type Endpoint, post } from "./endpoint-request.ts";
import { embedInPieces, type Shape } from "./in-pieces.ts";
import { spaceName } from "./space-name.ts";

/** Of one call in sum. OpenAI takes 300,000 tokens; others publish nothing. */
const CALL_TOKENS = 60_000;

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
  readonly #shape: Shape;
  /** What every call says besides its texts. */
  readonly #request: Record<string, unknown>;

  constructor(endpoint: Endpoint, { name, dimensions }: Model) {
    const known = knownModel(name);
    const { tokens, texts, prompts } = known;
    this.#endpoint = endpoint;
    this.dimensions = dimensions;
    this.#shape = { dimensions, tokens, batch: { texts, tokens: CALL_TOKENS }, prompts };
    const reduced = known.reducible === true && known.dimensions !== dimensions;
    this.#request = { model: name, encoding_format: "float", ...(reduced && { dimensions }) };
    // Another server may run another model under the same name, or pool it otherwise.
    const at = fingerprint(endpoint.url.host);
    this.model = spaceName(name, {
      dimensions,
      ...(prompts.name !== "none" && { prompts: prompts.name }),
      at,
    });
  }

  embed(
    texts: readonly string[],
    { as = "document", withinMs = WITHIN_MS }: EmbedOptions = {},
  ): Promise<Vector[]> {
    const until = this.#endpoint.now() + withinMs;
    const call = async (input: string[]) =>
      inOrder(await post(this.#endpoint, { ...this.#request, input }, until));
    return embedInPieces(texts, { shape: this.#shape, as, call });
  }
}

/** The answer's vectors in the order of the texts, which its `index` tells, and not its own order. */
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

/** 32 bits of FNV-1a in hex: /health shows the model's name to everybody, and an endpoint's host is not for everybody. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
