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
  /** A piece's vector as it is summed: the more telling a piece is in general, the longer its vector. */
  row(piece: number): Float32Array;
  /** The cosine of a piece with every piece, by number. Valid for the caller's own use, not to be changed. */
  similarities(piece: number): Float32Array;
}

/** The distinct pieces of a text, as they are stored. */
export const distinctPieces = (lexicon: Lexicon, text: string): Uint16Array =>
  Uint16Array.from(new Set(lexicon.pieces(text)));
