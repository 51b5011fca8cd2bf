import { fail, ok, type Result } from "../../src/errors.ts";
import type { StoredThread } from "./thread-store.ts";

/** A summary, as a message in JSON in UTF-8, that stands for the messages from one seq to the other. */
export type Compaction = { id: string; from: number; to: number; summary: Uint8Array; createdAt: number };

type Row = { id: string; from_seq: number; to_seq: number; summary: ArrayBuffer; created_at: number };

/** Summaries that stand for ranges of a thread; the messages stay. Owns the SQL of `compactions`. */
export class CompactionStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Adds one. It may hold older ones, which it then stands for too, but not cut through one, nor lie in one. */
  add({ n }: StoredThread, compaction: Compaction): Result<Compaction> {
    const { id, from, to, summary, createdAt } = compaction;
    const other = this.#all(n).find(
      (one) => one.from <= to && one.to >= from && !(from <= one.from && one.to <= to),
    );
    if (other !== undefined)
      return fail("compaction_overlap", {
        details: [
          { path: "body.from", message: `compaction ${other.id} stands for ${other.from} to ${other.to}` },
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

  /** Those that the compacted view shows, in the order of the conversation: none lies within another. */
  shown({ n }: StoredThread): Compaction[] {
    const all = this.#all(n);
    return all.filter(
      (one, i) =>
        !all.some(
          (other, j) =>
            other !== one &&
            other.from <= one.from &&
            one.to <= other.to &&
            (other.from < one.from || one.to < other.to || j > i),
        ),
    );
  }

  /** All of a thread, the ones within others included. */
  list({ n }: StoredThread): Compaction[] {
    return this.#all(n);
  }

  /** Lets a fork begin with those that stand for messages before it. */
  inherit(fork: StoredThread, origin: StoredThread): void {
    this.#sql.exec(
      `INSERT INTO compactions (thread, id, from_seq, to_seq, summary, created_at)
       SELECT ?, id, from_seq, to_seq, summary, created_at FROM compactions WHERE thread = ? AND to_seq <= ?`,
      fork.n,
      origin.n,
      fork.forkSeq,
    );
  }

  deleteAll({ n }: StoredThread): void {
    this.#sql.exec("DELETE FROM compactions WHERE thread = ?", n);
  }

  #all(n: number): Compaction[] {
    return this.#sql
      .exec<Row>("SELECT * FROM compactions WHERE thread = ? ORDER BY from_seq, created_at, id", n)
      .toArray()
      .map((row) => ({
        id: row.id,
        from: row.from_seq,
        to: row.to_seq,
        summary: new Uint8Array(row.summary),
        createdAt: row.created_at,
      }));
  }
}
