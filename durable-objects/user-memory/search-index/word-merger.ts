import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { turn } from "../../../src/platform/turn.ts";
import { SqlStore } from "../../storage/sql.ts";
import type { WordIndex } from "./word-index.ts";

type WordMergerDependencies = {
  sql: SqlStorage;
  words: Pick<WordIndex, "merge" | "hasDeletedTerms">;
  alarms: Pick<AlarmScheduler, "scheduleBy">;
  now: () => number;
  /** Pages that one step writes, of some 4 kB. */
  pages?: number;
};

/** Pages of a step, some 30 ms, for which other calls wait, and steps of one alarm. */
const PAGES = 250;
const STEPS = 3;
/** Deleted words stay this long at most. A round rewrites the whole index, too much for each delete. */
const WITHIN_MS = 3600_000;

type Row = { due_at: number | null; merging: number; rounds: number };

/**
 * Removes the words of deleted documents from the full-text index. A delete in `words`, which is contentless, only stores the
 * document's number (a tombstone). Its terms stay readable in `words_data` until FTS5 merges their segment, which may never
 * happen. A round merges all segments into one, some pages at a time; FTS5 stores the progress, so an eviction loses nothing.
 * Owns the SQL of `word_merge`.
 */
export class WordMerger extends SqlStore {
  readonly #deps: WordMergerDependencies;

  constructor(deps: WordMergerDependencies) {
    super(deps.sql);
    this.#deps = deps;
  }

  /** Schedules a round within an hour. */
  deleted(): void {
    const { alarms, now } = this.#deps;
    this.sql.run`UPDATE word_merge SET due_at = ${now() + WITHIN_MS} WHERE due_at IS NULL`;
    alarms.scheduleBy(this.nextDue());
  }

  /** Starts a round now. Returns the round that removes every word deleted so far: see `hasEnded`. */
  startRound(): number {
    const now = this.#deps.now();
    this.sql.run`UPDATE word_merge SET due_at = MIN(COALESCE(due_at, ${now}), ${now})`;
    const { merging, rounds } = this.#row();
    // The round under way may have written a word that was deleted since.
    return rounds + 1 + merging;
  }

  hasEnded(round: number): boolean {
    return this.#row().rounds >= round;
  }

  nextDue(): number | null {
    return this.#row().due_at;
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      const { due_at: due } = this.#row();
      if (due === null || due > this.#deps.now()) return;
      this.#step();
      await turn();
    }
  }

  #step(): void {
    const { words, now, pages = PAGES } = this.#deps;
    if (!words.hasDeletedTerms()) {
      // Nothing is left to remove: ends the rounds that callers may wait for, this one and the next.
      this.sql.run`UPDATE word_merge SET due_at = NULL, merging = 0, rounds = rounds + 2`;
      return;
    }
    // Finishes a merge under way first: it may contain deleted words, and FTS5 would count it to the round.
    if (words.merge(pages)) return;
    if (this.#row().merging === 1)
      // Tombstones came during the round.
      this.sql.run`UPDATE word_merge SET due_at = ${now() + WITHIN_MS}, merging = 0, rounds = rounds + 1`;
    else {
      this.sql.run`UPDATE word_merge SET merging = 1`;
      words.merge(-pages);
    }
  }

  #row(): Row {
    return this.sql.one<Row>`SELECT due_at, merging, rounds FROM word_merge`;
  }
}
