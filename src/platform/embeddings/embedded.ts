import { wordsWithoutMarks } from "../../domain/ranking/marks.ts";
import { turn } from "../turn.ts";
import { type Embedder, type EmbedOptions, type Vector } from "./embedder.ts";
import type { WordModel } from "./embedded/word-model.ts";
import { staticModel } from "./models.ts";

/** Characters that are embedded in one stretch, some 10 ms. */
const TURN_CHARACTERS = 64 * 1024;

/** The embedder inside the Worker: English, offline, some 0.05 ms a text. Queries are embedded without punctuation. */
export class EmbeddedEmbedder implements Embedder {
  readonly model = staticModel.name;
  readonly dimensions = staticModel.dimensions;
  readonly #assets: Fetcher;
  readonly #shared: WordModel;

  constructor(assets: Fetcher, shared: WordModel) {
    this.#assets = assets;
    this.#shared = shared;
  }

  async embed(texts: readonly string[], { as, withinMs }: EmbedOptions = {}): Promise<Vector[]> {
    const model = await this.#shared.get(this.#assets, withinMs);
    const vectors: Vector[] = [];
    let read = 0;
    for (const text of texts) {
      vectors.push(model.embed(as === "query" ? wordsWithoutMarks(text) : text));
      read += text.length;
      if (read < TURN_CHARACTERS) continue;
      await turn();
      read = 0;
    }
    return vectors;
  }

  embedNow(text: string): Vector | undefined {
    return this.#shared.loaded?.embed(text);
  }
}
