import { turn } from "../../../src/platform/turn.ts";
import { SqlStore } from "../../storage/sql.ts";

/** The peak is stored in steps: a growing object does not write it in each alarm. */
const PEAK_STEP = 256 * 1024;
const PAGE = 4096;
/** Pages of one row of zeros, and rows of one transaction: some 20 ms, for which other calls wait. */
const ROW_PAGES = 256;
const ROWS = 16;
/** Transactions that one alarm takes. */
const SLICES = 4;

type Row = { peak: number; filled: number; rounds: number };

/**
 * Overwrites the free pages of SQLite's file. A delete frees pages with their content, and an object allows neither
 * `secure_delete` nor `VACUUM`. A round fills all free pages with rows of zeros, then removes these. SQLite gives no page back,
 * so the file is as large as the peak in use. Owns the SQL of `free_pages` and `zeros`.
 */
export class FreePages extends SqlStore {
  readonly #rows: number;
  #peak = 0;

  /** `rows`: of one transaction. */
  constructor(sql: SqlStorage, rows = ROWS) {
    super(sql);
    this.#rows = rows;
  }

  /** Stores the peak, before something is removed. */
  note(): void {
    if (this.sql.storage.databaseSize <= this.#peak) return;
    const peak = Math.ceil(this.sql.storage.databaseSize / PEAK_STEP) * PEAK_STEP;
    this.sql.run`UPDATE free_pages SET peak = ${peak} WHERE peak < ${peak}`;
    this.#peak = this.#row().peak;
  }

  /** For a new file. */
  forgetPeak(): void {
    this.#peak = 0;
  }

  /** Bytes that zeros take up, from the first row and the last: rows are written and removed in order. */
  get bytes(): number {
    const [last] = this.sql.rows<{ before: number; bytes: number }>`
      SELECT rowid - (SELECT MIN(rowid) FROM zeros) AS before, LENGTH(bytes) AS bytes
      FROM zeros ORDER BY rowid DESC LIMIT 1`;
    return last === undefined ? 0 : last.before * ROW_PAGES * PAGE + last.bytes;
  }

  /** The round that overwrites all pages free by now. */
  next(): number {
    const { filled, rounds } = this.#row();
    return rounds + 1 + filled;
  }

  /** Works on the round for a bounded time. Returns whether it has ended. */
  async overwrite(round: number): Promise<boolean> {
    for (let slice = 0; slice < SLICES && this.#row().rounds < round; slice++) {
      this.#slice();
      await turn();
    }
    return this.#row().rounds >= round;
  }

  #slice(): void {
    const { peak, filled } = this.#row();
    if (filled === 0) {
      let rows = 0;
      for (; rows < this.#rows && this.sql.storage.databaseSize < peak; rows++) {
        const pages = Math.min(ROW_PAGES, Math.ceil((peak - this.sql.storage.databaseSize) / PAGE));
        this.sql.run`INSERT INTO zeros (bytes) VALUES (zeroblob(${bytesIn(pages)}))`;
      }
      if (rows < this.#rows) this.sql.run`UPDATE free_pages SET filled = 1`;
      return;
    }
    this.sql.run`
      DELETE FROM zeros WHERE rowid IN (SELECT rowid FROM zeros ORDER BY rowid LIMIT ${this.#rows})`;
    if (!this.sql.has`SELECT 1 FROM zeros LIMIT 1`)
      this.sql.run`UPDATE free_pages SET filled = 0, rounds = rounds + 1`;
  }

  #row(): Row {
    return this.sql.one<Row>`SELECT * FROM free_pages`;
  }
}

/**
 * The bytes of a row that fills its pages to their ends: the rest of a page would keep its content. SQLite puts at most 4,061
 * bytes of a row into its first page and 4,092 into each further one; 3 or 4 are the row's header.
 */
function bytesIn(pages: number): number {
  const row = PAGE - 35 + (pages - 1) * (PAGE - 4);
  return row - (pages > 2 ? 4 : 3);
}
