import { indexedText } from "../../../src/domain/ranking/question.ts";
import type { Term } from "../../../src/domain/ranking/spelling.ts";
import type { Scored } from "../../../src/platform/vectors/vector-table.ts";
import type { PositionRange } from "../core/position.ts";
import { raw, type SqlPart, SqlStore } from "../../storage/sql.ts";

/** FTS5 keeps the numbers of deleted documents in rows of `words_data` with an `id` from here on (`FTS5_TOMBSTONE_ROWID`). */
const FIRST_TOMBSTONE = raw(String(2 ** 53));

/** Selects the numbers of all documents: each has words. */
export const DOCUMENT_NUMBERS = raw("SELECT rowid AS n FROM words");

/** The words of all documents, as FTS5 indexes them. Owns the SQL of `words` and of the tables that FTS5 keeps for it. */
export class WordIndex extends SqlStore {
  put(n: number, words: string): void {
    this.sql.run`INSERT INTO words (rowid, text) VALUES (${n}, ${indexedText(words)})`;
  }

  /** Returns how many documents were removed. */
  remove(rows: SqlPart): number {
    this.sql.run`DELETE FROM words WHERE ${rows}`;
    return this.sql.value`SELECT changes()`;
  }

  among(numbers: readonly number[]): Set<number> {
    return new Set(this.sql.column<number>`
      SELECT rowid FROM words WHERE rowid IN (SELECT value FROM json_each(${JSON.stringify(numbers)}))`);
  }

  /** The number of documents. Reads a row for each. */
  count(): number {
    return this.sql.value`SELECT COUNT(*) FROM words`;
  }

  numbersBelow(n: number): number[] {
    return this.sql.column`SELECT rowid FROM words WHERE rowid < ${n}`;
  }

  holds(rows: SqlPart): boolean {
    return this.sql.has`SELECT 1 FROM words WHERE ${rows} LIMIT 1`;
  }

  /**
   * The documents that match, best first. `ORDER BY rank` is several times as fast as a rank of each document by itself. Reads
   * some, and then all others: each statement ranks all that match.
   */
  *best(expression: string, some: number): Generator<Scored> {
    const rows = (limit: number, offset: number) => this.sql.rows<Scored>`
      SELECT rowid AS n, -rank AS score FROM words WHERE words MATCH ${expression}
      ORDER BY rank LIMIT ${limit} OFFSET ${offset}`;
    const first = rows(some, 0);
    yield* first;
    if (first.length === some) yield* rows(-1, some);
  }

  /** The best of these documents that match. Looks at each document that has a word, and ranks only these. */
  bestOf(numbers: ReadonlySet<number>, expression: string, limit: number): Scored[] {
    const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
    return this.sql.rows`
      SELECT rowid AS n, -bm25(words) AS score FROM words
      WHERE words MATCH ${expression} AND rowid BETWEEN ${from} AND ${to}
        AND +rowid IN (SELECT value FROM json_each(${JSON.stringify([...numbers])}))
      ORDER BY score DESC LIMIT ${limit}`;
  }

  /** The documents of a range that match, the last first, read `slice` at a time. */
  *last(expression: string, [from, to]: PositionRange, slice: number): Generator<Scored> {
    for (let end = to; ;) {
      const rows = this.sql.rows<Scored>`
        SELECT rowid AS n, -bm25(words) AS score FROM words WHERE words MATCH ${expression}
          AND rowid BETWEEN ${from} AND ${end}
        ORDER BY rowid DESC LIMIT ${slice}`;
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < slice) return;
      end = last.n - 1;
    }
  }

  /** The words among these that no document has. A look at one document of each word. */
  absent(words: readonly string[]): string[] {
    return this.sql.column`
      SELECT value FROM json_each(${JSON.stringify(words)})
      WHERE NOT EXISTS (SELECT 1 FROM words WHERE words MATCH '"' || value || '"')`;
  }

  /** Terms with this beginning, as `porter` stems them. SQLite counts the documents of each, so it reads all their rows. */
  terms(beginning: string, limit: number): Term[] {
    return this.sql.rows`
      SELECT term, doc AS documents FROM word_terms WHERE term >= ${beginning}
        AND term < ${`${beginning}\u{10ffff}`} LIMIT ${limit}`;
  }

  /**
   * Merges up to |pages| pages. Negative starts a merge of all segments; positive continues it. Returns whether anything
   * changed, as SQLite documents.
   */
  merge(pages: number): boolean {
    const before = this.sql.value<number>`SELECT total_changes()`;
    this.sql.run`INSERT INTO words (words, rank) VALUES ('merge', ${pages})`;
    return this.sql.value<number>`SELECT total_changes()` - before > 1;
  }

  /** True if words of deleted documents may be in a segment still. */
  hasDeletedTerms(): boolean {
    return this.sql.has`SELECT 1 FROM words_data WHERE id >= ${FIRST_TOMBSTONE} LIMIT 1`;
  }
}
