import { folded } from "../../../domain/ranking/fold.ts";
import { fetchAsset } from "../assets.ts";
import { normalised, type Vector } from "../embedder.ts";
import { SharedVocabulary, type Vocabulary } from "../embedded/vocabulary.ts";
import { wordPieces } from "../embedded/word-piece.ts";
import { miniModel } from "../models.ts";
import { SharedModel } from "../shared-model.ts";
import { DIMENSIONS, MOST_PIECES, Transformer } from "./transformer.ts";

/** The bytes of the isolate's memory that the model takes. */
export const MINI_BYTES = 10 * 1024 * 1024;

/** Some 1 s of CPU, and 32,000 characters of English. Of a text with more, as many are taken from all of it. */
const WINDOWS_OF_A_TEXT = 64;
/** Pieces after which others get a turn: some 30 ms. */
const PIECES_OF_A_TURN = 252;

/** mini-en-256: the pieces of a text, and the vector of the transformer for them. */
export class Mini {
  readonly #vocabulary: Vocabulary;
  readonly #transformer: Transformer;
  /** Since the last turn of others. */
  #embedded = 0;

  constructor(vocabulary: Vocabulary, transformer: Transformer) {
    if (transformer.size !== vocabulary.size)
      throw new Error(`the embedded model is torn: ${transformer.size} rows, ${vocabulary.size} tokens`);
    this.#vocabulary = vocabulary;
    this.#transformer = transformer;
  }

  pieces(text: string): number[] {
    return wordPieces(folded(text), this.#vocabulary);
  }

  /** The mean of the windows' unit vectors, by their length. `turn`: awaited when some 30 ms have gone by. */
  async embed(text: string, turn: () => Promise<unknown>): Promise<Vector> {
    const sum = new Float32Array(DIMENSIONS);
    for (const window of windowsOf(this.pieces(text))) {
      const vector = normalised(this.#transformer.embed(window));
      for (let i = 0; i < DIMENSIONS; i++) sum[i] = (sum[i] ?? 0) + window.length * (vector?.[i] ?? 0);
      this.#embedded += window.length;
      if (this.#embedded < PIECES_OF_A_TURN) continue;
      this.#embedded = 0;
      await turn();
    }
    return normalised(sum);
  }
}

/** At most WINDOWS_OF_A_TEXT, at even distances. */
function windowsOf(pieces: readonly number[]): number[][] {
  const count = Math.ceil(pieces.length / MOST_PIECES);
  const read = Math.min(count, WINDOWS_OF_A_TEXT);
  return Array.from({ length: read }, (_, i) => {
    const start = MOST_PIECES * Math.floor((i * count) / read);
    return pieces.slice(start, start + MOST_PIECES);
  });
}

/** The model of an isolate. `loaded` is called once it takes memory. */
export class SharedMini extends SharedModel<Mini> {
  constructor({ vocabulary = new SharedVocabulary(), loaded = () => {} } = {}) {
    super(async (assets) => {
      const [tokens, transformer] = await Promise.all([
        vocabulary.get(assets),
        fetchAsset(assets, `${miniModel.name}/model.safetensors`).then(({ body }) => Transformer.load(body)),
      ]);
      const model = new Mini(tokens, transformer);
      loaded();
      return model;
    });
  }
}
