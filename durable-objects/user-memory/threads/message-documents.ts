import { shownName } from "../../../src/domain/conversation/speakers.ts";
import type { Standing } from "../../../src/domain/context/standing.ts";
import { searchableText } from "../../../src/domain/memory/message-text.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import type { PositionRange } from "../core/position.ts";
import { chosenFrom, columnOf, narrowest, type SqlCondition } from "../core/sql-condition.ts";
import { notTombstoned } from "../core/tombstone-ranges.ts";
import type { Document, DocumentSource, MessageRecord } from "../search-index/documents.ts";

type DocumentRow = {
  n: number;
  createdAt: number;
  passages: string | null;
  document: string | null;
  body: ArrayBuffer | null;
};
type StoredDocument = MessageRecord & { text: string };

/** The messages at the positions in a JSON array. */
const CHOSEN = chosenFrom("messages", "position");

/** Messages as documents of recall: by condition, by time, and those with standing instructions. Reads the rows of `MessageStore`. */
export class MessageDocuments implements DocumentSource {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  documents(positions: readonly number[]): Document[] {
    return this.#documents(`${CHOSEN} WHERE role IS NOT NULL`, JSON.stringify(positions));
  }

  newest({ sql, bindings }: SqlCondition, limit: number, offset: number): Document[] {
    const order = "ORDER BY created_at DESC, position DESC LIMIT ? OFFSET ?";
    return this.#documents(`messages WHERE role IS NOT NULL AND ${sql} ${order}`, ...bindings, limit, offset);
  }

  /** The messages with standing instructions, then those with preferences alone, the newest first. */
  standing(limit: number, offset: number): Document[] {
    const source = `messages INDEXED BY messages_standing
      WHERE standing IS NOT NULL AND ${notTombstoned("position")}
      ORDER BY standing DESC, created_at DESC, position DESC LIMIT ? OFFSET ?`;
    return this.#documents(source, limit, offset);
  }

  /** The positions of the newest messages with standing instructions, then of those with preferences alone. */
  standingPositions(limit: number): number[] {
    return columnOf(
      this.#sql,
      `SELECT position FROM messages INDEXED BY messages_standing
       WHERE standing IS NOT NULL AND ${notTombstoned("position")} ORDER BY standing DESC, created_at DESC LIMIT ?`,
      limit,
    );
  }

  /** The messages with a text that meet a condition over the columns of `messages`. Looks at each. */
  where({ sql, bindings }: SqlCondition): number[] {
    return columnOf(
      this.#sql,
      `SELECT position FROM messages WHERE role IS NOT NULL AND ${sql}`,
      ...bindings,
    );
  }

  /** Returns the messages among these that have a text and meet a condition. */
  among(positions: readonly number[], { sql, bindings }: SqlCondition): number[] {
    if (positions.length === 0) return [];
    return columnOf(
      this.#sql,
      `SELECT position FROM ${CHOSEN} WHERE role IS NOT NULL AND ${sql}`,
      JSON.stringify(positions),
      ...bindings,
    );
  }

  /** The messages of a range and a time that meet a condition, if at most `most` are of the range or the time; null otherwise. */
  few(
    {
      ranges,
      from,
      to,
    }: { ranges: readonly PositionRange[] | undefined; from: number | undefined; to: number | undefined },
    { sql, bindings }: SqlCondition,
    most: number,
  ): number[] | null {
    const narrows: SqlCondition[] = [];
    if (ranges !== undefined)
      narrows.push({
        sql: `SELECT position AS narrow FROM json_each(?) AS range CROSS JOIN messages
              ON position BETWEEN range.value ->> 0 AND range.value ->> 1`,
        bindings: [JSON.stringify(ranges)],
      });
    if ((from ?? to) !== undefined)
      narrows.push({
        sql: `SELECT position AS narrow FROM messages INDEXED BY messages_by_time
              WHERE role IS NOT NULL AND created_at BETWEEN ? AND ?`,
        bindings: [from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER],
      });
    const narrow = narrowest(this.#sql, narrows, most);
    return (
      narrow &&
      columnOf(
        this.#sql,
        `SELECT position FROM (${narrow.sql}) CROSS JOIN messages ON position = narrow WHERE role IS NOT NULL AND ${sql}`,
        ...narrow.bindings,
        ...bindings,
      )
    );
  }

  #documents(source: string, ...bindings: (string | number)[]): Document[] {
    return this.#sql
      .exec<DocumentRow>(
        `SELECT position AS n, created_at AS "createdAt", passages, document,
           IIF(document IS NULL, body, NULL) AS body
         FROM ${source}`,
        ...bindings,
      )
      .toArray()
      .map(({ n, createdAt, passages, document, body }) => {
        const { text, ...message } =
          body === null
            ? (JSON.parse(document ?? "") as StoredDocument)
            : documentOf(parsed(new Uint8Array(body)));
        const marked = passages !== null && { standing: JSON.parse(passages) as Standing["passages"] };
        return { n, kind: "message", text, createdAt, importance: null, message, ...marked };
      });
  }

  inTime({ from, to }: { from: number; to: number }, limit: number): number[] {
    return columnOf(
      this.#sql,
      `SELECT position FROM messages INDEXED BY messages_by_time
       WHERE role IS NOT NULL AND created_at >= ? AND created_at < ? ORDER BY created_at DESC, position DESC LIMIT ?`,
      from,
      to,
      limit,
    );
  }
}

const decoder = new TextDecoder();

/** A stored message. */
export const parsed = (body: Uint8Array): Message => JSON.parse(decoder.decode(body)) as Message;

/** The part of a message that recall reads. */
export function documentOf(message: Message): StoredDocument {
  const { text, cut } = searchableText(message);
  const name = shownName(message);
  return { text, role: message.role, ...(name !== null && { name }), ...(cut && { cut }) };
}
