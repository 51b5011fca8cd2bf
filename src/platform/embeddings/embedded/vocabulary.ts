import { type Assets, fetchAsset } from "../assets.ts";
import { SharedModel } from "../shared-model.ts";

/** The tokens of the file that all models in the Worker share. */
const SIZE = 27_728;
const LONGEST_WORD = 100;
/** The slots of the hash table. At most half of them are taken. */
const PLACES = 65_536;
const NEWLINE = 10;
const HASH_SIGN = 35;

/**
 * The tokens of a vocabulary file, one per line, found by hash where they lie. A piece inside a word carries `##`. A Map of
 * 28,000 strings takes three times as long to make: 15 ms of an isolate's first recall, not 5.
 */
export class Vocabulary {
  readonly size: number;
  readonly #file: Uint8Array;
  /** Where each token begins, and where another one would. */
  readonly #starts: Uint32Array;
  /** A row + 1, at the place of its token's hash or at the next free one; 0: free. */
  readonly #places = new Uint16Array(PLACES);
  /** The rest of a word that is cut, after `##`, and the hash of each of its beginnings. */
  readonly #word = new Uint8Array(2 + 3 * LONGEST_WORD).fill(HASH_SIGN);
  readonly #afterMarks = this.#word.subarray(2);
  readonly #hashes = new Int32Array(this.#word.length);

  /** Throws unless `file` has `size` tokens (at most 32,768), each with a newline at its end. */
  constructor(file: Uint8Array, size: number) {
    this.size = size;
    this.#file = file;
    this.#starts = new Uint32Array(size + 1);
    // Locals: this loop runs before V8 has optimised it.
    const [starts, places] = [this.#starts, this.#places];
    const most = Math.min(size, PLACES / 2);
    let [tokens, hash] = [0, 0];
    for (let i = 0; i < file.length && tokens <= most; i++) {
      const byte = file[i] ?? 0;
      if (byte !== NEWLINE) {
        hash = withByte(hash, byte);
        continue;
      }
      let place = placeOf(hash);
      while (places[place] !== 0) place = (place + 1) % PLACES;
      tokens++;
      places[place] = tokens;
      starts[tokens] = i + 1;
      hash = 0;
    }
    if (tokens !== size || starts[size] !== file.length)
      throw new Error(`the vocabulary is torn: it has other tokens than ${size}`);
  }

  /** The rows of the longest pieces from the left; none if any rest is unknown. */
  cut(word: string): number[] {
    if (word.length > LONGEST_WORD) return [];
    const end = 2 + encoder.encodeInto(word, this.#afterMarks).written;
    const rows: number[] = [];
    for (let start = 2; start < end;) {
      const piece = this.#longest(start === 2 ? start : start - 2, start, end);
      if (piece === undefined) return [];
      rows.push(piece.row);
      start = piece.end;
      // The marks of the next piece take the place of what is cut.
      this.#word.fill(HASH_SIGN, start - 2, start);
    }
    return rows;
  }

  /** The row of a word of `a` to `z`; undefined unless it is one token. A single look-up, without the word's parts. */
  row(word: string): number | undefined {
    if (word.length > LONGEST_WORD) return undefined;
    let hash = 0;
    for (let i = 0; i < word.length; i++) {
      const byte = word.charCodeAt(i);
      this.#afterMarks[i] = byte;
      hash = withByte(hash, byte);
    }
    return this.#find(2, 2 + word.length, hash);
  }

  /** The longest token from `from` that ends after `start`, and at `end` at the latest. */
  #longest(from: number, start: number, end: number): { row: number; end: number } | undefined {
    let hash = 0;
    for (let i = from; i < end; i++) {
      hash = withByte(hash, this.#word[i] ?? 0);
      this.#hashes[i] = hash;
    }
    for (let last = end; last > start; last--) {
      const row = this.#find(from, last, this.#hashes[last - 1] ?? 0);
      if (row !== undefined) return { row, end: last };
    }
    return undefined;
  }

  #find(from: number, end: number, hash: number): number | undefined {
    let place = placeOf(hash);
    for (;;) {
      const row = (this.#places[place] ?? 0) - 1;
      if (row < 0) return undefined;
      if (this.#isToken(row, from, end)) return row;
      place = (place + 1) % PLACES;
    }
  }

  #isToken(row: number, from: number, end: number): boolean {
    const start = this.#starts[row] ?? 0;
    const length = end - from;
    if (start + length + 1 !== this.#starts[row + 1]) return false;
    for (let i = 0; i < length; i++) if (this.#file[start + i] !== this.#word[from + i]) return false;
    return true;
  }
}

const encoder = new TextEncoder();

const withByte = (hash: number, byte: number): number => (Math.imul(hash, 31) + byte) | 0;

/** The upper half of a product with 2^32 / the golden ratio, which depends on all bits. */
const placeOf = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 16;

/** The vocabulary of an isolate, which its models share: 0.4 MB, and 5 ms to read. */
export class SharedVocabulary extends SharedModel<Vocabulary> {
  constructor() {
    super(async (assets: Assets) => {
      const file = await fetchAsset(assets, "vocab.txt");
      return new Vocabulary(new Uint8Array(await file.arrayBuffer()), SIZE);
    });
  }
}
