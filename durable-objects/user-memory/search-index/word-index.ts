import { indexedText } from "../../../src/domain/ranking/question.ts";
import type { Term } from "../../../src/domain/ranking/spelling.ts";
import type { Scored } from "../../../src/platform/vectors/vector-table.ts";
import type { PositionRange } from "../core/position.ts";
import type { SqlCondition } from "../core/sql-condition.ts";
import { SqlStore } from "../core/sql-store.ts";

/** FTS5 keeps the numbers of deleted documents in rows of `words_data` with an `id` from here on (`FTS5_TOMBSTONE_ROWID`). */
const FIRST_TOMBSTONE = 2 ** 53;

/** SQL that selects the numbers of all documents: each has words. */
export const DOCUMENT_NUMBERS = "SELECT rowid AS n FROM words";

/** The words of all documents, as FTS5 indexes them. Owns the SQL of `words` and of the tables that FTS5 keeps for it. */
export class WordIndex extends SqlStore {
  put(n: number, words: string): void {
    this.exec("INSERT INTO words (rowid, text) VALUES (?, ?)", [n, indexedText(words)]);
  }

  /** Returns how many documents were removed. */
  remove({ sql, bindings }: SqlCondition): number {
    this.exec(`DELETE FROM words WHERE ${sql}`, bindings);
    return this.value("SELECT changes()");
  }

  /** The documents among these. */
  among(numbers: readonly number[]): Set<number> {
    const among = "SELECT rowid FROM words WHERE rowid IN (SELECT value FROM json_each(?))";
    return new Set(this.column<number>(among, [JSON.stringify(numbers)]));
  }

  /** The number of documents. Reads a row for each. */
  count(): number {
    return this.value("SELECT COUNT(*) FROM words");
  }

  numbersBelow(n: number): number[] {
    return this.column("SELECT rowid FROM words WHERE rowid < ?", [n]);
  }

  holds({ sql, bindings }: SqlCondition): boolean {
    return this.selects(`SELECT 1 FROM words WHERE ${sql} LIMIT 1`, bindings);
  }

  /**
   * The documents that match, best first. `ORDER BY rank` is several times as fast as a rank of each document by itself. Reads
   * some, and then all others: each statement ranks all that match.
   */
  *best(expression: string, some: number): Generator<Scored> {
    const statement =
      "SELECT rowid AS n, -rank AS score FROM words WHERE words MATCH ? ORDER BY rank LIMIT ? OFFSET ?";
    const first = this.rows<Scored>(statement, [expression, some, 0]);
    yield* first;
    if (first.length === some) yield* this.rows<Scored>(statement, [expression, -1, some]);
  }

  /** The best of these documents that match. Looks at each document that has a word, and ranks only these. */
  bestOf(numbers: ReadonlySet<number>, expression: string, limit: number): Scored[] {
    const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
    return this.rows(
      `SELECT rowid AS n, -bm25(words) AS score FROM words
       WHERE words MATCH ? AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))
       ORDER BY score DESC LIMIT ?`,
      [expression, from, to, JSON.stringify([...numbers]), limit],
    );
  }

  /** The documents of a range that match, the last first, read `slice` at a time. */
  *last(expression: string, [from, to]: PositionRange, slice: number): Generator<Scored> {
    for (let end = to; ;) {
      const rows = this.rows<Scored>(
        `SELECT rowid AS n, -bm25(words) AS score FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid DESC LIMIT ?`,
        [expression, from, end, slice],
      );
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < slice) return;
      end = last.n - 1;
    }
  }

  /** The words among these that no document has. A look at one document of each word. */
  absent(words: readonly string[]): string[] {
    return this.column(
      `SELECT value FROM json_each(?)
       WHERE NOT EXISTS (SELECT 1 FROM words WHERE words MATCH '"' || value || '"')`,
      [JSON.stringify(words)],
    );
  }

  /** Terms with this beginning, as `porter` stems them. SQLite counts the documents of each, so it reads all their rows. */
  terms(beginning: string, limit: number): Term[] {
    return this.rows("SELECT term, doc AS documents FROM word_terms WHERE term >= ? AND term < ? LIMIT ?", [
      beginning,
      `${beginning}\u{10ffff}`,
      limit,
    ]);
  }

  /**
   * Merges up to |pages| pages. Negative starts a merge of all segments; positive continues it. Returns whether anything
   * changed, as SQLite documents.
   */
  merge(pages: number): boolean {
    const before = this.value("SELECT total_changes()");
    this.exec("INSERT INTO words (words, rank) VALUES ('merge', ?)", [pages]);
    return this.value("SELECT total_changes()") - before > 1;
  }

  /** True if words of deleted documents may be in a segment still. */
  hasDeletedTerms(): boolean {
    return this.selects(`SELECT 1 FROM words_data WHERE id >= ${FIRST_TOMBSTONE} LIMIT 1`);
  }
}
