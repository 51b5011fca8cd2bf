import { Safetensors } from "../safetensors.ts";
import transformer from "./transformer.wasm";

/** The exports of transformer.wat, which describes them. All arguments but `scale` and `offset` are addresses and counts. */
type Kernel = {
  memory: WebAssembly.Memory;
  quantise: (x: number, tokens: number, width: number, out: number, scales: number, sums: number) => void;
  multiply: (
    ...args: [
      ...quantised: [x: number, scales: number, sums: number, tokens: number, width: number],
      ...matrix: [weights: number, rows: number, scale: number, offset: number, bias: number],
      out: number,
    ]
  ) => void;
  attend: (
    ...args: [
      ...tokens: [query: number, keys: number, values: number, count: number, stride: number],
      scores: number,
      out: number,
    ]
  ) => void;
  gelu: (x: number, end: number) => void;
};

type Norm = { gain: Float32Array; bias: Float32Array };
type Matrix = { weights: number; bias: number; rows: number; columns: number; scale: number };
type MatrixName = "query" | "key" | "value" | "attended" | "hidden" | "out";
type Layer = Record<MatrixName, Matrix> & { beforeAttention: Norm; beforeHidden: Norm };

/** The shape of mini-en-256, the most pieces of one window, and the bytes of model.safetensors. */
export const DIMENSIONS = 256;
const [FEED_FORWARD, LAYERS, HEADS] = [1024, 2, 8];
export const MOST_PIECES = 126;
const FILE_BYTES = 8_942_008;
const PAGE = 65_536;
/** Bytes of the file that are read at once. */
const CHUNK = 65_536;
const STRIDE = 4 * DIMENSIONS;
const HEAD_BYTES = STRIDE / HEADS;
const EPSILON = 1e-5;
/** The kernel computes four tokens at a time. */
const MOST_TOKENS = 4 * Math.ceil(MOST_PIECES / 4);

/** The memory: the numbers of all tokens between two steps, then the file. */
let end = 0;
/** The sum to which each layer adds. */
const X = room(MOST_TOKENS * STRIDE);
/** The input of a step, and the output of the one before. */
const STEP = room(MOST_TOKENS * STRIDE);
const QUERY = room(MOST_TOKENS * STRIDE);
const KEY = room(MOST_TOKENS * STRIDE);
const VALUE = room(MOST_TOKENS * STRIDE);
const HIDDEN = room(MOST_TOKENS * FEED_FORWARD * 4);
const QUANTISED = room(MOST_TOKENS * FEED_FORWARD * 2);
const SCALES = room(MOST_TOKENS * 4);
const SUMS = room(MOST_TOKENS * 4);
const SCORES = room(MOST_TOKENS * 4 + 16);
const FILE = room(FILE_BYTES);

/** The address of so many bytes after all others. */
function room(bytes: number): number {
  const address = end;
  end += 16 * Math.ceil(bytes / 16);
  return address;
}

/**
 * mini-en-256, a transformer of two layers over a table of word pieces, with weights and activations as integers. A piece
 * takes some 0.15 ms.
 */
export class Transformer {
  /** The rows of the table. */
  readonly size: number;
  readonly #kernel: Kernel;
  readonly #words: Int8Array;
  readonly #wordScales: Float32Array;
  readonly #positions: Float32Array;
  readonly #layers: readonly Layer[];
  readonly #x: Float32Array;
  readonly #step: Float32Array;

  /** `kernel`: with the file in its memory, which grows no more. */
  private constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const { buffer } = kernel.memory;
    const tensors = new Safetensors(buffer, FILE);
    const norm = (name: string): Norm => ({
      gain: tensors.float32(`${name}.gain`),
      bias: tensors.float32(`${name}.bias`),
    });
    const matrix = (name: string): Matrix => {
      const [rows = 0, columns = 0] = tensors.shape(`${name}.weight`);
      const [scale = NaN] = tensors.float32(`${name}.scale`);
      const [weights, bias] = [tensors.int8(`${name}.weight`), tensors.float32(`${name}.bias`)];
      return { weights: weights.byteOffset, bias: bias.byteOffset, rows, columns, scale };
    };
    this.#words = tensors.int8("words");
    this.#wordScales = tensors.float32("words.scales");
    this.size = this.#wordScales.length;
    this.#positions = tensors.float32("positions");
    this.#layers = Array.from({ length: LAYERS }, (_, layer) => ({
      query: matrix(`${layer}.query`),
      key: matrix(`${layer}.key`),
      value: matrix(`${layer}.value`),
      attended: matrix(`${layer}.attended`),
      hidden: matrix(`${layer}.hidden`),
      out: matrix(`${layer}.out`),
      beforeAttention: norm(`${layer}.before_attention`),
      beforeHidden: norm(`${layer}.before_hidden`),
    }));
    this.#x = new Float32Array(buffer, X, MOST_PIECES * DIMENSIONS);
    this.#step = new Float32Array(buffer, STEP, MOST_PIECES * DIMENSIONS);
  }

  /** Copies the file into memory as it arrives: it is never there twice. */
  static async load(file: ReadableStream | null): Promise<Transformer> {
    if (file === null) throw new Error("the file of mini-en-256 has no bytes");
    const kernel = new WebAssembly.Instance(transformer).exports as Kernel;
    kernel.memory.grow(Math.ceil(end / PAGE) - kernel.memory.buffer.byteLength / PAGE);
    const bytes = new Uint8Array(kernel.memory.buffer, FILE, FILE_BYTES);
    const reader = file.getReader({ mode: "byob" });
    let [loaded, buffer] = [0, new ArrayBuffer(CHUNK)];
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) break;
      if (loaded + value.length <= FILE_BYTES) bytes.set(value, loaded);
      loaded += value.length;
      buffer = value.buffer;
    }
    if (loaded !== FILE_BYTES)
      throw new Error(`the file of mini-en-256 has ${loaded} bytes, and not ${FILE_BYTES}`);
    return new Transformer(kernel);
  }

  /** The mean of the tokens' last states. `pieces`: 1 to MOST_PIECES rows of the table. */
  embed(pieces: readonly number[]): Float32Array {
    const count = pieces.length;
    const values = count * DIMENSIONS;
    const [x, step, positions] = [this.#x, this.#step, this.#positions];
    this.#lookUp(pieces);
    for (const layer of this.#layers) {
      this.#normalise(count, layer.beforeAttention);
      // Positions are known to the attention, and are no part of the sum.
      for (let i = 0; i < values; i++) step[i] = (step[i] ?? 0) + (positions[i] ?? 0);
      this.#quantise(STEP, count, DIMENSIONS);
      this.#multiply(layer.query, count, QUERY);
      this.#multiply(layer.key, count, KEY);
      this.#multiply(layer.value, count, VALUE);
      for (let head = 0; head < STRIDE; head += HEAD_BYTES)
        this.#kernel.attend(QUERY + head, KEY + head, VALUE + head, count, STRIDE, SCORES, STEP + head);
      this.#quantise(STEP, count, DIMENSIONS);
      this.#multiply(layer.attended, count, STEP);
      for (let i = 0; i < values; i++) x[i] = (x[i] ?? 0) + (step[i] ?? 0);
      this.#normalise(count, layer.beforeHidden);
      this.#quantise(STEP, count, DIMENSIONS);
      this.#multiply(layer.hidden, count, HIDDEN);
      this.#kernel.gelu(HIDDEN, HIDDEN + 4 * count * FEED_FORWARD);
      this.#quantise(HIDDEN, count, FEED_FORWARD);
      this.#multiply(layer.out, count, STEP);
      for (let i = 0; i < values; i++) x[i] = (x[i] ?? 0) + (step[i] ?? 0);
    }
    return this.#mean(count);
  }

  #quantise(x: number, count: number, width: number): void {
    this.#kernel.quantise(x, count, width, QUANTISED, SCALES, SUMS);
  }

  #multiply({ weights, rows, columns, scale, bias }: Matrix, count: number, out: number): void {
    this.#kernel.multiply(
      ...([QUANTISED, SCALES, SUMS, count, columns] as const),
      ...([weights, rows, scale, 0, bias] as const),
      out,
    );
  }

  #lookUp(pieces: readonly number[]): void {
    const [x, words] = [this.#x, this.#words];
    for (const [token, piece] of pieces.entries()) {
      const [to, from, scale] = [token * DIMENSIONS, piece * DIMENSIONS, this.#wordScales[piece] ?? 0];
      for (let i = 0; i < DIMENSIONS; i++) x[to + i] = scale * (words[from + i] ?? 0);
    }
  }

  /** The step's input: each token's numbers with the mean 0 and the variance 1, and then the layer's own. */
  #normalise(count: number, { gain, bias }: Norm): void {
    const [x, step] = [this.#x, this.#step];
    for (let start = 0; start < count * DIMENSIONS; start += DIMENSIONS) {
      let [sum, squares] = [0, 0];
      for (let i = 0; i < DIMENSIONS; i++) sum += x[start + i] ?? 0;
      const mean = sum / DIMENSIONS;
      for (let i = 0; i < DIMENSIONS; i++) squares += ((x[start + i] ?? 0) - mean) ** 2;
      const scale = 1 / Math.sqrt(squares / DIMENSIONS + EPSILON);
      for (let i = 0; i < DIMENSIONS; i++)
        step[start + i] = ((x[start + i] ?? 0) - mean) * scale * (gain[i] ?? 0) + (bias[i] ?? 0);
    }
  }

  #mean(count: number): Float32Array {
    const [x, mean] = [this.#x, new Float32Array(DIMENSIONS)];
    for (let token = 0; token < count; token++)
      for (let i = 0; i < DIMENSIONS; i++)
        mean[i] = (mean[i] ?? 0) + (x[token * DIMENSIONS + i] ?? 0) / count;
    return mean;
  }
}
