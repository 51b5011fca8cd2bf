import { type Assets, fetchAsset } from "../assets.ts";
import { normalised, type Vector } from "../embedder.ts";
import { BoundedCache } from "../../../domain/bounded-cache.ts";
import { folded } from "../../../domain/ranking/fold.ts";
import type { Lexicon } from "../../../domain/ranking/lexicon.ts";
import { knownCorrection } from "../../../domain/ranking/spelling.ts";
import { Kernel } from "../../vectors/kernel/kernel.ts";
import { Vocabulary } from "./vocabulary.ts";
import { wordPieces } from "./word-piece.ts";

/** Words whose corrections are kept, of at most 32 letters: conversations repeat the names of people and places. */
const CORRECTIONS = 2_000;

/**
 * The table of a static embedding model: one int8 row and one float32 scale a vocabulary entry. See docs/embedded-
 * model.md.
 */
export class EmbeddedModel implements Lexicon {
  readonly model: string;
  readonly size: number;
  readonly dimensions: number;
  readonly #vocabulary: Vocabulary;
  /** The rows, as they lie in the file: a copy of 7 MB would take most of the load time. */
  readonly #rows: Int8Array<ArrayBuffer>;
  /**
   * The rows of one comparison: they lie together, so that one call compares a piece with all. Kept, for a new memory of
   * WebAssembly costs 0.5 ms of CPU. It grows to the greatest comparison so far, at most to all rows.
   */
  readonly #together: Kernel;
  readonly #scales: Float32Array;
  /** The length of each row, without its scale; 0 until it is asked for. */
  readonly #lengths: Float32Array;
  readonly #corrections = new BoundedCache<string | null>(CORRECTIONS);

  constructor(model: string, vocabularyFile: ArrayBuffer, safetensors: ArrayBuffer) {
    this.model = model;
    const tensors = readSafetensors(safetensors);
    const embeddings = tensor(tensors, "embeddings", "I8");
    const scales = tensor(tensors, "scales", "F32");
    this.dimensions = embeddings.shape[1] ?? 0;
    // A copy: a Float32Array must begin at a multiple of four, which the file does not promise.
    this.#scales = new Float32Array(scales.bytes.slice().buffer);
    this.size = embeddings.shape[0] ?? 0;
    this.#vocabulary = new Vocabulary(new Uint8Array(vocabularyFile), this.size);
    this.#rows = embeddings.bytes;
    this.#together = new Kernel(this.dimensions);
    this.#lengths = new Float32Array(this.size);
    if (this.#scales.length !== this.size || this.#rows.length !== this.size * this.dimensions)
      throw new Error(`the embedded model is torn: ${this.size} rows, ${this.#scales.length} scales`);
  }

  pieces(text: string): number[] {
    return wordPieces(folded(text), this.#vocabulary);
  }

  correction(word: string): string | null {
    const known = this.#corrections.get(word);
    if (known !== undefined) return known;
    const found = knownCorrection(word, {
      pieces: (one) => this.pieces(one),
      row: (one) => this.#vocabulary.row(one),
    });
    this.#corrections.set(word, found);
    return found;
  }

  row(piece: number): Float32Array {
    const scale = this.#scales[piece] ?? 0;
    const row = this.#rowOf(piece);
    const scaled = new Float32Array(this.dimensions);
    for (let i = 0; i < scaled.length; i++) scaled[i] = (row[i] ?? 0) * scale;
    return scaled;
  }

  length(piece: number): number {
    return this.#lengthOf(piece) * (this.#scales[piece] ?? 0);
  }

  compare(pieces: readonly number[], others: readonly number[]): Float32Array[] {
    const rows = this.#together;
    rows.reserve(others.length);
    const lengths = new Float32Array(others.length);
    for (const [i, other] of others.entries()) {
      rows.set(i, this.#rowOf(other));
      lengths[i] = Math.max(1, this.#lengthOf(other));
    }
    return pieces.map((piece) => {
      const cosines = new Float32Array(others.length);
      const own = Math.max(1, this.#lengthOf(piece));
      for (const { first, products } of rows.products(this.#rowOf(piece), others.length))
        for (let i = 0; i < products.length; i++)
          cosines[first + i] = (products[i] ?? 0) / (own * (lengths[first + i] ?? 1));
      return cosines;
    });
  }

  /** The sum of the pieces' rows, scaled to length 1. */
  embed(text: string): Vector {
    const { dimensions } = this;
    const sum = new Float32Array(dimensions);
    for (const piece of this.pieces(text)) {
      const scale = this.#scales[piece] ?? 0;
      const row = this.#rowOf(piece);
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + scale * (row[i] ?? 0);
    }
    return normalised(sum);
  }

  #rowOf(piece: number): Int8Array {
    return this.#rows.subarray(piece * this.dimensions, (piece + 1) * this.dimensions);
  }

  /** Without the row's scale. Measured on use: all rows would take most of the load time. */
  #lengthOf(piece: number): number {
    const known = this.#lengths[piece] ?? 0;
    if (known !== 0) return known;
    const row = this.#rowOf(piece);
    let sum = 0;
    // A plain loop: `reduce` takes several times as long.
    for (let i = 0; i < this.dimensions; i++) sum += (row[i] ?? 0) ** 2;
    this.#lengths[piece] = Math.sqrt(sum);
    // Read back with 32 bits, so that every call returns the same number.
    return this.#lengths[piece] ?? 0;
  }
}

/** Reads the model from the static assets. Rejects with the file's name if one is missing. */
export async function loadModel(assets: Assets, name: string): Promise<EmbeddedModel> {
  const [vocabulary, table] = await Promise.all([
    fetchAsset(assets, `${name}/vocab.txt`).then((file) => file.arrayBuffer()),
    fetchAsset(assets, `${name}/model.safetensors`).then((file) => file.arrayBuffer()),
  ]);
  return new EmbeddedModel(name, vocabulary, table);
}

/** `bytes`: a view of the file, which is large. */
type Tensor = { dtype: string; shape: number[]; bytes: Int8Array<ArrayBuffer> };

/** The safetensors format: eight bytes of header length, a JSON header, then the tensors' bytes. */
function readSafetensors(file: ArrayBuffer): Map<string, Tensor> {
  const headerLength = Number(new DataView(file).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, headerLength))) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const [from, to] = entry.data_offsets;
    const start = 8 + headerLength;
    tensors.set(name, {
      dtype: entry.dtype,
      shape: entry.shape,
      bytes: new Int8Array(file, start + from, to - from),
    });
  }
  return tensors;
}

function tensor(tensors: Map<string, Tensor>, name: string, dtype: string): Tensor {
  const found = tensors.get(name);
  if (found?.dtype !== dtype) throw new Error(`the embedded model has no ${dtype} tensor '${name}'`);
  return found;
}
