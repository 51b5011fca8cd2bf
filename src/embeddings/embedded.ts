import type { Embedder, Vector } from "./embedder.ts";
import { EmbeddedModel } from "./embedded/model.ts";

const NAME = "static-en-256";
const DIMENSIONS = 256;

/**
 * One table for the whole isolate (7 MB), loaded by the first text that is embedded. It is the value that is
 * kept, not the promise: a promise belongs to the request that made it, and dies with it.
 */
let loaded: EmbeddedModel | undefined;

/** The embedder that runs inside the Worker: English, offline, some 0.05 ms a text. */
export class EmbeddedEmbedder implements Embedder {
  readonly model = NAME;
  readonly dimensions = DIMENSIONS;
  readonly #assets: Fetcher;

  constructor(assets: Fetcher) {
    this.#assets = assets;
  }

  async embed(texts: readonly string[]): Promise<Vector[]> {
    const model = (loaded ??= await load(this.#assets));
    return texts.map((text) => model.embed(text));
  }
}

async function load(assets: Fetcher): Promise<EmbeddedModel> {
  const [vocabulary, table] = await Promise.all([
    file(assets, "vocab.txt").then((response) => response.text()),
    file(assets, "model.safetensors").then((response) => response.arrayBuffer()),
  ]);
  return new EmbeddedModel(vocabulary, table);
}

async function file(assets: Fetcher, name: string): Promise<Response> {
  const response = await assets.fetch(`https://assets/model/${NAME}/${name}`);
  if (!response.ok)
    throw new Error(`the embedded model's ${name} is not among the assets (${response.status})`);
  return response;
}
