import transformer from "./transformer.wasm";
import {
  DIMENSIONS,
  FEED_FORWARD,
  HEADS,
  LAYERS,
  matrices,
  type MatrixName,
  matrixNames,
  MOST_PIECES,
  offsets,
  WEIGHTS_BYTES,
} from "./weights.ts";

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
type Matrix = {
  weights: number;
  bias: number;
  rows: number;
  columns: number;
  scale: number;
  offset: number;
};
type Layer = Record<MatrixName, Matrix> & { attended: Norm; out: Norm };

const PAGE = 65_536;
/** Bytes of the file that are read at once. */
const CHUNK = 65_536;
const STRIDE = 4 * DIMENSIONS;
const HEAD_BYTES = STRIDE / HEADS;
/** BERT's. */
const EPSILON = 1e-12;

/** The memory: the numbers of all tokens between two steps, then the weights. */
let end = 0;
const X = room(MOST_PIECES * STRIDE);
const QUERY = room(MOST_PIECES * STRIDE);
const KEY = room(MOST_PIECES * STRIDE);
const VALUE = room(MOST_PIECES * STRIDE);
const CONTEXT = room(MOST_PIECES * STRIDE);
const HIDDEN = room(MOST_PIECES * FEED_FORWARD * 4);
const QUANTISED = room(MOST_PIECES * FEED_FORWARD * 2);
const SCALES = room(MOST_PIECES * 4);
const SUMS = room(MOST_PIECES * 4);
const SCORES = room(MOST_PIECES * 4 + 16);
const WEIGHTS = room(WEIGHTS_BYTES);

/** The address of so many bytes after all others. */
function room(bytes: number): number {
  const address = end;
  end += bytes;
  return address;
}

/**
 * all-MiniLM-L6-v2 in 27 MB of memory, with weights and activations as integers. A piece takes up to 1 ms.
 */
export class Transformer {
  readonly #kernel: Kernel;
  readonly #words: Int8Array;
  readonly #wordScale: number;
  readonly #wordOffset: number;
  readonly #positions: Float32Array;
  readonly #norm: Norm;
  readonly #layers: readonly Layer[];
  readonly #x: Float32Array;
  readonly #y: Float32Array;

  /** `kernel`: with the weights in its memory, which grows no more. */
  private constructor(kernel: Kernel) {
    this.#kernel = kernel;
    const { buffer } = kernel.memory;
    const starts = offsets();
    const at = (name: string): number => WEIGHTS + (starts.get(name) ?? NaN);
    const floats = (name: string, length = DIMENSIONS) => new Float32Array(buffer, at(name), length);
    const normOf = (name: string): Norm => ({ gain: floats(`${name}.gain`), bias: floats(`${name}.bias`) });
    const scales = floats("scales", 2 * (1 + LAYERS * matrixNames.length)).values();
    const nextScale = (): number => scales.next().value ?? NaN;
    this.#words = new Int8Array(buffer, at("words"));
    [this.#wordScale, this.#wordOffset] = [nextScale(), nextScale()];
    this.#positions = floats("positions", MOST_PIECES * DIMENSIONS);
    this.#norm = normOf("embeddings");
    this.#layers = Array.from({ length: LAYERS }, (_, layer) => {
      const found = matrixNames.map((name): [MatrixName, Matrix] => {
        const [rows, columns] = matrices[name];
        const [weights, bias] = [at(`${layer}.${name}.weight`), at(`${layer}.${name}.bias`)];
        return [name, { weights, bias, rows, columns, scale: nextScale(), offset: nextScale() }];
      });
      return {
        ...(Object.fromEntries(found) as Record<MatrixName, Matrix>),
        attended: normOf(`${layer}.attention.output`),
        out: normOf(`${layer}.output`),
      };
    });
    this.#x = new Float32Array(buffer, X, MOST_PIECES * DIMENSIONS);
    this.#y = new Float32Array(buffer, QUERY, MOST_PIECES * DIMENSIONS);
  }

  /** Copies the file of weights into memory as it arrives: it is never there twice. */
  static async load(file: ReadableStream | null): Promise<Transformer> {
    if (file === null) throw new Error("the weights of MiniLM have no bytes");
    const kernel = new WebAssembly.Instance(transformer).exports as Kernel;
    kernel.memory.grow(Math.ceil(end / PAGE) - kernel.memory.buffer.byteLength / PAGE);
    const weights = new Uint8Array(kernel.memory.buffer, WEIGHTS, WEIGHTS_BYTES);
    const reader = file.getReader({ mode: "byob" });
    let [loaded, buffer] = [0, new ArrayBuffer(CHUNK)];
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) break;
      if (loaded + value.length <= WEIGHTS_BYTES) weights.set(value, loaded);
      loaded += value.length;
      buffer = value.buffer;
    }
    if (loaded !== WEIGHTS_BYTES)
      throw new Error(`the weights of MiniLM have ${loaded} bytes, and not ${WEIGHTS_BYTES}`);
    return new Transformer(kernel);
  }

  /**
   * The mean of the tokens' last states. Stops between two layers: other texts may be embedded meanwhile. `pieces`: at most
   * MOST_PIECES, with those around the text.
   */
  *embed(pieces: readonly number[]): Generator<void, Float32Array> {
    const count = pieces.length;
    this.#lookUp(pieces);
    this.#normalise(count, this.#norm);
    for (const [i, layer] of this.#layers.entries()) {
      if (i > 0) {
        const state = this.#x.slice(0, count * DIMENSIONS);
        yield;
        this.#x.set(state);
      }
      this.#quantise(X, count, DIMENSIONS);
      this.#multiply(layer["attention.self.query"], count, QUERY);
      this.#multiply(layer["attention.self.key"], count, KEY);
      this.#multiply(layer["attention.self.value"], count, VALUE);
      for (let head = 0; head < STRIDE; head += HEAD_BYTES)
        this.#kernel.attend(QUERY + head, KEY + head, VALUE + head, count, STRIDE, SCORES, CONTEXT + head);
      this.#quantise(CONTEXT, count, DIMENSIONS);
      this.#multiply(layer["attention.output.dense"], count, QUERY);
      this.#addAndNormalise(count, layer.attended);
      this.#quantise(X, count, DIMENSIONS);
      this.#multiply(layer["intermediate.dense"], count, HIDDEN);
      this.#kernel.gelu(HIDDEN, HIDDEN + 4 * count * FEED_FORWARD);
      this.#quantise(HIDDEN, count, FEED_FORWARD);
      this.#multiply(layer["output.dense"], count, QUERY);
      this.#addAndNormalise(count, layer.out);
    }
    return this.#mean(count);
  }

  #quantise(x: number, count: number, width: number): void {
    this.#kernel.quantise(x, count, width, QUANTISED, SCALES, SUMS);
  }

  #multiply({ weights, rows, columns, scale, offset, bias }: Matrix, count: number, out: number): void {
    this.#kernel.multiply(
      ...([QUANTISED, SCALES, SUMS, count, columns] as const),
      ...([weights, rows, scale, offset, bias] as const),
      out,
    );
  }

  #lookUp(pieces: readonly number[]): void {
    const [x, words, positions] = [this.#x, this.#words, this.#positions];
    const [scale, offset] = [this.#wordScale, this.#wordOffset];
    for (const [token, piece] of pieces.entries()) {
      const [to, from] = [token * DIMENSIONS, piece * DIMENSIONS];
      for (let i = 0; i < DIMENSIONS; i++)
        x[to + i] = scale * (words[from + i] ?? 0) + offset + (positions[to + i] ?? 0);
    }
  }

  #addAndNormalise(count: number, norm: Norm): void {
    const [x, y] = [this.#x, this.#y];
    for (let i = 0; i < count * DIMENSIONS; i++) x[i] = (x[i] ?? 0) + (y[i] ?? 0);
    this.#normalise(count, norm);
  }

  /** Gives each token's numbers the mean 0 and the variance 1, then the layer's own. */
  #normalise(count: number, { gain, bias }: Norm): void {
    const x = this.#x;
    for (let start = 0; start < count * DIMENSIONS; start += DIMENSIONS) {
      let [sum, squares] = [0, 0];
      for (let i = 0; i < DIMENSIONS; i++) sum += x[start + i] ?? 0;
      const mean = sum / DIMENSIONS;
      for (let i = 0; i < DIMENSIONS; i++) squares += ((x[start + i] ?? 0) - mean) ** 2;
      const scale = 1 / Math.sqrt(squares / DIMENSIONS + EPSILON);
      for (let i = 0; i < DIMENSIONS; i++)
        x[start + i] = ((x[start + i] ?? 0) - mean) * scale * (gain[i] ?? 0) + (bias[i] ?? 0);
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
