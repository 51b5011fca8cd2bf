import { shownName } from "../../../src/domain/conversation/speakers.ts";
import type { Instructions } from "../../../src/domain/context/instructions.ts";
import { searchableText } from "../../../src/domain/memory/message-text.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import { part, raw, SqlStore, type SqlPart } from "../../storage/sql.ts";
import type { PositionRange } from "../core/position.ts";
import { chosenFrom, narrowest } from "../core/sql-condition.ts";
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

/** The messages at these positions. */
const chosen = (positions: readonly number[]) => chosenFrom("messages", "position", positions);
/** The messages with standing instructions or preferences. */
const STANDING = raw(`messages INDEXED BY messages_standing
  WHERE standing IS NOT NULL AND ${notTombstoned("position")}`);
const NEWEST = raw("created_at DESC, position DESC");

/** Messages as documents of recall: by condition, by time, and those with standing instructions. Reads the rows of `MessageStore`. */
export class MessageDocuments extends SqlStore implements DocumentSource {
  documents(positions: readonly number[]): Document[] {
    return this.#documents(part`${chosen(positions)} WHERE role IS NOT NULL`);
  }

  newest(condition: SqlPart, limit: number, offset: number): Document[] {
    return this.#documents(part`
      messages WHERE role IS NOT NULL AND ${condition} ORDER BY ${NEWEST} LIMIT ${limit} OFFSET ${offset}`);
  }

  /** The messages with standing instructions, then those with preferences alone, the newest first. */
  standing(limit: number, offset: number): Document[] {
    return this.#documents(part`
      ${STANDING} ORDER BY standing DESC, ${NEWEST} LIMIT ${limit} OFFSET ${offset}`);
  }

  /** The positions of the newest messages with standing instructions, then of those with preferences alone. */
  standingPositions(limit: number): number[] {
    return this.sql.column`
      SELECT position FROM ${STANDING} ORDER BY standing DESC, created_at DESC LIMIT ${limit}`;
  }

  /** The messages with a text that meet a condition over the columns of `messages`. Looks at each. */
  where(condition: SqlPart): number[] {
    return this.sql.column`SELECT position FROM messages WHERE role IS NOT NULL AND ${condition}`;
  }

  /** Returns the messages among these that have a text and meet a condition. */
  among(positions: readonly number[], condition: SqlPart): number[] {
    if (positions.length === 0) return [];
    return this.sql.column`
      SELECT position FROM ${chosen(positions)} WHERE role IS NOT NULL AND ${condition}`;
  }

  /** The messages of a range and a time that meet a condition, if at most `most` are of the range or the time; null otherwise. */
  few(
    {
      ranges,
      from,
      to,
    }: { ranges: readonly PositionRange[] | undefined; from: number | undefined; to: number | undefined },
    condition: SqlPart,
    most: number,
  ): number[] | null {
    const narrows: SqlPart[] = [];
    if (ranges !== undefined)
      narrows.push(part`
        SELECT position AS narrow FROM json_each(${JSON.stringify(ranges)}) AS range CROSS JOIN messages
          ON position BETWEEN range.value ->> 0 AND range.value ->> 1`);
    if ((from ?? to) !== undefined)
      narrows.push(part`
        SELECT position AS narrow FROM messages INDEXED BY messages_by_time
        WHERE role IS NOT NULL
          AND created_at BETWEEN ${from ?? Number.MIN_SAFE_INTEGER} AND ${to ?? Number.MAX_SAFE_INTEGER}`);
    const narrow = narrowest(this.sql.storage, narrows, most);
    if (narrow === null) return null;
    return this.sql.column`
      SELECT position FROM (${narrow}) CROSS JOIN messages ON position = narrow
      WHERE role IS NOT NULL AND ${condition}`;
  }

  inTime({ from, to }: { from: number; to: number }, limit: number): number[] {
    return this.sql.column`
      SELECT position FROM messages INDEXED BY messages_by_time
      WHERE role IS NOT NULL AND created_at >= ${from} AND created_at < ${to} ORDER BY ${NEWEST} LIMIT ${limit}`;
  }

  #documents(source: SqlPart): Document[] {
    const rows = this.sql.rows<DocumentRow>`
      SELECT position AS n, created_at AS "createdAt", passages, document,
        IIF(document IS NULL, body, NULL) AS body
      FROM ${source}`;
    return rows.map(({ n, createdAt, passages, document, body }) => {
      const { text, ...message } =
        body === null
          ? (JSON.parse(document ?? "") as StoredDocument)
          : documentOf(parsed(new Uint8Array(body)));
      const marked = passages !== null && { standing: JSON.parse(passages) as Instructions["passages"] };
      return { n, kind: "message", text, createdAt, importance: null, message, ...marked };
    });
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
