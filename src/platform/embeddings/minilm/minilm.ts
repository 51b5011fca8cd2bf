import { type Assets, fetchAsset } from "../assets.ts";
import { Vocabulary } from "../embedded/vocabulary.ts";
import { wordPieces } from "../embedded/word-piece.ts";
import { SharedModel } from "../shared-model.ts";
import { Transformer } from "./transformer.ts";
import { MODEL_NAME, MOST_PIECES, VOCABULARY, WEIGHTS_FILE } from "./weights.ts";

/** Of the isolate's memory, with the vocabulary. */
export const MINILM_BYTES = 28 * 1024 * 1024;

/** The numbers of special pieces in BERT's vocabulary. */
const [UNKNOWN, BEGIN, END] = [100, 101, 102];

/** Pieces through one layer, each up to 0.15 ms. */
const STEPS_OF_A_TURN = 200;

/** all-MiniLM-L6-v2: BERT's pieces of a text, and the vector of the transformer for them. */
export class MiniLm {
  readonly #vocabulary: Vocabulary;
  readonly #transformer: Transformer;
  /** Since the last turn of others. */
  #steps = 0;

  constructor(vocabulary: Vocabulary, transformer: Transformer) {
    this.#vocabulary = vocabulary;
    this.#transformer = transformer;
  }

  pieces(text: string): number[] {
    return wordPieces(text, this.#vocabulary, [UNKNOWN]);
  }

  /** Not scaled. Reads as much of the text as the model can. `turn`: awaited when some 30 ms have gone by. */
  async embed(text: string, turn: () => Promise<unknown>): Promise<Float32Array> {
    const pieces = [BEGIN, ...this.pieces(text).slice(0, MOST_PIECES - 2), END];
    const layers = this.#transformer.embed(pieces);
    for (;;) {
      this.#steps += pieces.length;
      const { done, value } = layers.next();
      if (done === true) return value;
      if (this.#steps < STEPS_OF_A_TURN) continue;
      this.#steps = 0;
      await turn();
    }
  }
}

/** MiniLM of an isolate. `loaded` is called once it takes memory. */
export class SharedMiniLm extends SharedModel<MiniLm> {
  constructor(loaded: () => void = () => {}) {
    super(async (assets) => {
      const model = await loadMiniLm(assets);
      loaded();
      return model;
    });
  }
}

const weights = (assets: Assets, method: "GET" | "HEAD"): Promise<Response> =>
  fetchAsset(assets, `${MODEL_NAME}/${WEIGHTS_FILE}`, {
    method,
    hint: "run `npm run minilm`, and start or deploy again",
  });

async function loadMiniLm(assets: Assets): Promise<MiniLm> {
  const [vocabulary, transformer] = await Promise.all([
    fetchAsset(assets, `${MODEL_NAME}/vocab.txt`).then((file) => file.arrayBuffer()),
    weights(assets, "GET").then(({ body }) => Transformer.load(body)),
  ]);
  return new MiniLm(new Vocabulary(new Uint8Array(vocabulary), VOCABULARY), transformer);
}

/** Why the weights cannot be loaded, and how to make them; null if they are among the assets. */
export async function problemOfWeights(assets: Assets): Promise<string | null> {
  try {
    await weights(assets, "HEAD");
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
