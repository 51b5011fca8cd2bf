import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/domain/limits.ts";
import { inline } from "../../storage/inline.ts";
import type { SeqRange } from "../core/position.ts";
import type { StoredThread } from "./thread-row.ts";
import type {
  Compaction,
  CompactionPage,
  CompactionRange,
  CompactionsQuery,
} from "../../../src/contract/user-memory.ts";

type RangeRow = { id: string; from_seq: number; to_seq: number; created_at: number };
type PageRow = RangeRow & { summary: ArrayBuffer | null; bytes: number };

/** Summaries of ranges of a thread; the messages stay. Owns the SQL of `compactions`. */
export class CompactionStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Adds a summary. Its range may contain older ones, but may not cut one nor lie within one. */
  add({ n }: StoredThread, compaction: Compaction): Result<Compaction> {
    const { id, from, to, summary, createdAt } = compaction;
    const [other] = this.#sql
      .exec<RangeRow>(
        `SELECT id, from_seq, to_seq, created_at FROM compactions
         WHERE thread = ?1 AND from_seq <= ?3 AND to_seq >= ?2 AND NOT (from_seq >= ?2 AND to_seq <= ?3) LIMIT 1`,
        n,
        from,
        to,
      )
      .toArray();
    if (other !== undefined)
      return fail("compaction_overlap", {
        details: [
          {
            path: "body.from",
            message: `compaction ${other.id} stands for ${other.from_seq} to ${other.to_seq}`,
          },
        ],
      });
    this.#sql.exec(
      "INSERT INTO compactions (thread, id, from_seq, to_seq, summary, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      n,
      id,
      from,
      to,
      summary,
      createdAt,
    );
    return ok(compaction);
  }

  /** Restores an exported summary, within or around others. Returns false, and adds nothing, if its range cuts another. */
  restore({ n }: StoredThread, { id, from, to, summary, createdAt }: Compaction): boolean {
    const put = this.#sql.exec(
      `INSERT INTO compactions (thread, id, from_seq, to_seq, summary, created_at) SELECT ?1, ?2, ?3, ?4, ?5, ?6
       WHERE NOT EXISTS (
         SELECT 1 FROM compactions WHERE thread = ?1
           AND (from_seq < ?3 AND to_seq >= ?3 AND to_seq < ?4 OR to_seq > ?4 AND from_seq <= ?4 AND from_seq > ?3)
       ) RETURNING 1`,
      n,
      id,
      from,
      to,
      summary,
      createdAt,
    );
    return put.toArray().length > 0;
  }

  /** The summaries of the compacted view, in order. None lies within another. */
  shown({ n }: StoredThread): CompactionRange[] {
    const rows = this.#sql.exec<RangeRow>(
      `SELECT id, from_seq, to_seq, created_at FROM compactions WHERE thread = ?
       ORDER BY from_seq, to_seq DESC, created_at DESC, id DESC`,
      n,
    );
    const shown: CompactionRange[] = [];
    // Two lie apart or one within the other: in this order, what begins before the last one's end lies within it.
    for (const row of rows) if (row.from_seq > (shown.at(-1)?.to ?? 0)) shown.push(rangeOf(row));
    return shown;
  }

  summary({ n }: Pick<StoredThread, "n">, id: string): Uint8Array {
    const row = this.#sql
      .exec<{ summary: ArrayBuffer }>("SELECT summary FROM compactions WHERE thread = ? AND id = ?", n, id)
      .one();
    return new Uint8Array(row.summary);
  }

  /** A page of all summaries of a thread, including those within others. */
  list({ n }: Pick<StoredThread, "n">, { after = [0, ""], limit }: CompactionsQuery): CompactionPage {
    const items: Compaction[] = [];
    let bytes = 0;
    const rows = this.#sql
      .exec<PageRow>(
        `SELECT id, from_seq, to_seq, created_at, ${inline("summary")}, length(summary) AS bytes FROM compactions
         WHERE thread = ? AND (from_seq, id) > (?, ?) ORDER BY from_seq, id LIMIT ?`,
        n,
        ...after,
        // One row more than the limit, to know whether there are more.
        limit + 1,
      )
      .toArray();
    for (const row of rows) {
      bytes += row.bytes;
      if (items.length === limit || (items.length > 0 && bytes > limits.pageBytes))
        return { items, more: true };
      const summary = row.summary === null ? this.summary({ n }, row.id) : new Uint8Array(row.summary);
      items.push({ ...rangeOf(row), summary });
    }
    return { items, more: false };
  }

  /** When the last one was made; 0 if there is none. */
  lastCreatedAt({ n }: Pick<StoredThread, "n">): number {
    return this.#sql
      .exec<{ at: number }>("SELECT COALESCE(MAX(created_at), 0) AS at FROM compactions WHERE thread = ?", n)
      .one().at;
  }

  /** Copies the summaries of the messages that a fork shares. */
  inherit(fork: StoredThread, origin: StoredThread): void {
    this.#sql.exec(
      `INSERT INTO compactions (thread, id, from_seq, to_seq, summary, created_at)
       SELECT ?, id, from_seq, to_seq, summary, created_at FROM compactions WHERE thread = ? AND to_seq <= ?`,
      fork.n,
      origin.n,
      fork.forkSeq,
    );
  }

  has({ n }: Pick<StoredThread, "n">, id: string): boolean {
    return (
      this.#sql.exec("SELECT 1 FROM compactions WHERE thread = ? AND id = ?", n, id).toArray().length > 0
    );
  }

  /** Returns whether there was one. The summaries within it show again. */
  delete({ n }: StoredThread, id: string): boolean {
    const gone = this.#sql.exec("DELETE FROM compactions WHERE thread = ? AND id = ? RETURNING id", n, id);
    return gone.toArray().length > 0;
  }

  /** All summaries that stand for a message between two seqs. */
  touching({ n }: Pick<StoredThread, "n">, [first, last]: SeqRange): CompactionRange[] {
    return this.#sql
      .exec<RangeRow>(
        `SELECT id, from_seq, to_seq, created_at FROM compactions
         WHERE thread = ? AND from_seq <= ? AND to_seq >= ?`,
        n,
        last,
        first,
      )
      .toArray()
      .map(rangeOf);
  }

  /** Returns how many there were. */
  deleteAll({ n }: StoredThread): number {
    return this.#sql.exec("DELETE FROM compactions WHERE thread = ? RETURNING 1", n).toArray().length;
  }
}

const rangeOf = (row: RangeRow): CompactionRange => ({
  id: row.id,
  from: row.from_seq,
  to: row.to_seq,
  createdAt: row.created_at,
});
