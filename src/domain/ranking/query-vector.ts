import { wordsWithoutMarks } from "./marks.ts";
import type { WordStatistics } from "./features.ts";

/** A word that a share s of the documents hold counts SIF / (SIF + s) (Arora, Liang and Ma 2017). */
const SIF = 0.1;

/** The question's unit vector in the word model's space: its pieces, each by how rare it is in this user's documents. */
export function queryVectorOf(text: string, { lexicon, frequencies }: WordStatistics): Float32Array | null {
  let sum: Float32Array | null = null;
  for (const piece of lexicon.pieces(wordsWithoutMarks(text))) {
    const weight = SIF / (SIF + frequencies.holding(piece) / Math.max(1, frequencies.size));
    lexicon.addRow((sum ??= new Float32Array(lexicon.dimensions)), piece, weight);
  }
  if (sum === null) return null;
  let squares = 0;
  for (const x of sum) squares += x * x;
  const length = Math.sqrt(squares);
  return length === 0 ? null : sum.map((x) => x / length);
}
