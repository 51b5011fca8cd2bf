import type {
  MessagePage,
  MessagesQuery,
  ReadMessage,
} from "../../durable-objects/user-memory/thread-reader.ts";
import { sanitizeConversation } from "../conversation/sanitize.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import { type Detail, fail, ok, type Result } from "../errors.ts";
import { inUtf8, type JsonPieces } from "../json-pieces.ts";
import { limits } from "../limits.ts";
import type { Message, ReadMessagesQuery } from "../schema/thread.ts";

/** How a thread is to be read: the object's query, and what is done to its pages here. */
export type Reader = { query: MessagesQuery; sanitized: boolean };
type FetchPage = (query: MessagesQuery) => Promise<Result<MessagePage>>;

/** What a request's query asks for, or what is wrong with it. */
export function readerOf({
  order = "newest",
  before,
  after,
  view = "raw",
  limit = 50,
  cursor,
}: ReadMessagesQuery): Result<Reader> {
  const misplaced = order === "newest" ? after : before;
  if (misplaced !== undefined)
    return wrong(order === "newest" ? "query.after" : "query.before", `does not go with ${order}`);
  const from = cursor === undefined ? ok(order === "newest" ? before : after) : seqOf(cursor, order);
  if (!from.ok) return from;
  const sanitized = view === "sanitized";
  const query: MessagesQuery = {
    order,
    limit,
    view: view === "compacted" ? "compacted" : "raw",
    wholeTurns: sanitized,
    ...(from.value !== undefined && { from: from.value }),
  };
  return ok({ query, sanitized });
}

/** One page, as the JSON of a list. The messages go through in the bytes that they were stored in. */
export async function messagesPage(
  fetchPage: FetchPage,
  { query, sanitized }: Reader,
): Promise<Result<JsonPieces>> {
  const page = await fetchPage(query);
  if (!page.ok) return page;
  const { items, more } = page.value;
  const last = query.order === "newest" ? items.at(0) : items.at(-1);
  const pieces: JsonPieces = ['{"items":['];
  for (const [i, item] of shown(items, sanitized).entries())
    pieces.push(i === 0 ? "" : ",", ...piecesOf(item));
  pieces.push(more && last ? `],"cursor":"${encodeCursor([query.order, last.seq])}"}` : "]}");
  return ok(pieces);
}

/** The whole thread, a line a message. One page of it is in memory at a time. */
export async function messageLines(
  fetchPage: FetchPage,
  { query, sanitized }: Reader,
): Promise<Result<ReadableStream>> {
  const from = query.order === "oldest" ? query.from : undefined;
  const all: MessagesQuery = { ...query, order: "oldest", limit: limits.page };
  const first = await fetchPage({ ...all, ...(from !== undefined && { from }) });
  if (!first.ok) return first;
  let page: MessagePage | null = first.value;
  return ok(
    new ReadableStream({
      async pull(controller) {
        if (page === null) return controller.close();
        controller.enqueue(lines(shown(page.items, sanitized)));
        const last = page.items.at(-1);
        page = page.more && last ? await nextPage(fetchPage, { ...all, from: last.seq }) : null;
      },
    }),
  );
}

/** A failure in the middle of a stream can only break it off. */
async function nextPage(fetchPage: FetchPage, query: MessagesQuery): Promise<MessagePage> {
  const page = await fetchPage(query);
  if (!page.ok) throw new Error(`the thread could not be read on: ${page.code}`);
  return page.value;
}

function lines(items: readonly ReadMessage[]): Uint8Array {
  return inUtf8(items.flatMap((item) => [...piecesOf(item), "\n"]));
}

function piecesOf({ seq, body, createdAt, compaction }: ReadMessage): JsonPieces {
  const end = compaction === undefined ? "}" : `,"compaction":${JSON.stringify(compaction)}}`;
  return [`{"seq":${seq},"message":`, body, `,"createdAt":${createdAt}${end}`];
}

/** A symbol survives the copies that sanitising makes, and is no part of a message's JSON. */
const SOURCE = Symbol("the stored message");
type Sourced = Message & { [SOURCE]: ReadMessage };

function shown(items: readonly ReadMessage[], sanitized: boolean): readonly ReadMessage[] {
  if (!sanitized) return items;
  const messages = items.map((item) =>
    Object.assign(JSON.parse(decoder.decode(item.body)) as Message, { [SOURCE]: item }),
  );
  const kept: Sourced[] = sanitizeConversation(messages);
  const untouched = new Set<Message>(messages);
  return kept.map((message) =>
    untouched.has(message)
      ? message[SOURCE]
      : { ...message[SOURCE], body: encoder.encode(JSON.stringify(message)) },
  );
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The seq in a cursor, which goes on in the order that it was begun with. */
function seqOf(cursor: string, order: "newest" | "oldest"): Result<number> {
  const [begun, seq] = decodeCursor(cursor, ["string", "number"]) ?? [];
  if (seq === undefined) return fail("invalid_cursor");
  return begun === order
    ? ok(seq)
    : wrong("query.cursor", `was begun in another order than ${order}`, "invalid_cursor");
}

function wrong(
  path: string,
  message: string,
  code: "invalid_request" | "invalid_cursor" = "invalid_request",
) {
  const details: Detail[] = [{ path, message }];
  return fail(code, { details });
}
