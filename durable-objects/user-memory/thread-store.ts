import { limits } from "../../src/limits.ts";
import type { CreateThreadBody, Thread } from "../../src/schema/thread.ts";

/**
 * A message's position is `thread number × 2^31 + seq`: one integer key, so that an append writes one row and
 * a thread is one range. Room for 4 million threads of 2 billion messages each within the 2^53 that JSON and
 * JavaScript count exactly.
 */
const SLOTS = 2 ** 31;
/** The least position of any message; all below is free for other documents of the search index. */
export const FIRST_POSITION = SLOTS;
export const seqOf = (position: number): number => position % SLOTS;
const threadNumberOf = (position: number): number => Math.floor(position / SLOTS);

/** Bytes of a message that one row holds; a row of SQLite takes 2 MB. */
const PIECE = 1024 * 1024;

export type StoredThread = Omit<Thread, "userId"> & { n: number };
/** `body` is the message as JSON in UTF-8. */
export type StoredMessage = { seq: number; body: Uint8Array; createdAt: number };
export type MessagePage = { items: StoredMessage[]; more: boolean };
export type ThreadPage = { agent?: string; after?: readonly [updatedAt: number, n: number]; limit: number };
export type MessagesQuery = { order: "newest" | "oldest"; from?: number; limit: number };

type ThreadRow = {
  n: number;
  id: string;
  title: string;
  agent: string | null;
  resource_slug: string | null;
  record_id: string | null;
  metadata: string | null;
  length: number;
  last_seq: number;
  created_at: number;
  updated_at: number;
};
type MessageRow = { position: number; body: ArrayBuffer; created_at: number };

/** Conversations in the object's SQLite. Owns the SQL of `threads`, `messages` and `message_pieces`. */
export class ThreadStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(id: string, fields: CreateThreadBody, now: number): StoredThread {
    const row = this.#sql
      .exec<ThreadRow>(
        `INSERT INTO threads (id, title, agent, resource_slug, record_id, metadata, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) RETURNING *`,
        id,
        fields.title ?? "New conversation",
        fields.agent ?? null,
        fields.resourceSlug ?? null,
        fields.recordId ?? null,
        fields.metadata === undefined ? null : JSON.stringify(fields.metadata),
        now,
      )
      .one();
    return threadOf(row);
  }

  get(id: string): StoredThread | null {
    const [row] = this.#sql.exec<ThreadRow>("SELECT * FROM threads WHERE id = ?", id).toArray();
    return row === undefined ? null : threadOf(row);
  }

  /** Newest update first, ties in the order of creation. */
  list({ agent, after, limit }: ThreadPage): StoredThread[] {
    const [updatedAt = null, n = null] = after ?? [];
    return this.#sql
      .exec<ThreadRow>(
        `SELECT * FROM threads
         WHERE (?1 IS NULL OR agent = ?1)
           AND (?2 IS NULL OR updated_at < ?2 OR (updated_at = ?2 AND n > ?3))
         ORDER BY updated_at DESC, n LIMIT ?4`,
        agent ?? null,
        updatedAt,
        n,
        limit,
      )
      .toArray()
      .map(threadOf);
  }

  /** Appends in order and answers the positions; an append of nothing touches `updatedAt` too. */
  append(thread: StoredThread, bodies: readonly Uint8Array[], now: number): number[] {
    const { last_seq: last } = this.#sql
      .exec<{ last_seq: number }>(
        `UPDATE threads SET length = length + ?2, last_seq = last_seq + ?2, updated_at = MAX(updated_at, ?3)
         WHERE n = ?1 RETURNING last_seq`,
        thread.n,
        bodies.length,
        now,
      )
      .one();
    const first = thread.n * SLOTS + last - bodies.length + 1;
    for (const [i, body] of bodies.entries()) this.#write(first + i, body, now);
    return bodies.map((_, i) => first + i);
  }

  /**
   * A page of messages, always in the order of the conversation: with `newest` the last ones before `from`,
   * with `oldest` the first ones after it. A page is cut short rather than grow past `limits.pageBytes`.
   */
  read(thread: StoredThread, { order, from, limit }: MessagesQuery): MessagePage {
    const newest = order === "newest";
    const rows = this.#sql.exec<MessageRow>(
      `SELECT position, body, created_at FROM messages WHERE position > ? AND position < ?
       ORDER BY position ${newest ? "DESC" : "ASC"}`,
      thread.n * SLOTS + (newest ? 0 : (from ?? 0)),
      thread.n * SLOTS + (newest ? (from ?? SLOTS) : SLOTS),
    );
    const items: StoredMessage[] = [];
    let bytes = 0;
    let more = false;
    for (const row of rows) {
      const body = this.#whole(row);
      bytes += body.byteLength;
      more = items.length === limit || (items.length > 0 && bytes > limits.pageBytes);
      if (more) break;
      items.push({ seq: seqOf(row.position), body, createdAt: row.created_at });
    }
    return { items: newest ? items.toReversed() : items, more };
  }

  /** Removes the thread with its messages, and answers the range of their positions, or null if it is unknown. */
  delete(id: string): readonly [from: number, to: number] | null {
    const thread = this.get(id);
    if (thread === null) return null;
    const range = positionsOf(thread);
    this.#sql.exec("DELETE FROM messages WHERE position BETWEEN ? AND ?", ...range);
    this.#sql.exec("DELETE FROM message_pieces WHERE position BETWEEN ? AND ?", ...range);
    this.#sql.exec("DELETE FROM threads WHERE n = ?", thread.n);
    return range;
  }

  /** The id of the thread that a position lies in. */
  idAt(position: number): string {
    const n = threadNumberOf(position);
    return this.#sql.exec<{ id: string }>("SELECT id FROM threads WHERE n = ?", n).one().id;
  }

  #write(position: number, body: Uint8Array, now: number): void {
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

  #whole({ position, body }: MessageRow): Uint8Array {
    if (body.byteLength < PIECE) return new Uint8Array(body);
    const further = this.#sql
      .exec<{ body: ArrayBuffer }>(
        "SELECT body FROM message_pieces WHERE position = ? ORDER BY piece",
        position,
      )
      .toArray()
      .map((row) => row.body);
    return concatenated([body, ...further]);
  }
}

function concatenated(parts: readonly ArrayBuffer[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.byteLength, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(new Uint8Array(part), start);
    start += part.byteLength;
  }
  return whole;
}

/** The positions of all messages that the thread has or can have. */
export const positionsOf = ({ n }: StoredThread): readonly [from: number, to: number] => [
  n * SLOTS,
  n * SLOTS + SLOTS - 1,
];

function threadOf(row: ThreadRow): StoredThread {
  return {
    n: row.n,
    id: row.id,
    title: row.title,
    ...(row.agent !== null && { agent: row.agent }),
    ...(row.resource_slug !== null && { resourceSlug: row.resource_slug }),
    ...(row.record_id !== null && { recordId: row.record_id }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as NonNullable<Thread["metadata"]> }),
    length: row.length,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
