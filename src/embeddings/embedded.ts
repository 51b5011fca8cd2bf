import { withDeadline } from "../deadline.ts";
import { type Embedder, type EmbedOptions, type Vector, WITHIN_MS } from "./embedder.ts";
import { type EmbeddedModel, loadModel } from "./embedded/model.ts";

const NAME = "static-en-256";
const DIMENSIONS = 256;

/**
 * One table for the whole isolate (7 MB), loaded by the first text that is embedded. It is the value that is
 * kept, not the promise: a promise belongs to the request that made it, and dies with it.
 */
let loaded: EmbeddedModel | undefined;

/** The embedder that runs inside the Worker: English, offline, some 0.05 ms a text; queries and documents are one to it. */
export class EmbeddedEmbedder implements Embedder {
  readonly model = NAME;
  readonly dimensions = DIMENSIONS;
  readonly #assets: Fetcher;

  constructor(assets: Fetcher) {
    this.#assets = assets;
  }

  async embed(texts: readonly string[], { withinMs = WITHIN_MS }: EmbedOptions = {}): Promise<Vector[]> {
    const model = await embeddedModel(this.#assets, withinMs);
    return texts.map((text) => model.embed(text));
  }
}

/** The model's table, for those who compare words by it. */
export async function embeddedModel(assets: Fetcher, withinMs = WITHIN_MS): Promise<EmbeddedModel> {
  return (loaded ??= await withDeadline(loadModel(assets, NAME), withinMs));
}
