import { concatBytes } from "../../../src/domain/concat-bytes.ts";
import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";
import { TombstoneRanges, notTombstoned } from "../core/tombstone-ranges.ts";
import { type PositionRange, seqOf, SLOTS } from "../core/position.ts";
import { inline } from "../../storage/inline.ts";
import { hides } from "./hidden-messages.ts";
import type { StoredMessage } from "../../../src/domain/page-json.ts";

type Row = [position: number, body: ArrayBuffer | null, createdAt: number];

/** Bytes of a message that one row holds; a row of SQLite takes 2 MB. */
const PIECE = 1024 * 1024;
/** Messages that one statement reads. */
const SLICE = 256;

const NOT_HIDDEN = `AND NOT ${hides("?", `messages.position % ${SLOTS}`)}`;

/**
 * Messages by their position. Owns the SQL of `messages` and `message_pieces`. No read shows messages with a tombstone; a
 * range is within one thread.
 */
export class MessageStore {
  readonly #sql: SqlStorage;
  readonly #tombstones: TombstoneRanges;
  #deleted = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#tombstones = new TombstoneRanges(sql);
  }

  write(position: number, body: Uint8Array, now: number): void {
    const first = body.subarray(0, PIECE);
    this.#sql.exec(
      "INSERT INTO messages (position, body, created_at) VALUES (?, ?, ?)",
      position,
      first,
      now,
    );
    for (let start = PIECE; start < body.byteLength; start += PIECE)
      this.#sql.exec(
        "INSERT INTO message_pieces (position, piece, body) VALUES (?, ?, ?)",
        position,
        start / PIECE,
        body.subarray(start, start + PIECE),
      );
  }

  /**
   * The messages of a range, but for those that are hidden in a thread (null: no need to look). Reads `slice` messages at a
   * time: a thread is never in memory as a whole. Looks for each hidden message by itself, so that a page does not cost what is
   * hidden elsewhere.
   */
  *read(
    range: PositionRange,
    {
      order,
      hiddenIn,
      slice = SLICE,
    }: { order: "newest" | "oldest"; hiddenIn: number | null; slice?: number },
  ): Generator<StoredMessage> {
    const newest = order === "newest";
    const limit = Math.min(slice, SLICE);
    for (let [from, to] = this.#tombstones.staying(range); ;) {
      // Raw, since to name the columns of each row takes as long as to read it.
      const rows = this.#sql
        .exec(
          `SELECT position, ${inline("body")}, created_at FROM messages WHERE position BETWEEN ? AND ?
             ${hiddenIn === null ? "" : NOT_HIDDEN} ORDER BY position ${newest ? "DESC" : "ASC"} LIMIT ?`,
          from,
          to,
          ...(hiddenIn === null ? [] : [hiddenIn]),
          limit,
        )
        .raw<Row>();
      const read = [...rows];
      for (const [position, body, createdAt] of read)
        yield { seq: seqOf(position), body: this.#body(position, body), createdAt };
      const last = read.at(-1);
      if (last === undefined || read.length < limit) return;
      if (newest) to = last[0] - 1;
      else from = last[0] + 1;
    }
  }

  has(position: number): boolean {
    const there = `SELECT 1 FROM messages WHERE position = ? AND ${notTombstoned("position")}`;
    return this.#sql.exec(there, position).toArray().length > 0;
  }

  /** True if the message at this position is this one, byte for byte; null if there is none. */
  is(position: number, body: Uint8Array): boolean | null {
    const [stored] = this.read([position, position], { order: "oldest", hiddenIn: null, slice: 1 });
    if (stored === undefined) return null;
    const { body: there } = stored;
    return there.byteLength === body.byteLength && there.every((byte, i) => byte === body[i]);
  }

  count(range: PositionRange): number {
    const [from, to] = this.#tombstones.staying(range);
    return this.#sql
      .exec<{ n: number }>("SELECT COUNT(*) AS n FROM messages WHERE position BETWEEN ? AND ?", from, to)
      .one().n;
  }

  delete([from, to]: PositionRange): void {
    // A longer range frees nearly all its pages whole, and an erasure overwrites those.
    if (from === to)
      for (const table of ["messages", "message_pieces"])
        this.#sql.exec(`UPDATE ${table} SET ${zeroedColumns(["body"])} WHERE position = ?`, from);
    this.#sql.exec("DELETE FROM messages WHERE position BETWEEN ? AND ?", from, to);
    this.#deleted += this.#sql.exec<{ n: number }>("SELECT changes() AS n").one().n;
    this.#sql.exec("DELETE FROM message_pieces WHERE position BETWEEN ? AND ?", from, to);
  }

  /** The position of the nth message of a range, with or without a tombstone; null if it has fewer. */
  nth(n: number, [from, to]: PositionRange): number | null {
    const [row] = this.#sql
      .exec<{ position: number }>(
        "SELECT position FROM messages WHERE position BETWEEN ? AND ? ORDER BY position LIMIT 1 OFFSET ?",
        from,
        to,
        n - 1,
      )
      .toArray();
    return row?.position ?? null;
  }

  /** True if there are rows of a range, with or without a tombstone. */
  holds([from, to]: PositionRange): boolean {
    return ["messages", "message_pieces"].some(
      (table) =>
        this.#sql.exec(`SELECT 1 FROM ${table} WHERE position BETWEEN ? AND ? LIMIT 1`, from, to).toArray()
          .length > 0,
    );
  }

  /** The number of deleted messages since the object is awake. */
  get deleted(): number {
    return this.#deleted;
  }

  #body(position: number, short: ArrayBuffer | null): Uint8Array {
    if (short !== null) return new Uint8Array(short);
    const { body } = this.#sql
      .exec<{ body: ArrayBuffer }>("SELECT body FROM messages WHERE position = ?", position)
      .one();
    if (body.byteLength < PIECE) return new Uint8Array(body);
    const further = this.#sql
      .exec<{ body: ArrayBuffer }>(
        "SELECT body FROM message_pieces WHERE position = ? ORDER BY piece",
        position,
      )
      .toArray()
      .map((row) => row.body);
    return concatBytes([body, ...further].map((part) => new Uint8Array(part)));
  }
}
