import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
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

  constructor(index: SearchIndex, table: MemoryTable) {
    this.#index = index;
    this.#table = table;
  }

  /** Indexes the new versions. Returns how many of them wait for a vector. */
  put(rows: readonly MemoryRow[], vectors: ReadonlyMap<number, TextEmbedding>): number {
    let waiting = 0;
    for (const row of rows) {
      if (this.#index.documents.text(row.version) !== null) continue;
      const { model, dimensions, vector } = vectors.get(row.version) ?? NOT_GIVEN;
      this.#index.put(documentOf(row), vector === "failed" ? undefined : { model, dimensions, vector });
      if (vector === "failed" && !this.#copied(row)) waiting++;
    }
    return waiting;
  }

  /** Indexes a version again. Keeps its vector if the text is the same. */
  rebuild(row: MemoryRow): void {
    const document = documentOf(row);
    if (this.#index.documents.text(row.version) === document.text) this.#index.rewrite(document);
    else {
      this.remove([row.version]);
      this.#index.put(document);
    }
  }

  remove(versions: readonly number[]): void {
    this.#index.removeAll(versions);
  }

  removeAll(): void {
    this.#index.removeRanges([MEMORIES]);
  }

  /** Removes documents whose version does not exist. */
  removeOrphans(): void {
    this.remove(this.#table.missing(this.#index.documents.numbersBelow(FIRST_POSITION)));
  }

  stateOf(version: number): "lexical" | "full" {
    return this.#index.isPending(version) ? "lexical" : "full";
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

const documentOf = (row: MemoryRow) => ({
  n: row.version,
  kind: row.kind,
  text: embeddedText(row),
  words: searchedText(row),
  record: "",
  // A query without words gets the memories that changed last.
  createdAt: row.updatedAt,
});
