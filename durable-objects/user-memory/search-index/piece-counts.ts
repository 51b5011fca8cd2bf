/** Room for the pieces of most vocabularies. It grows once, to all values of a Uint16. */
const PIECES = 2 ** 15;
/** Documents that are counted at most: the shares of so many are those of all. */
const MOST_DOCUMENTS = 50_000;

/**
 * The number of documents that have a row in `vectors`, and of those that hold each word piece. Of very many documents only some are
 * counted, and changes do not matter.
 */
export class PieceCounts {
  /** Number of documents that are counted. */
  documents = 0;
  /** True if all are counted. */
  isWhole = true;
  readonly #most: number;
  #holding = new Uint32Array(PIECES);

  constructor(most = MOST_DOCUMENTS) {
    this.#most = most;
  }

  /** Counts the documents of a block, and their pieces, one after the other. False if enough were counted before. */
  addBlock(rows: number, pieces: Uint16Array): boolean {
    this.isWhole &&= this.documents < this.#most;
    if (!this.isWhole) return false;
    this.documents += rows;
    this.#add(pieces, 1);
    return true;
  }

  /** `pieces`: null until they are cut. */
  documentCame(pieces: Uint16Array | null): void {
    if (!this.isWhole) return;
    this.documents++;
    if (pieces !== null) this.#add(pieces, 1);
  }

  /** Documents went, of which some had pieces. */
  documentsWent(rows: number, pieces: readonly Uint16Array[]): void {
    if (!this.isWhole) return;
    this.documents -= rows;
    for (const some of pieces) this.#add(some, -1);
  }

  /** The pieces of a counted document were cut. */
  piecesCame(pieces: Uint16Array): void {
    if (this.isWhole) this.#add(pieces, 1);
  }

  /** Number of the counted documents that hold a piece. */
  holding(piece: number): number {
    return this.#holding[piece] ?? 0;
  }

  #add(pieces: Uint16Array, change: 1 | -1): void {
    for (const piece of pieces) {
      if (piece >= this.#holding.length) this.#grow();
      this.#holding[piece] = (this.#holding[piece] ?? 0) + change;
    }
  }

  #grow(): void {
    const grown = new Uint32Array(2 ** 16);
    grown.set(this.#holding);
    this.#holding = grown;
  }
}
