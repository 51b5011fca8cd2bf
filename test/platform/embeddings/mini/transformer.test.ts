// The steps of a transformer in WebAssembly, against the same in plain arithmetic. No weights are needed.
import { beforeEach, describe, expect, it } from "vitest";
import transformer from "../../../../src/platform/embeddings/mini/transformer.wasm";
import { Transformer } from "../../../../src/platform/embeddings/mini/transformer.ts";

type Step = (...args: number[]) => void;
let kernel: { memory: WebAssembly.Memory } & Record<"quantise" | "multiply" | "attend" | "gelu", Step>;
let next: number;
beforeEach(() => {
  kernel = new WebAssembly.Instance(transformer).exports as typeof kernel;
  kernel.memory.grow(15);
  next = 0;
});

/** Numbers from -1 to 1, the same in every run. */
function* random(state = 1): Generator<number> {
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 31 - 1;
  }
}
const noise = random();
const some = (count: number): number[] => Array.from({ length: count }, () => noise.next().value ?? 0);
const room = (bytes: number): number => (next += Math.ceil(bytes / 16) * 16) - Math.ceil(bytes / 16) * 16;
function put(numbers: readonly number[]): number {
  const at = room(4 * numbers.length);
  new Float32Array(kernel.memory.buffer, at).set(numbers);
  return at;
}
const read = (at: number, count: number): number[] => [...new Float32Array(kernel.memory.buffer, at, count)];
const near = (numbers: readonly number[], digits: number): unknown[] =>
  numbers.map((x) => expect.closeTo(x, digits) as unknown);

// Fewer tokens than a group of four, as many, and more.
it.each([1, 3, 4, 6])("multiplies %d tokens with a matrix of int8", (tokens) => {
  const [width, rows, scale, offset] = [32, 6, 0.01, 0.3];
  const x = some(tokens * width).map((one, i) => (i < width && tokens > 1 ? 0 : 5 * one));
  const weights = some(rows * width).map((one) => Math.round(127 * one));
  const bias = some(rows);
  const at = room(rows * width);
  new Int8Array(kernel.memory.buffer, at).set(weights);
  const [from, biasAt] = [put(x), put(bias)];
  const [quantised, scales, sums, out] = [room(8 * width * 2), room(32), room(32), room(8 * rows * 4)];
  kernel.quantise(from, tokens, width, quantised, scales, sums);
  kernel.multiply(quantised, scales, sums, tokens, width, at, rows, scale, offset, biasAt, out);
  const expected = Array.from({ length: tokens * rows }, (_, i) => {
    const [token, row] = [Math.floor(i / rows), i % rows];
    let sum = bias[row] ?? 0;
    for (let k = 0; k < width; k++)
      sum += (x[token * width + k] ?? 0) * (scale * (weights[row * width + k] ?? 0) + offset);
    return sum;
  });
  expect(read(out, tokens * rows)).toEqual(near(expected, 2));
});

it("has room for the largest products", () => {
  const [width, rows] = [1536, 2];
  const from = put(Array.from({ length: width }, () => 1));
  const [at, biasAt] = [room(rows * width), put([0, 0])];
  new Int8Array(kernel.memory.buffer, at, rows * width).fill(-128);
  const [quantised, scales, sums, out] = [room(4 * width * 2), room(16), room(16), room(4 * rows * 4)];
  kernel.quantise(from, 1, width, quantised, scales, sums);
  kernel.multiply(quantised, scales, sums, 1, width, at, rows, 1, 0, biasAt, out);
  for (const product of read(out, rows)) expect(product / (-128 * width)).toBeCloseTo(1, 4);
});

it.each([1, 2, 4, 7])("attends to %d tokens", (tokens) => {
  const width = 32;
  const [query, key, value] = [some(tokens * width), some(tokens * width), some(tokens * width)];
  const addresses = [put(query.map((x) => 9 * x)), put(key), put(value)];
  const [scores, out] = [room(4 * tokens + 16), room(4 * tokens * width)];
  kernel.attend(...addresses, tokens, 4 * width, scores, out);
  const dot = (i: number, j: number) =>
    query.slice(i * width, (i + 1) * width).reduce((sum, x, k) => sum + 9 * x * (key[j * width + k] ?? 0), 0);
  const expected = Array.from({ length: tokens }, (_, i) => {
    const weights = Array.from({ length: tokens }, (__, j) => Math.exp(dot(i, j) / Math.sqrt(width)));
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    return Array.from({ length: width }, (__, k) =>
      weights.reduce((sum, weight, j) => sum + (weight / all) * (value[j * width + k] ?? 0), 0),
    );
  }).flat();
  expect(read(out, tokens * width)).toEqual(near(expected, 4));
});

it("computes GELU", () => {
  // x, and x * Φ(x) of tables of the normal distribution.
  const values = [
    [0, 0],
    [1, 0.8413447],
    [-1, -0.1586553],
    [2, 1.9544997],
    [-2, -0.0455003],
    [0.5, 0.3457312],
    [-30, 0],
    [30, 30],
  ] as const;
  const at = put(values.map(([x]) => x));
  kernel.gelu(at, at + 4 * values.length);
  const expected = values.map(([, y]) => y);
  expect(read(at, values.length)).toEqual(near(expected, 5));
});

describe("a file of the model", () => {
  it.each([0, 100, 9_000_000])("of %d bytes is refused", async (bytes) => {
    const { body } = new Response(new Uint8Array(bytes));
    await expect(Transformer.load(body)).rejects.toThrow(/bytes/);
  });
});
