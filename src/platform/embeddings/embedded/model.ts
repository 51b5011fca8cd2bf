import { normalised, type Vector } from "../embedder.ts";
import { BoundedCache } from "../../../domain/bounded-cache.ts";
import { folded } from "../../../domain/ranking/fold.ts";
import type { Lexicon } from "../../../domain/ranking/lexicon.ts";
import { knownCorrection } from "../../../domain/ranking/spelling.ts";
import { Kernel, strideOf } from "../../vectors/kernel/kernel.ts";
import { Safetensors } from "../safetensors.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { wordPieces } from "./word-piece.ts";

/** Words whose corrections are kept, of at most 32 letters: conversations repeat the names of people and places. */
const CORRECTIONS = 2_000;

/**
 * The table of a static embedding model: one int8 row and one float32 scale a vocabulary entry. See
 * docs/internals/embedded-model.md.
 */
export class EmbeddedModel implements Lexicon {
  readonly model: string;
  readonly size: number;
  readonly dimensions: number;
  readonly #vocabulary: Vocabulary;
  /** The rows, as they lie in the file: a copy of 7 MB would take most of the load time. */
  readonly #rows: Int8Array<ArrayBuffer>;
  /**
   * The rows of one comparison: they lie together, so that one call compares a piece with all. It grows to the greatest comparison so far,
   * at most to all rows.
   */
  readonly #together = new Kernel();
  readonly #scales: Float32Array;
  /** The length of each row, without its scale; 0 until it is asked for. */
  readonly #lengths: Float32Array;
  readonly #corrections = new BoundedCache<string | null>(CORRECTIONS);

  constructor(model: string, vocabulary: Vocabulary, file: ArrayBuffer) {
    this.model = model;
    const tensors = new Safetensors(file);
    const [size = 0, dimensions = 0] = tensors.shape("embeddings");
    this.size = size;
    this.dimensions = dimensions;
    this.#vocabulary = vocabulary;
    this.#rows = tensors.int8("embeddings");
    this.#scales = tensors.float32("scales");
    this.#lengths = new Float32Array(size);
    if (size !== vocabulary.size || this.#scales.length !== size)
      throw new Error(
        `the embedded model is torn: ${size} rows, ${this.#scales.length} scales, ${vocabulary.size} tokens`,
      );
  }

  pieces(text: string): number[] {
    return wordPieces(folded(text), this.#vocabulary);
  }

  correction(word: string): string | null {
    const known = this.#corrections.get(word);
    if (known !== undefined) return known;
    const correction = knownCorrection(word, {
      pieces: (one) => this.pieces(one),
      row: (one) => this.#vocabulary.row(one),
    });
    this.#corrections.set(word, correction);
    return correction;
  }

  addRow(sum: Float32Array, piece: number, weight: number): void {
    const scale = this.#scales[piece] ?? 0;
    const row = this.#rowOf(piece);
    for (let i = 0; i < this.dimensions; i++)
      sum[i] = (sum[i] ?? 0) + weight * Math.fround((row[i] ?? 0) * scale);
  }

  length(piece: number): number {
    return this.#lengthOf(piece) * (this.#scales[piece] ?? 0);
  }

  compare(pieces: readonly number[], others: readonly number[]): Float32Array[] {
    const stride = strideOf(this.dimensions);
    const rows = this.#together.rows(others.length * stride);
    const lengths = new Float32Array(others.length);
    for (const [i, other] of others.entries()) {
      rows.set(this.#rowOf(other), i * stride);
      lengths[i] = Math.max(1, this.#lengthOf(other));
    }
    return pieces.map((piece) => {
      const cosines = new Float32Array(others.length);
      const own = Math.max(1, this.#lengthOf(piece));
      for (const { first, products } of this.#together.products(this.#rowOf(piece), others.length))
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
