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
  /** A piece's vector as it is summed. */
  row(piece: number): Float32Array;
  /** The length of that vector: the more telling a piece is in general, the longer. */
  length(piece: number): number;
  /** For each piece, its cosine with each of the others, in their order. */
  compare(pieces: readonly number[], others: readonly number[]): Float32Array[];
}

/** The distinct pieces of a text, as they are stored. */
export const distinctPieces = (lexicon: Lexicon, text: string): Uint16Array =>
  Uint16Array.from(new Set(lexicon.pieces(text)));
