import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { embeddedText, searchedText } from "../../../src/domain/memory/search-text.ts";
import type { MemoryTable } from "./memory-table.ts";
import { FIRST_POSITION, MEMORIES } from "../core/position.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/**
 * The versions of memories as documents of the search index, each under its number. The text of a version never changes,
 * so it is indexed once. The table `memories` says when a version is true.
 */
export class MemoryIndex {
  readonly #index: SearchIndex;
  readonly #table: MemoryTable;
  /** The word model, if this isolate has loaded it. */
  readonly #lexicon: () => Lexicon | null;

  constructor(index: SearchIndex, table: MemoryTable, lexicon: () => Lexicon | null) {
    this.#index = index;
    this.#table = table;
    this.#lexicon = lexicon;
  }

  /** Indexes the new versions. Returns how many of them wait for a vector. */
  put(rows: readonly MemoryRow[], vectors: ReadonlyMap<number, TextEmbedding>): number {
    const lexicon = this.#lexicon();
    const known = this.#index.words.among(rows.map(({ version }) => version));
    let waiting = 0;
    for (const row of rows) {
      if (known.has(row.version)) continue;
      const { model, dimensions, vector } = vectors.get(row.version) ?? NOT_GIVEN;
      if (vector === "failed") {
        this.#index.put(row.version, searchedText(row));
        if (!this.#copied(row)) waiting++;
        continue;
      }
      const pieces = lexicon && distinctPieces(lexicon, embeddedText(row));
      this.#index.put(row.version, searchedText(row), { model, dimensions, vector, pieces });
    }
    return waiting;
  }

  /** Indexes a version again. `sameText`: it keeps its vector. */
  rebuild(row: MemoryRow, { sameText }: { sameText: boolean }): void {
    if (sameText && this.#index.words.among([row.version]).size > 0)
      return this.#index.rewrite(row.version, searchedText(row));
    this.remove([row.version]);
    this.#index.put(row.version, searchedText(row));
  }

  remove(versions: readonly number[]): void {
    this.#index.removeAll(versions);
  }

  removeAll(): void {
    this.#index.removeRanges([MEMORIES]);
  }

  removeOrphans(): void {
    this.remove(this.#table.missing(this.#index.words.numbersBelow(FIRST_POSITION)));
  }

  stateOf(version: number): "lexical" | "full" {
    return this.waiting([version]).size > 0 ? "lexical" : "full";
  }

  waiting(versions: readonly number[]): Set<number> {
    return this.#index.waiting(versions);
  }

  /** Copies the vector of another version with the same text. */
  #copied(row: MemoryRow): boolean {
    const text = embeddedText(row);
    return this.#table
      .versions(row.id)
      .some(
        (other) =>
          other.version !== row.version &&
          embeddedText(other) === text &&
          this.#index.copyVector(other.version, row.version),
      );
  }
}

const NOT_GIVEN: TextEmbedding = { model: "", dimensions: 0, vector: "failed" };
