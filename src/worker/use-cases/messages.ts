import { type MessagePage, messagesJson, type PageJson, type ReadMessage } from "../../domain/page-json.ts";
import { sanitizeConversation } from "../../domain/conversation/sanitize.ts";
import { decodeCursor, encodeCursor } from "../../domain/cursor.ts";
import { type Failure, fail, ok, type Result, invalidField } from "../../domain/errors.ts";
import { inUtf8, type JsonPieces } from "../../domain/json-pieces.ts";
import { limits } from "../../domain/limits.ts";
import type { Message, ReadMessagesQuery } from "../../domain/schema/thread.ts";
import { readableFromGenerator } from "../../platform/readable-from-generator.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";
import type { MessagesQuery } from "../../contract/user-memory.ts";
import { promptedMessage } from "./prompted-message.ts";

/**
 * A read of a thread: the object's query, whether its pages have the blocks of their prompts, and are sanitized here. `list`: the
 * name in its cursors.
 */
type Reader = { list: string; query: MessagesQuery; sanitized: boolean; prompted: boolean };
/** The object's ways to read a page: as messages, to sanitize them here, and as JSON, which is cheaper. */
export type ThreadPages = {
  messages: (query: MessagesQuery) => Promise<Result<MessagePage>>;
  json: (query: MessagesQuery, separator: string) => Promise<Result<PageJson<number>>>;
  prompted: (query: MessagesQuery) => Promise<Result<MessagePage>>;
};

export function readerOf(
  threadId: string,
  { order = "newest", before, after, view = "raw", limit = 50, cursor }: ReadMessagesQuery,
): Result<Reader> {
  const list = `messages ${threadId}`;
  const [misplaced, path] = order === "newest" ? [after, "query.after"] : [before, "query.before"];
  if (misplaced !== undefined) return invalidField(path, `cannot be combined with the order ${order}`);
  const from = cursor === undefined ? ok(order === "newest" ? before : after) : seqOf(list, cursor, order);
  if (!from.ok) return from;
  const prompted = view === "prompted";
  const sanitized = view === "sanitized" || prompted;
  const query: MessagesQuery = {
    order,
    limit,
    view: view === "compacted" || prompted ? "compacted" : "raw",
    wholeTurns: sanitized,
    ...(from.value !== undefined && { from: from.value }),
  };
  return ok({ list, query, sanitized, prompted });
}

const notInStream = (field: string, why: string): Failure =>
  invalidField(`query.${field}`, `cannot be combined with a stream, which ${why}`);

/** The same for a stream: the whole thread, or everything behind `after`. */
export function streamReaderOf(threadId: string, query: ReadMessagesQuery): Result<Reader> {
  const { order, before, limit, cursor } = query;
  if (order === "newest") return notInStream("order", "is oldest first");
  if (before !== undefined) return notInStream("before", "is oldest first");
  if (limit !== undefined) return notInStream("limit", "has no pages");
  if (cursor !== undefined) return notInStream("cursor", "has no pages");
  return readerOf(threadId, { ...query, order: "oldest" });
}

/** One page, as the JSON of a list. The messages keep their stored bytes. */
export async function messagesPage(pages: ThreadPages, reader: Reader): Promise<Result<JsonPieces>> {
  const read = await pageJson(pages, reader, ",");
  if (!read.ok) return read;
  const { json, first, last, more } = read.value;
  const { order } = reader.query;
  const next = order === "newest" ? first : last;
  const end = more && next !== undefined ? `],"cursor":"${encodeCursor(reader.list, [order, next])}"}` : "]}";
  return ok(['{"items":[', json, end]);
}

/** Streams the thread, one line a message and one page in memory at a time. */
export async function messageLines(pages: ThreadPages, reader: Reader): Promise<Result<ReadableStream>> {
  const pageFrom = (from: number | undefined) => {
    const query = { ...reader.query, limit: limits.page, ...(from !== undefined && { from }) };
    return pageJson(pages, { ...reader, query }, "\n");
  };
  const first = await pageFrom(reader.query.from);
  return first.ok ? ok(readableFromGenerator(lines(first.value, pageFrom))) : first;
}

async function* lines(
  first: PageJson<number>,
  pageFrom: (seq: number | undefined) => Promise<Result<PageJson<number>>>,
): AsyncGenerator<Uint8Array, void> {
  for (let page = first; ;) {
    if (page.json.byteLength > 0) yield inUtf8([page.json, "\n"]);
    if (!page.more || page.last === undefined) return;
    const { last } = page;
    const next = await retryOnReset(() => pageFrom(last));
    // A failure in the middle of a stream can only break it off.
    if (!next.ok) throw new Error(`the thread could not be read on: ${next.code}`);
    page = next.value;
  }
}

async function pageJson(
  pages: ThreadPages,
  { query, sanitized, prompted }: Reader,
  separator: string,
): Promise<Result<PageJson<number>>> {
  if (!sanitized) return pages.json(query, separator);
  const page = await (prompted ? pages.prompted(query) : pages.messages(query));
  if (!page.ok) return page;
  const { items, more } = page.value;
  // The cursor counts the messages before sanitizing.
  const [first, last] = [items.at(0)?.seq, items.at(-1)?.seq];
  const { json } = messagesJson({ items: sanitize(items), more }, separator);
  return ok({ json, more, ...(first !== undefined && { first }), ...(last !== undefined && { last }) });
}

/** Survives the copies that sanitizing makes, and is not part of a message's JSON. */
const SOURCE = Symbol("the stored message");
type Sourced = Message & { [SOURCE]: ReadMessage };

function sanitize(items: readonly ReadMessage[]): ReadMessage[] {
  const messages = items.map((item) => Object.assign(promptedMessage(item), { [SOURCE]: item }));
  const sanitized: Sourced[] = sanitizeConversation(messages);
  const untouched = new Set<Message>(messages.filter((message) => message[SOURCE].block === undefined));
  return sanitized.map((message) => {
    const { block: _block, ...source } = message[SOURCE];
    return untouched.has(message) ? source : { ...source, body: encoder.encode(JSON.stringify(message)) };
  });
}

const encoder = new TextEncoder();

/** The seq in a cursor, which only fits the order of its first page. */
function seqOf(list: string, cursor: string, order: "newest" | "oldest"): Result<number | undefined> {
  const decoded = decodeCursor(list, cursor, ["string", "number"]);
  if (!decoded.ok) return decoded;
  const [begun, seq] = decoded.value ?? [];
  const details = [{ path: "query.cursor", message: `was begun in another order than ${order}` }];
  return begun === order ? ok(seq) : fail("invalid_cursor", { details });
}
