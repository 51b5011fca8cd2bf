import { normalised, type Vector } from "../embedder.ts";
import { type Vocabulary, wordPieces } from "./word-piece.ts";

/**
 * The table of a static embedding model: one int8 row and one float32 scale a vocabulary entry.
 * docs/embedded-model.md tells where it comes from and what it scores.
 */
export class EmbeddedModel {
  readonly #vocabulary: Vocabulary;
  readonly #rows: Int8Array;
  readonly #scales: Float32Array;
  readonly dimensions: number;

  constructor(vocabularyFile: string, safetensors: ArrayBuffer) {
    const tokens = vocabularyFile.split("\n");
    if (tokens.at(-1) === "") tokens.pop();
    this.#vocabulary = new Map(tokens.map((token, row) => [token, row]));
    const tensors = readSafetensors(safetensors);
    const embeddings = tensor(tensors, "embeddings", "I8");
    const scales = tensor(tensors, "scales", "F32");
    this.dimensions = embeddings.shape[1] ?? 0;
    this.#rows = new Int8Array(embeddings.bytes);
    this.#scales = new Float32Array(scales.bytes);
    if (this.#scales.length !== tokens.length || this.#rows.length !== tokens.length * this.dimensions)
      throw new Error(`the embedded model is torn: ${tokens.length} tokens, ${this.#scales.length} rows`);
  }

  /** How many pieces of `text` the vocabulary holds. */
  pieces(text: string): number {
    return wordPieces(text, this.#vocabulary).length;
  }

  /** The sum of the pieces' rows, scaled to length 1. */
  embed(text: string): Vector {
    const { dimensions } = this;
    const sum = new Float32Array(dimensions);
    for (const row of wordPieces(text, this.#vocabulary)) {
      const scale = this.#scales[row] ?? 0;
      const start = row * dimensions;
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + scale * (this.#rows[start + i] ?? 0);
    }
    return normalised(sum);
  }
}

/** Reads the model of this name from the static assets. Rejects, with the file, if one is missing. */
export async function loadModel(assets: Fetcher, name: string): Promise<EmbeddedModel> {
  const [vocabulary, table] = await Promise.all([
    fetchFile(assets, `${name}/vocab.txt`).then((response) => response.text()),
    fetchFile(assets, `${name}/model.safetensors`).then((response) => response.arrayBuffer()),
  ]);
  return new EmbeddedModel(vocabulary, table);
}

async function fetchFile(assets: Fetcher, path: string): Promise<Response> {
  const response = await assets.fetch(`https://assets/model/${path}`);
  if (!response.ok)
    throw new Error(`the embedded model's ${path} is not among the assets (${response.status})`);
  return response;
}

type Tensor = { dtype: string; shape: number[]; bytes: ArrayBuffer };

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
    // A copy, since a Float32Array must begin at a multiple of four and the file promises none.
    tensors.set(name, {
      dtype: entry.dtype,
      shape: entry.shape,
      bytes: file.slice(start + from, start + to),
    });
  }
  return tensors;
}

function tensor(tensors: Map<string, Tensor>, name: string, dtype: string): Tensor {
  const found = tensors.get(name);
  if (found?.dtype !== dtype) throw new Error(`the embedded model has no ${dtype} tensor '${name}'`);
  return found;
}
