import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { inline, withinPage } from "../../storage/page-rows.ts";
import { raw, SqlStore } from "../../storage/sql.ts";
import type { SeqRange } from "../core/position.ts";
import type { StoredThread } from "./thread-row.ts";
import type {
  Compaction,
  CompactionPage,
  CompactionRange,
  CompactionsQuery,
} from "../../../src/contract/user-memory.ts";

type PageRow = CompactionRange & { summary: ArrayBuffer | null; bytes: number };
type Numbered = Pick<StoredThread, "n">;

const RANGE = raw(`id, from_seq AS "from", to_seq AS "to", created_at AS "createdAt"`);

/** Summaries of ranges of a thread; the messages stay. Owns the SQL of `compactions`. */
export class CompactionStore extends SqlStore {
  /** Adds a summary. Its range may contain older ones, but may not cut one nor lie within one. */
  add({ n }: Numbered, compaction: Compaction): Result<Compaction> {
    const { id, from, to, summary, createdAt } = compaction;
    const [other] = this.sql.rows<CompactionRange>`
      SELECT ${RANGE} FROM compactions
      WHERE thread = ${n} AND from_seq <= ${to} AND to_seq >= ${from}
        AND NOT (from_seq >= ${from} AND to_seq <= ${to}) LIMIT 1`;
    if (other !== undefined) {
      const message = `compaction ${other.id} stands for ${other.from} to ${other.to}`;
      return fail("compaction_overlap", { details: [{ path: "body.from", message }] });
    }
    this.sql.run`
      INSERT INTO compactions (thread, id, from_seq, to_seq, summary, created_at)
      VALUES (${n}, ${id}, ${from}, ${to}, ${summary}, ${createdAt})`;
    return ok(compaction);
  }

  /** Restores an exported summary, within or around others. Returns false, and adds nothing, if its range cuts another. */
  restore({ n }: Numbered, { id, from, to, summary, createdAt }: Compaction): boolean {
    return this.sql.has`
      INSERT INTO compactions (thread, id, from_seq, to_seq, summary, created_at)
      SELECT ${n}, ${id}, ${from}, ${to}, ${summary}, ${createdAt} WHERE NOT EXISTS (
        SELECT 1 FROM compactions WHERE thread = ${n}
          AND (from_seq < ${from} AND to_seq >= ${from} AND to_seq < ${to}
            OR to_seq > ${to} AND from_seq <= ${to} AND from_seq > ${from})
      ) RETURNING 1`;
  }

  /** The summaries of the compacted view, in order. None lies within another. */
  shown({ n }: Numbered): CompactionRange[] {
    const all = this.sql.rows<CompactionRange>`
      SELECT ${RANGE} FROM compactions WHERE thread = ${n}
      ORDER BY from_seq, to_seq DESC, created_at DESC, id DESC`;
    const shown: CompactionRange[] = [];
    // Two lie apart or one within the other: in this order, what begins before the last one's end lies within it.
    for (const range of all) if (range.from > (shown.at(-1)?.to ?? 0)) shown.push(range);
    return shown;
  }

  summary({ n }: Numbered, id: string): Uint8Array {
    return new Uint8Array(
      this.sql.value<ArrayBuffer>`SELECT summary FROM compactions WHERE thread = ${n} AND id = ${id}`,
    );
  }

  /** A page of all summaries of a thread, including those within others. */
  list({ n }: Numbered, { after: [seq, last] = [0, ""], limit }: CompactionsQuery): CompactionPage {
    // One row more than the limit, to know whether there are more.
    const rows = this.sql.rows<PageRow>`
      SELECT ${RANGE}, ${inline("summary")}, length(summary) AS bytes FROM compactions
      WHERE thread = ${n} AND (from_seq, id) > (${seq}, ${last}) ORDER BY from_seq, id LIMIT ${limit + 1}`;
    const { shown, more } = withinPage(rows, limit);
    const items = shown.map(({ summary, bytes: _bytes, ...range }) => ({
      ...range,
      summary: summary === null ? this.summary({ n }, range.id) : new Uint8Array(summary),
    }));
    return { items, more };
  }

  /** When the last one was made; 0 if there is none. */
  lastCreatedAt({ n }: Numbered): number {
    return this.sql.value`SELECT COALESCE(MAX(created_at), 0) FROM compactions WHERE thread = ${n}`;
  }

  /** Copies the summaries of the messages that a fork shares. */
  inherit(fork: StoredThread, origin: Numbered): void {
    this.sql.run`
      INSERT INTO compactions (thread, id, from_seq, to_seq, summary, created_at)
      SELECT ${fork.n}, id, from_seq, to_seq, summary, created_at FROM compactions
      WHERE thread = ${origin.n} AND to_seq <= ${fork.forkSeq}`;
  }

  has({ n }: Numbered, id: string): boolean {
    return this.sql.has`SELECT 1 FROM compactions WHERE thread = ${n} AND id = ${id}`;
  }

  /** Returns whether there was one. The summaries within it show again. */
  delete({ n }: Numbered, id: string): boolean {
    return this.sql.has`DELETE FROM compactions WHERE thread = ${n} AND id = ${id} RETURNING 1`;
  }

  /** All summaries that stand for a message between two seqs. */
  touching({ n }: Numbered, [first, last]: SeqRange): CompactionRange[] {
    return this.sql.rows`
      SELECT ${RANGE} FROM compactions WHERE thread = ${n} AND from_seq <= ${last} AND to_seq >= ${first}`;
  }

  /** Returns how many there were. */
  deleteAll({ n }: Numbered): number {
    return this.sql.column`DELETE FROM compactions WHERE thread = ${n} RETURNING 1`.length;
  }
}
