import { DeadlineExceeded } from "../deadline.ts";
import type { Assets } from "./assets.ts";
import { type Embedder, type EmbedOptions, type Vector, EMBED_DEADLINE_MS } from "./embedder.ts";
import { embedLongTexts } from "./embed-long-texts.ts";
import { problemOfWeights, type SharedMiniLm } from "./minilm/minilm.ts";
import { DIMENSIONS, MODEL_NAME, MOST_PIECES } from "./minilm/weights.ts";
import { noPrompts, spaceName } from "./models.ts";

/** Half of what English takes on an idle machine. */
const CHARACTERS_PER_MS = 2;
/** Some 2 s of CPU. Several objects of the isolate may embed at once, and an alarm may take 30 s. */
const BATCH_CHARACTERS = 8_000;
/** Some 4 s of CPU. A text of more than 16,000 characters of English has more. */
const PIECES_OF_A_TEXT = 16;
/** All characters that PIECES_OF_A_TEXT have in English. */
const CHARACTERS_OF_A_TEXT = 4 * MOST_PIECES * PIECES_OF_A_TEXT;
const TURN_MS = 1;

/** all-MiniLM-L6-v2 inside the Worker: English, offline, some 10 to 250 ms of CPU a text. */
export class MiniLmEmbedder implements Embedder {
  readonly model = spaceName(MODEL_NAME, { dimensions: DIMENSIONS, prompts: noPrompts });
  readonly dimensions = DIMENSIONS;
  readonly batchCharacters = BATCH_CHARACTERS;
  readonly #assets: Assets;
  readonly #shared: SharedMiniLm;

  constructor(assets: Assets, shared: SharedMiniLm) {
    this.#assets = assets;
    this.#shared = shared;
  }

  async check(): Promise<string | null> {
    return this.#shared.loaded === null ? problemOfWeights(this.#assets) : null;
  }

  async embed(
    texts: readonly string[],
    { as = "document", withinMs = EMBED_DEADLINE_MS }: EmbedOptions = {},
  ): Promise<Vector[]> {
    // A call that ends too late would have kept the isolate busy for nothing.
    const characters = texts.reduce((sum, { length }) => sum + Math.min(length, CHARACTERS_OF_A_TEXT), 0);
    if (characters > withinMs * CHARACTERS_PER_MS) throw new DeadlineExceeded(withinMs);
    const until = Date.now() + withinMs;
    const model = await this.#shared.get(this.#assets, withinMs);
    const spec = {
      dimensions: DIMENSIONS,
      prompts: noPrompts,
      tokens: MOST_PIECES,
      tokensOf: (text: string) => model.pieces(text).length,
      pieces: PIECES_OF_A_TEXT,
      batch: { texts: Infinity, tokens: Infinity },
    };
    const call = async (pieces: string[]) => {
      const vectors: number[][] = [];
      for (const piece of pieces) vectors.push(Array.from(await model.embed(piece, turn)));
      return vectors;
    };
    // Other calls of the isolate go on, and so does the clock.
    const turn = async () => {
      await scheduler.wait(TURN_MS);
      if (Date.now() >= until) throw new DeadlineExceeded(withinMs);
    };
    return embedLongTexts(texts, { spec, as, call });
  }
}
