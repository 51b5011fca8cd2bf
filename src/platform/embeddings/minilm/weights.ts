/** As `EMBEDDINGS_MODEL` has it. */
export const MODEL_NAME = "minilm-l6";

/** The shape of all-MiniLM-L6-v2, a BERT encoder. */
export const DIMENSIONS = 384;
export const FEED_FORWARD = 1536;
export const LAYERS = 6;
export const HEADS = 12;
/** The most pieces of one text, [CLS] and [SEP] included. */
export const MOST_PIECES = 256;
export const VOCABULARY = 30_522;

/** The matrices of a layer, in their order in the file: rows (outputs) by columns (inputs). */
export const matrices = {
  "attention.self.query": [DIMENSIONS, DIMENSIONS],
  "attention.self.key": [DIMENSIONS, DIMENSIONS],
  "attention.self.value": [DIMENSIONS, DIMENSIONS],
  "attention.output.dense": [DIMENSIONS, DIMENSIONS],
  "intermediate.dense": [FEED_FORWARD, DIMENSIONS],
  "output.dense": [DIMENSIONS, FEED_FORWARD],
} as const satisfies Record<string, readonly [rows: number, columns: number]>;
export type MatrixName = keyof typeof matrices;
export const matrixNames = Object.keys(matrices) as MatrixName[];

export type Tensor = { name: string; type: "I8" | "F32"; length: number };

/**
 * The tensors of the file, one after another, each a multiple of 16 bytes: the file is copied as it is into the memory
 * of WebAssembly. `scales` has a scale and an offset of each I8 tensor: a weight is scale * int8 + offset.
 */
export const tensors: readonly Tensor[] = [
  { name: "words", type: "I8", length: VOCABULARY * DIMENSIONS },
  // With the embedding of token type 0, the only one.
  { name: "positions", type: "F32", length: MOST_PIECES * DIMENSIONS },
  ...norm("embeddings"),
  ...Array.from({ length: LAYERS }, (_, layer): Tensor[] => [
    ...matrixNames.flatMap((name): Tensor[] => {
      const [rows, columns] = matrices[name];
      return [
        { name: `${layer}.${name}.weight`, type: "I8", length: rows * columns },
        { name: `${layer}.${name}.bias`, type: "F32", length: rows },
      ];
    }),
    ...norm(`${layer}.attention.output`),
    ...norm(`${layer}.output`),
  ]).flat(),
  { name: "scales", type: "F32", length: 4 * Math.ceil((2 * (1 + LAYERS * matrixNames.length)) / 4) },
];

function norm(name: string): Tensor[] {
  return ["gain", "bias"].map((part) => ({ name: `${name}.${part}`, type: "F32", length: DIMENSIONS }));
}

export const bytesOf = ({ type, length }: Tensor): number => (type === "I8" ? length : 4 * length);

export const WEIGHTS_BYTES = tensors.reduce((sum, tensor) => sum + bytesOf(tensor), 0);

/** The place in the file at which each tensor begins. */
export function offsets(): Map<string, number> {
  let next = 0;
  return new Map(
    tensors.map((tensor) => {
      const offset = next;
      next += bytesOf(tensor);
      return [tensor.name, offset];
    }),
  );
}

/** The hash of the vocabulary and the weights that `npm run minilm` makes. */
export const FILES_SHA256 = "bb4ec8661509addb818ef323214f31595d1543e256e9aa340e092efafaf0665a";
/** Files of another version have another name. */
export const WEIGHTS_FILE = `weights.${FILES_SHA256.slice(0, 8)}.bin`;
