/** Room for the pieces of most vocabularies. It grows once, to all values of a Uint16. */
const PIECES = 2 ** 15;

/** How many documents have a row in `vectors`, and how many of them hold each word piece. */
export class PieceCounts {
  documents = 0;
  #holding = new Uint32Array(PIECES);

  /** Counts the distinct pieces of one document, or of several, one after the other. */
  add(pieces: Uint16Array, change: 1 | -1 = 1): void {
    for (const piece of pieces) {
      if (piece >= this.#holding.length) this.#grow();
      this.#holding[piece] = (this.#holding[piece] ?? 0) + change;
    }
  }

  /** Counts the documents of a block, and their pieces. */
  addBlock(rows: number, pieces: Uint16Array): void {
    this.documents += rows;
    this.add(pieces);
  }

  holding(piece: number): number {
    return this.#holding[piece] ?? 0;
  }

  #grow(): void {
    const grown = new Uint32Array(2 ** 16);
    grown.set(this.#holding);
    this.#holding = grown;
  }
}
