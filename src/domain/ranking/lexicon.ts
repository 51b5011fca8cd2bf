import { joinedNumbers } from "./joined-numbers.ts";
import { wordsWithoutMarks } from "./marks.ts";

/**
 * A static word model: it cuts texts into pieces and compares these, whatever model embeds the documents. Pieces are
 * numbers from 0 to `size` − 1, below 65,536.
 */
export interface Lexicon {
  /** Names the model; its vectors are sums of pieces' rows. */
  readonly model: string;
  readonly size: number;
  /** The pieces of a text in their order. */
  pieces(text: string): number[];
  /** The known word that a word is most likely a typo of (`knownCorrection`), or null. */
  correction(word: string): string | null;
  /** The numbers of a vector. */
  readonly dimensions: number;
  /** Adds a piece's vector, times a weight, to a sum. */
  addRow(sum: Float32Array, piece: number, weight: number): void;
  /** The length of that vector: the more telling a piece is in general, the longer. */
  length(piece: number): number;
  /** For each piece, its cosine with each of the others, in their order. */
  compare(pieces: readonly number[], others: readonly number[]): Float32Array[];
}

/** The sum of the rows of some pieces: the model's vector of a text, but for its length. Null without a piece. */
export function sumOfRows(
  pieces: Iterable<number>,
  lexicon: Lexicon,
  weightOf: (piece: number) => number = () => 1,
): Float32Array | null {
  let sum: Float32Array | null = null;
  for (const piece of pieces)
    lexicon.addRow((sum ??= new Float32Array(lexicon.dimensions)), piece, weightOf(piece));
  return sum;
}

/** The cosine of two such sums, and 0 for a negative one. */
export function cosineOf(a: Float32Array | null, b: Float32Array | null): number {
  if (a === null || b === null) return 0;
  let [product, ofA, ofB] = [0, 0, 0];
  for (let k = 0; k < a.length; k++) {
    // Not taken apart from an array, which makes one for each number: three times the time.
    const x = a[k] ?? 0;
    const y = b[k] ?? 0;
    product += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return product <= 0 ? 0 : product / Math.sqrt(ofA * ofB);
}

/** The distinct pieces of a text, as they are stored. A number in groups has those of the whole number too. */
export const distinctPieces = (lexicon: Lexicon, text: string): Uint16Array =>
  Uint16Array.from(new Set([text, ...joinedNumbers(text)].flatMap((part) => lexicon.pieces(part))));

/** Counts of the words of a user's documents. */
type Frequencies = {
  /** Number of documents. */
  size: number;
  /** Number of documents that hold this piece. */
  holding: (piece: number) => number;
};
/** The word model, and how many of the user's documents hold each of its pieces. */
export type WordStatistics = { lexicon: Lexicon; frequencies: Frequencies };

/** The more telling a piece is in general, and the fewer of the user's documents hold it, the greater. */
export const rarityOf = (piece: number, { lexicon, frequencies }: WordStatistics): number =>
  Math.log(1 + frequencies.size / (frequencies.holding(piece) + 0.5)) * Math.sqrt(lexicon.length(piece));

/** The sum of the rarities of pieces. */
export const rarityOfAll = (pieces: readonly number[], words: WordStatistics): number =>
  pieces.reduce((sum, piece) => sum + rarityOf(piece, words), 0);

/** A word that a share s of the documents hold counts SIF / (SIF + s) (Arora, Liang and Ma 2017). */
const SIF = 0.1;

/** The question's unit vector in the word model's space: its pieces, each by how rare it is in this user's documents. */
export function queryVectorOf(text: string, { lexicon, frequencies }: WordStatistics): Float32Array | null {
  const weightOf = (piece: number) =>
    SIF / (SIF + frequencies.holding(piece) / Math.max(1, frequencies.size));
  const sum = sumOfRows(lexicon.pieces(wordsWithoutMarks(text)), lexicon, weightOf);
  const length = Math.sqrt(sum?.reduce((squares, x) => squares + x * x, 0) ?? 0);
  return sum === null || length === 0 ? null : sum.map((x) => x / length);
}
