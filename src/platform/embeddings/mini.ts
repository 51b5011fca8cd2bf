import { DeadlineExceeded } from "../deadline.ts";
import type { Assets } from "./assets.ts";
import { type Embedder, type EmbedOptions, type Vector, EMBED_DEADLINE_MS } from "./embedder.ts";
import type { SharedMini } from "./mini/mini.ts";
import { miniModel } from "./models.ts";

/** A third of what English takes on an idle machine. */
const CHARACTERS_PER_MS = 10;
/** Some 2 s of CPU. Several objects of the isolate may embed at once, and an alarm may take 30 s. */
const BATCH_CHARACTERS = 40_000;
const TURN_MS = 1;

/** mini-en-256 inside the Worker: English, offline, some 1 to 15 ms of CPU a text. */
export class MiniEmbedder implements Embedder {
  readonly model = miniModel.name;
  readonly dimensions = miniModel.dimensions;
  readonly batchCharacters = BATCH_CHARACTERS;
  readonly #assets: Assets;
  readonly #shared: SharedMini;

  constructor(assets: Assets, shared: SharedMini) {
    this.#assets = assets;
    this.#shared = shared;
  }

  async embed(
    texts: readonly string[],
    { withinMs = EMBED_DEADLINE_MS }: EmbedOptions = {},
  ): Promise<Vector[]> {
    // A call that ends too late would have kept the isolate busy for nothing.
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    if (characters > withinMs * CHARACTERS_PER_MS) throw new DeadlineExceeded(withinMs);
    const until = Date.now() + withinMs;
    const model = await this.#shared.get(this.#assets, withinMs);
    // Other calls of the isolate go on, and so does the clock.
    const turn = async () => {
      await scheduler.wait(TURN_MS);
      if (Date.now() >= until) throw new DeadlineExceeded(withinMs);
    };
    const vectors: Vector[] = [];
    for (const text of texts) vectors.push(await model.embed(text, turn));
    return vectors;
  }
}
