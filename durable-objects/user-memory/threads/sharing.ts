import { CHAIN } from "./lineage.ts";
import type { MessageStore } from "./message-store.ts";
import { LAST_SEQ, positionOf, type PositionRange, seqOf, SLOTS, threadNumberOf } from "../core/position.ts";
import type { StoredThread } from "./thread-store.ts";

/** The thread ?1 and its forks, and theirs, that share its message with seq ?2. */
const FAMILY = `
  WITH RECURSIVE family (n) AS (
    SELECT ?1
    UNION ALL
    SELECT threads.n FROM family CROSS JOIN threads ON parent = family.n AND fork_seq >= ?2
  )`;

/**
 * Who still has what: lets messages and threads go, as far as no other thread shares them. Writes `hidden_messages`,
 * which are shared messages that were deleted from some of the threads that share them; from all, and they are gone. The row
 * of a fork stays then, with the negative of the position: an export that has told of the message before tells of that too.
 */
export class Sharing {
  readonly #sql: SqlStorage;
  readonly #messages: MessageStore;

  constructor(sql: SqlStorage, messages: MessageStore) {
    this.#sql = sql;
    this.#messages = messages;
  }

  /** Lets a fork begin with what its origin has hidden. */
  inheritHidden(fork: StoredThread, origin: StoredThread): void {
    this.#sql.exec(
      `INSERT INTO hidden_messages (thread, seq, position)
       SELECT ?, seq, position FROM hidden_messages WHERE thread = ? AND seq <= ? AND position > 0`,
      fork.n,
      origin.n,
      fork.forkSeq,
    );
  }

  /** Takes a message out of one thread. Answers the positions that are gone for all. */
  deleteMessage(thread: StoredThread, position: number): PositionRange[] {
    const seq = seqOf(position);
    if (threadNumberOf(position) === thread.n && (this.#sharedUpTo(thread.n) ?? 0) < seq) {
      this.#messages.delete([position, position]);
      return [[position, position]];
    }
    this.hide(thread, position);
    return this.#releaseUnseen([position]);
  }

  /** Notes that a thread does not show a message, which others do, or did (`gone`). */
  hide({ n }: StoredThread, position: number, gone: "gone" | null = null): void {
    this.#sql.exec(
      "INSERT INTO hidden_messages (thread, seq, position) VALUES (?, ?, ?)",
      n,
      seqOf(position),
      gone === null ? position : -position,
    );
  }

  /** The same for a message that has just come in, and for the forks that were made before it came. */
  hideWithForks({ n }: StoredThread, position: number): void {
    const showing = `n IN (SELECT n FROM family)
      AND NOT EXISTS (SELECT 1 FROM hidden_messages WHERE thread = threads.n AND seq = ?2)`;
    const seq = seqOf(position);
    this.#sql.exec(`${FAMILY} UPDATE threads SET length = length - 1 WHERE ${showing}`, n, seq);
    this.#sql.exec(
      `${FAMILY} INSERT INTO hidden_messages (thread, seq, position) SELECT n, ?2, ?3 FROM threads WHERE ${showing}`,
      n,
      seq,
      position,
    );
  }

  /**
   * Takes a thread away, except for what its forks share. Answers the positions that are gone for all: `removed` are those of
   * single messages, and `left` is what the caller is to take out of sight.
   */
  deleteThread({ n }: StoredThread): { removed: PositionRange[]; left: PositionRange[] } {
    const hiddenElsewhere = this.#hiddenElsewhere(n);
    this.#sql.exec("DELETE FROM hidden_messages WHERE thread = ?", n);
    // What stays of it for its forks is its place in their line, and nothing that was said of it.
    this.#sql.exec(
      `UPDATE threads SET deleted = 1, title = '', agent = NULL, resource_slug = NULL, record_id = NULL,
         metadata = NULL
       WHERE n = ?`,
      n,
    );
    const left = this.#collect(n);
    return { left, removed: this.#releaseUnseen(hiddenElsewhere) };
  }

  /** The id of a live thread that has the message at this position, or null. */
  holder(position: number): string | null {
    const [holder] = this.#sql.exec<{ id: string }>(
      `${FAMILY} SELECT id FROM family CROSS JOIN threads ON threads.n = family.n
       WHERE deleted = 0 AND NOT EXISTS (SELECT 1 FROM hidden_messages WHERE thread = family.n AND seq = ?2)
       LIMIT 1`,
      threadNumberOf(position),
      seqOf(position),
    );
    return holder?.id ?? null;
  }

  /** A message has come back to this position: all who show it are longer, and who hid it before does. */
  lengthen(position: number): void {
    this.#sql.exec("UPDATE hidden_messages SET position = -position WHERE position = ?", -position);
    this.#sql.exec(
      `${FAMILY} UPDATE threads SET length = length + 1
       WHERE n IN (SELECT n FROM family) AND NOT EXISTS (SELECT 1 FROM hidden_messages WHERE thread = threads.n AND seq = ?2)`,
      threadNumberOf(position),
      seqOf(position),
    );
  }

  /** What of a thread's messages is hidden in others: all that it can have been the last to show. */
  #hiddenElsewhere(n: number): number[] {
    const rows = this.#sql.exec<{ position: number }>(
      `${CHAIN} SELECT DISTINCT position FROM chain CROSS JOIN hidden_messages
         ON position BETWEEN chain.n * ${SLOTS} + fork_seq + 1 AND chain.n * ${SLOTS} + last
       WHERE fork_seq < last AND thread <> ?1`,
      n,
      1,
      LAST_SEQ,
    );
    return rows.toArray().map(({ position }) => position);
  }

  /** Removes the messages among these that no thread shows any more. */
  #releaseUnseen(positions: readonly number[]): PositionRange[] {
    const unseen = positions.filter((position) => this.holder(position) === null);
    return unseen.map((position): PositionRange => {
      this.#messages.delete([position, position]);
      const owner = threadNumberOf(position);
      this.#sql.exec("DELETE FROM hidden_messages WHERE position = ? AND thread = ?", position, owner);
      this.#sql.exec("UPDATE hidden_messages SET position = -position WHERE position = ?", position);
      return [position, position];
    });
  }

  /** What nobody shares of a deleted thread, and then of the deleted threads before it, which go with that. */
  #collect(first: number): PositionRange[] {
    const gone: PositionRange[] = [];
    for (let n: number | null = first; n !== null;) {
      const thread = this.#deleted(n);
      if (thread === null) break;
      const shared = this.#sharedUpTo(n);
      gone.push([positionOf(n, (shared ?? 0) + 1), positionOf(n, LAST_SEQ)]);
      if (shared !== null) break;
      this.#sql.exec("DELETE FROM threads WHERE n = ?", n);
      n = thread.parent;
    }
    return gone;
  }

  #deleted(n: number): { parent: number | null } | null {
    const rows = this.#sql.exec<{ parent: number | null }>(
      "SELECT parent FROM threads WHERE n = ? AND deleted = 1",
      n,
    );
    return rows.toArray()[0] ?? null;
  }

  /** The last seq of a thread's own that a fork shares; null if there is no fork. */
  #sharedUpTo(n: number): number | null {
    return this.#sql
      .exec<{ last: number | null }>("SELECT MAX(fork_seq) AS last FROM threads WHERE parent = ?", n)
      .one().last;
  }
}
