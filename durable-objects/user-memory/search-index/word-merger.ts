import type { WakeUp } from "../../storage/wake-up.ts";
import type { WordIndex } from "./word-index.ts";

type Parts = {
  sql: SqlStorage;
  words: Pick<WordIndex, "merge" | "hasTombstones">;
  wakeUp: Pick<WakeUp, "by">;
  now: () => number;
  /** Pages that one step writes, of some 4 kB. */
  pages?: number;
};

/** What a step writes unless told otherwise, and steps that one alarm takes: some 30 ms each. */
const PAGES = 250;
const STEPS = 10;
/** Longest stay of deleted words. The whole index is written anew then, and so not for each delete. */
const WITHIN_MS = 3600_000;

/** For `schema.ts`. `merging`: a round has begun; `rounds`: how many have ended. */
export const wordMergeSchema = `
  CREATE TABLE word_merge (
    due_at INTEGER,
    merging INTEGER NOT NULL DEFAULT 0,
    rounds INTEGER NOT NULL DEFAULT 0
  );
  INSERT INTO word_merge (due_at) VALUES (NULL);
`;

type Row = { due_at: number | null; merging: number; rounds: number };

/**
 * Takes the words of deleted documents out of the full-text index. A delete in `words`, which has no content of its own, only
 * notes the document's number (a tombstone): terms and positions stay readable in `words_data` until FTS5 merges the segment
 * that has them, which may be never. A round merges all segments into one, some pages at a time; where it stands is stored by
 * FTS5, so that an eviction costs nothing. Owns the SQL of `word_merge`.
 */
export class WordMerger {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Words were deleted: they are out within an hour. */
  deleted(): void {
    const { sql, wakeUp, now } = this.#parts;
    sql.exec("UPDATE word_merge SET due_at = ? WHERE due_at IS NULL", now() + WITHIN_MS);
    wakeUp.by(this.nextDue());
  }

  /** Begins now. Answers the round that leaves none of the words that are deleted by now: see `hasEnded`. */
  hurry(): number {
    const { sql, now } = this.#parts;
    sql.exec("UPDATE word_merge SET due_at = MIN(COALESCE(due_at, ?1), ?1)", now());
    const { merging, rounds } = this.#row();
    // A round may have written a word already that is deleted before its end.
    return rounds + 1 + merging;
  }

  hasEnded(round: number): boolean {
    return this.#row().rounds >= round;
  }

  nextDue(): number | null {
    return this.#row().due_at;
  }

  /** Goes on with what is due, for the alarm. */
  alarm(): void {
    for (let step = 0; step < STEPS; step++) {
      const { due_at: due } = this.#row();
      if (due === null || due > this.#parts.now()) return;
      this.#step();
    }
  }

  #step(): void {
    const { sql, words, now, pages = PAGES } = this.#parts;
    if (!words.hasTombstones()) {
      // No round could find more. Those that wait for one, or for the one behind it, wait for nothing.
      sql.exec("UPDATE word_merge SET due_at = NULL, merging = 0, rounds = rounds + 2");
      return;
    }
    // First what is being merged already: FTS5 would count it to the round, and it may have words in it that are deleted.
    if (words.merge(pages)) return;
    if (this.#row().merging === 1)
      // There are tombstones again.
      sql.exec("UPDATE word_merge SET due_at = ?, merging = 0, rounds = rounds + 1", now() + WITHIN_MS);
    else {
      sql.exec("UPDATE word_merge SET merging = 1");
      words.merge(-pages);
    }
  }

  #row(): Row {
    return this.#parts.sql.exec<Row>("SELECT due_at, merging, rounds FROM word_merge").one();
  }
}
