import { concatBytes } from "../../../src/domain/concat-bytes.ts";
import { zeroedColumns } from "../../../src/platform/d1/zeroed-columns.ts";
import { inline, isInline } from "../../storage/page-rows.ts";
import { inSlices, part, raw, SqlStore } from "../../storage/sql.ts";
import { TombstoneRanges, notTombstoned } from "../core/tombstone-ranges.ts";
import { type PositionRange, seqOf, SLOTS } from "../core/position.ts";
import { documentOf } from "./message-documents.ts";
import { hides } from "./hidden-messages.ts";
import { instructionsIn } from "../../../src/domain/context/instructions.ts";
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

const SEQ = raw(`messages.position % ${SLOTS}`);
const STAYS = raw(notTombstoned("position"));
const BODY = inline("body");
/** Condition on the messages of a role. Looks among the last messages of a range only: there may be none for very long. */
const ofRole = (role: string, [from, to]: PositionRange) => part`
  position > (SELECT MAX(position) FROM messages WHERE position BETWEEN ${from} AND ${to}) - 4000 AND role = ${role}`;

/**
 * Messages by their position. Owns the SQL of `messages` and `message_parts`. No read shows messages with a tombstone; a
 * range is within one thread.
 */
export class MessageStore extends SqlStore {
  readonly #tombstones: TombstoneRanges;
  #deleted = 0;

  constructor(sql: SqlStorage) {
    super(sql);
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
    const standing = isOwner && isPerson(trust) ? instructionsIn(message, document.text) : null;
    const role = document.text === "" ? null : document.role;
    this.sql.run`
      INSERT INTO messages (position, created_at, role, standing, passages, trust, appended_at, document, body)
      VALUES (${position}, ${createdAt}, ${role},
        ${standing && (standing.isOrder ? ORDER : PREFERENCE)}, ${standing && JSON.stringify(standing.passages)},
        ${isPerson(trust) ? null : trust}, ${createdAt > now ? now : null},
        ${isInline(body) || role === null ? null : JSON.stringify(document)}, ${body.subarray(0, PART)})`;
    for (let start = PART; start < body.byteLength; start += PART)
      this.sql.run`
        INSERT INTO message_parts (position, part, body)
        VALUES (${position}, ${start / PART}, ${body.subarray(start, start + PART)})`;
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
    const [first, last] = this.#tombstones.staying(range);
    const rows = inSlices<Row>(limit, (before) => {
      const from = before !== undefined && !newest ? before[0] + 1 : first;
      const to = before !== undefined && newest ? before[0] - 1 : last;
      return this.sql.lists`
        SELECT position, ${BODY}, created_at FROM messages WHERE position BETWEEN ${from} AND ${to}
          AND ${role === undefined ? raw("TRUE") : ofRole(role, [from, to])}
          AND ${hiddenIn === null ? raw("TRUE") : part`NOT ${hides(hiddenIn, SEQ)}`}
        ORDER BY position ${raw(newest ? "DESC" : "ASC")} LIMIT ${limit}`;
    });
    for (const [position, body, createdAt] of rows)
      yield { seq: seqOf(position), body: this.#body(position, body), createdAt };
  }

  /** True if a message is marked: it holds an instruction or a preference of its user. */
  isStanding(position: number): boolean {
    return this.sql.has`SELECT 1 FROM messages WHERE position = ${position} AND standing IS NOT NULL`;
  }

  /** The time since when a person or a backend has said it: no later than its append. Null if a model, a tool or an import has. */
  saidByPersonAt(position: number): number | null {
    const [at] = this.sql.column<number>`
      SELECT COALESCE(appended_at, created_at) FROM messages WHERE position = ${position} AND trust IS NULL`;
    return at ?? null;
  }

  has(position: number): boolean {
    return this.sql.has`SELECT 1 FROM messages WHERE position = ${position} AND ${STAYS}`;
  }

  /** The positions among these that have a message. */
  present(positions: readonly number[]): Set<number> {
    return new Set(
      this.sql.column<number>`
        SELECT position FROM messages
        WHERE position IN (SELECT value FROM json_each(${JSON.stringify(positions)})) AND ${STAYS}`,
    );
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
    return this.sql.value`SELECT COUNT(*) FROM messages WHERE position BETWEEN ${from} AND ${to}`;
  }

  delete([from, to]: PositionRange): void {
    // A longer range frees nearly all its pages whole, and an erasure overwrites those.
    if (from === to)
      for (const [table, columns] of TEXTS)
        this.sql.run`UPDATE ${raw(table)} SET ${raw(zeroedColumns(columns))} WHERE position = ${from}`;
    this.sql.run`DELETE FROM messages WHERE position BETWEEN ${from} AND ${to}`;
    this.#deleted += this.sql.value<number>`SELECT changes()`;
    this.sql.run`DELETE FROM message_parts WHERE position BETWEEN ${from} AND ${to}`;
  }

  /** The position of the nth message of a range, with or without a tombstone; null if it has fewer. */
  nth(n: number, [from, to]: PositionRange): number | null {
    const [position] = this.sql.column<number>`
      SELECT position FROM messages WHERE position BETWEEN ${from} AND ${to} ORDER BY position LIMIT 1 OFFSET ${n - 1}`;
    return position ?? null;
  }

  /** True if there are rows of a range, with or without a tombstone. */
  holds([from, to]: PositionRange): boolean {
    return TEXTS.some(
      ([table]) => this.sql.has`SELECT 1 FROM ${raw(table)} WHERE position BETWEEN ${from} AND ${to} LIMIT 1`,
    );
  }

  /** The number of deleted messages since the object is awake. */
  get deleted(): number {
    return this.#deleted;
  }

  #body(position: number, short: ArrayBuffer | null): Uint8Array {
    if (short !== null) return new Uint8Array(short);
    const body = this.sql.value<ArrayBuffer>`SELECT body FROM messages WHERE position = ${position}`;
    if (body.byteLength < PART) return new Uint8Array(body);
    const further = this.sql.column<ArrayBuffer>`
      SELECT body FROM message_parts WHERE position = ${position} ORDER BY part`;
    return concatBytes([body, ...further].map((piece) => new Uint8Array(piece)));
  }
}
