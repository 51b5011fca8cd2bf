import type { QueryVector } from "../../../src/platform/embeddings/embedder.ts";
import { embeddedText, searchedText } from "../../../src/domain/memory/search-text.ts";
import type { MemoryTable } from "./memory-table.ts";
import { FIRST_POSITION, MEMORIES } from "../core/position.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/**
 * The versions of memories as documents of the search index, each under its number. What a version says never
 * changes, so it is indexed once; whether it is true, and of when, is in `memories`.
 */
export class MemoryIndex {
  readonly #index: SearchIndex;
  readonly #table: MemoryTable;

  constructor(index: SearchIndex, table: MemoryTable) {
    this.#index = index;
    this.#table = table;
  }

  /** Puts the versions that are new here. Answers how many of them wait for a vector. */
  put(rows: readonly MemoryRow[], vectors: ReadonlyMap<number, QueryVector>): number {
    let waiting = 0;
    for (const row of rows) {
      if (this.#index.has(row.version)) continue;
      const { model, dimensions, vector } = vectors.get(row.version) ?? NOT_GIVEN;
      this.#index.put(documentOf(row), vector === "failed" ? undefined : { model, dimensions, vector });
      if (vector === "failed" && !this.#copied(row)) waiting++;
    }
    return waiting;
  }

  /** Puts a version as if it had never been here; keeps its vector if that is of the same text. */
  rebuild(row: MemoryRow): void {
    const document = documentOf(row);
    if (this.#index.text(row.version) === document.text) this.#index.rewrite(document);
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

  /** Removes what is indexed of versions that are not there. */
  removeOrphans(): void {
    this.remove(this.#table.missing(this.#index.numbersBelow(FIRST_POSITION)));
  }

  stateOf(version: number): "lexical" | "full" {
    return this.#index.isPending(version) ? "lexical" : "full";
  }

  /** Takes over the vector of another version of the same text. */
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

const NOT_GIVEN: QueryVector = { model: "", dimensions: 0, vector: "failed" };

const documentOf = (row: MemoryRow) => ({
  n: row.version,
  kind: row.kind,
  text: embeddedText(row),
  words: searchedText(row),
  record: "",
  // What is asked for nothing in particular is answered with what was said last.
  createdAt: row.updatedAt,
});
