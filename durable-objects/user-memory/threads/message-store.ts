import { concatBytes } from "../../../src/domain/concat-bytes.ts";
import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";
import { TombstoneRanges, notTombstoned } from "../core/tombstone-ranges.ts";
import { type PositionRange, seqOf, SLOTS } from "../core/position.ts";
import { inline, isInline } from "../../storage/inline.ts";
import { documentOf } from "./message-documents.ts";
import { hides } from "./hidden-messages.ts";
import { standingIn } from "../../../src/domain/context/standing.ts";
import { isPerson } from "../../../src/domain/memory/trust.ts";
import type { Trust } from "../../../src/domain/schema/provenance.ts";
import type { StoredMessage } from "../../../src/domain/page-json.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";

type Row = [position: number, body: ArrayBuffer | null, createdAt: number];

/** The mark of a message with an instruction that stands, or with a preference alone. */
const [ORDER, PREFERENCE] = [2, 1];
/** Bytes of a message that one row holds; a row of SQLite takes 2 MB. */
const PART = 1024 * 1024;
/** The columns that hold what was said. */
const TEXTS = [
  ["messages", ["document", "body"]],
  ["message_parts", ["body"]],
] as const;
/** Messages that one statement reads. */
const SLICE = 256;

/** Looks among the last messages of a range only: there may be none of the role for very long. */
const OF_ROLE = `AND position > (SELECT MAX(position) FROM messages WHERE position BETWEEN ? AND ?) - 4000 AND role = ?`;
const NOT_HIDDEN = `AND NOT ${hides("?", `messages.position % ${SLOTS}`)}`;

/**
 * Messages by their position. Owns the SQL of `messages` and `message_parts`. No read shows messages with a tombstone; a
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

  /**
   * Returns the text that recall searches; empty if there is none. `message`: the parsed body. `trust`: the writer's, a person's
   * unless set; no other's instructions are marked, and only those of the memory's owner. `now`: the time of the write, which is kept
   * of a message that is dated ahead.
   */
  write(
    position: number,
    body: Uint8Array,
    {
      message,
      isOwner,
      createdAt,
      trust = "user",
      now,
    }: { message: Message; isOwner: boolean; createdAt: number; trust?: Trust | undefined; now: number },
  ): string {
    const document = documentOf(message);
    const standing = isOwner && isPerson(trust) ? standingIn(message, document.text) : null;
    this.#sql.exec(
      `INSERT INTO messages (position, created_at, role, standing, passages, trust, appended_at, document, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      position,
      createdAt,
      document.text === "" ? null : document.role,
      standing && (standing.isOrder ? ORDER : PREFERENCE),
      standing && JSON.stringify(standing.passages),
      isPerson(trust) ? null : trust,
      createdAt > now ? now : null,
      isInline(body) || document.text === "" ? null : JSON.stringify(document),
      body.subarray(0, PART),
    );
    for (let start = PART; start < body.byteLength; start += PART)
      this.#sql.exec(
        "INSERT INTO message_parts (position, part, body) VALUES (?, ?, ?)",
        position,
        start / PART,
        body.subarray(start, start + PART),
      );
    return document.text;
  }

  /**
   * The messages of a range, but for those that are hidden in a thread (null: no need to look). With `role`, only its messages that
   * have a text, newest first, until 4,000 others stand in a row. Reads `slice` messages at a time: a thread is never in memory
   * as a whole. Looks for each hidden message by itself, so that a page does not cost what is hidden elsewhere.
   */
  *read(
    range: PositionRange,
    {
      order,
      hiddenIn,
      role,
      slice = SLICE,
    }: { order: "newest" | "oldest"; hiddenIn: number | null; role?: string | undefined; slice?: number },
  ): Generator<StoredMessage> {
    const newest = order === "newest";
    const limit = Math.min(slice, SLICE);
    for (let [from, to] = this.#tombstones.staying(range); ;) {
      // Raw, since to name the columns of each row takes as long as to read it.
      const rows = this.#sql
        .exec(
          `SELECT position, ${inline("body")}, created_at FROM messages WHERE position BETWEEN ? AND ?
             ${role === undefined ? "" : OF_ROLE} ${hiddenIn === null ? "" : NOT_HIDDEN}
           ORDER BY position ${newest ? "DESC" : "ASC"} LIMIT ?`,
          from,
          to,
          ...(role === undefined ? [] : [from, to, role]),
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

  /** True if a message is marked: it holds an instruction or a preference of its user. */
  isStanding(position: number): boolean {
    const marked = "SELECT 1 FROM messages WHERE position = ? AND standing IS NOT NULL";
    return this.#sql.exec(marked, position).toArray().length > 0;
  }

  /** The time since when a person or a backend has said it: no later than its append. Null if a model, a tool or an import has. */
  saidByPersonAt(position: number): number | null {
    const byPerson =
      "SELECT COALESCE(appended_at, created_at) AS at FROM messages WHERE position = ? AND trust IS NULL";
    const [row] = this.#sql.exec<{ at: number }>(byPerson, position).toArray();
    return row?.at ?? null;
  }

  has(position: number): boolean {
    const there = `SELECT 1 FROM messages WHERE position = ? AND ${notTombstoned("position")}`;
    return this.#sql.exec(there, position).toArray().length > 0;
  }

  /** The positions among these that have a message. */
  present(positions: readonly number[]): Set<number> {
    const rows = this.#sql.exec<{ position: number }>(
      `SELECT position FROM messages WHERE position IN (SELECT value FROM json_each(?)) AND ${notTombstoned("position")}`,
      JSON.stringify(positions),
    );
    return new Set(Array.from(rows, ({ position }) => position));
  }

  /** True if the message at this position is this one, byte for byte; null if there is none. */
  is(position: number, body: Uint8Array): boolean | null {
    const [stored] = this.read([position, position], { order: "oldest", hiddenIn: null, slice: 1 });
    if (stored === undefined) return null;
    const { body: there } = stored;
    return there.byteLength === body.byteLength && there.every((byte, i) => byte === body[i]);
  }

  count(range: PositionRange): number {
    return this.rows(this.#tombstones.staying(range));
  }

  /** Counts the rows of a range, with or without a tombstone. */
  rows([from, to]: PositionRange): number {
    return this.#sql
      .exec<{ n: number }>("SELECT COUNT(*) AS n FROM messages WHERE position BETWEEN ? AND ?", from, to)
      .one().n;
  }

  delete([from, to]: PositionRange): void {
    // A longer range frees nearly all its pages whole, and an erasure overwrites those.
    if (from === to)
      for (const [table, columns] of TEXTS)
        this.#sql.exec(`UPDATE ${table} SET ${zeroedColumns(columns)} WHERE position = ?`, from);
    this.#sql.exec("DELETE FROM messages WHERE position BETWEEN ? AND ?", from, to);
    this.#deleted += this.#sql.exec<{ n: number }>("SELECT changes() AS n").one().n;
    this.#sql.exec("DELETE FROM message_parts WHERE position BETWEEN ? AND ?", from, to);
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
    return ["messages", "message_parts"].some(
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
    if (body.byteLength < PART) return new Uint8Array(body);
    const further = this.#sql
      .exec<{ body: ArrayBuffer }>(
        "SELECT body FROM message_parts WHERE position = ? ORDER BY part",
        position,
      )
      .toArray()
      .map((row) => row.body);
    return concatBytes([body, ...further].map((part) => new Uint8Array(part)));
  }
}
