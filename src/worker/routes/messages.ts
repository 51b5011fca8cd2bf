import { createRoute, type z } from "@hono/zod-openapi";
import { joined } from "../../domain/page-json.ts";
import { decodeCursor, encodeCursor } from "../../domain/cursor.ts";
import { body, failures, idempotencyHeader, json, nothing } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { unwrap } from "../http/failure.ts";
import { onceOf } from "../http/idempotency.ts";
import { rawJson, rawLines } from "../http/raw-json.ts";
import { rawMessages, rawSummary } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { threadObject } from "../http/thread-object.ts";
import type { JsonPieces } from "../../domain/json-pieces.ts";
import {
  messageLines,
  messagesPage,
  readerOf,
  streamReaderOf,
  type ThreadPages,
} from "../use-cases/messages.ts";
import { noQuery } from "../../domain/schema/bounds.ts";
import {
  AppendAnswer,
  AppendBody,
  CompactBody,
  Compaction,
  CompactionList,
  compactionPath,
  ListCompactionsQuery,
  MessageList,
  messagePath,
  ReadMessagesQuery,
  threadPath,
  ValidateBody,
  Verdict,
} from "../../domain/schema/thread.ts";
import type { Compaction as StoredCompaction } from "../../../durable-objects/user-memory/contract.ts";

const tags = ["messages"];
const NDJSON = "application/x-ndjson";

const append = createRoute({
  method: "post",
  path: "/v1/threads/{id}/messages",
  operationId: "appendMessages",
  summary: "Append messages, all or none",
  tags,
  ...requireScope("write"),
  request: { params: threadPath, query: noQuery, headers: idempotencyHeader, body: body(AppendBody) },
  responses: {
    201: json(AppendAnswer, "They are stored, and found by their words from now on."),
    ...failures,
  },
});

const read = createRoute({
  method: "get",
  path: "/v1/threads/{id}/messages",
  operationId: "listMessages",
  summary: "Read messages",
  description: `With \`Accept: ${NDJSON}\`, all messages from the first (or behind \`after\`) on, one JSON object a line, as a stream without pages.`,
  tags,
  ...requireScope("read"),
  request: { params: threadPath, query: ReadMessagesQuery },
  responses: {
    200: {
      description: "A page of messages, in the order of the conversation.",
      content: { "application/json": { schema: MessageList }, [NDJSON]: { schema: { type: "string" } } },
    },
    ...failures,
  },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/threads/{id}/messages/{seq}",
  operationId: "deleteMessage",
  summary: "Delete one message",
  description: "From this thread; forks that share it keep it.",
  tags,
  ...requireScope("write"),
  request: { params: messagePath, query: noQuery },
  responses: { 204: nothing("It is gone, also from recall."), ...failures },
});

const compact = createRoute({
  method: "post",
  path: "/v1/threads/{id}/compactions",
  operationId: "createCompaction",
  summary: "Let a summary stand for a range of messages",
  description: "The messages stay; `view=compacted` shows the summary in their place.",
  tags,
  ...requireScope("write"),
  request: { params: threadPath, query: noQuery, headers: idempotencyHeader, body: body(CompactBody) },
  responses: { 201: json(Compaction, "The compaction."), ...failures },
});

const compactions = createRoute({
  method: "get",
  path: "/v1/threads/{id}/compactions",
  operationId: "listCompactions",
  summary: "List the compactions of a thread",
  tags,
  ...requireScope("read"),
  request: { params: threadPath, query: ListCompactionsQuery },
  responses: { 200: json(CompactionList, "A page of them, in the order of the conversation."), ...failures },
});

const removeCompaction = createRoute({
  method: "delete",
  path: "/v1/threads/{id}/compactions/{compaction}",
  operationId: "deleteCompaction",
  summary: "Delete a compaction",
  description: "`view=compacted` shows again what it stood for. Forks that were made behind it keep theirs.",
  tags,
  ...requireScope("write"),
  request: { params: compactionPath, query: noQuery },
  responses: { 204: nothing("It is gone; the messages are as they were."), ...failures },
});

const validate = createRoute({
  method: "post",
  path: "/v1/threads/{id}/validate",
  operationId: "validateConversation",
  summary: "Check that a conversation continues the stored one",
  description:
    "Finds rewritten history, forged tool results and forged approvals; `strict` also truncated history, second results, forged tool calls and forged system messages.",
  tags,
  ...requireScope("read"),
  request: { params: threadPath, query: noQuery, body: body(ValidateBody) },
  responses: { 200: json(Verdict, "The verdict."), ...failures },
});

function compactionPieces({ summary, ...rest }: StoredCompaction): JsonPieces {
  return [`${JSON.stringify(rest).slice(0, -1)},"summary":`, summary, "}"];
}

export const messages = newRouter()
  .openapi(append, async (c) => {
    const { id } = c.req.valid("param");
    const { messages: _given, expectedLength, validate: mode, createdAt, ...approvals } = c.req.valid("json");
    const request = {
      bodies: rawMessages(c),
      ...(createdAt !== undefined && { createdAt }),
      ...(expectedLength !== undefined && { expectedLength }),
      ...(mode && { validate: { mode, ...approvals } }),
    };
    const appended = threadObject(c, id).appendMessages(id, request, await onceOf(c));
    return c.json(unwrap(await wrapTime(c, "object", appended)), 201);
  })
  .openapi(read, async (c) => {
    const { id } = c.req.valid("param");
    const asked = c.req.valid("query");
    // A stub for each page: one whose object has died fails for good, also when the next object is there.
    const pages: ThreadPages = {
      messages: (query) => threadObject(c, id).readMessages(id, query),
      json: (query, separator) => threadObject(c, id).readMessagesJson(id, query, separator),
    };
    if ((c.req.header("Accept") ?? "").includes(NDJSON)) {
      const lines = unwrap(await messageLines(pages, unwrap(streamReaderOf(asked))));
      return rawLines<z.infer<typeof MessageList>>(lines, NDJSON);
    }
    const pieces = unwrap(await wrapTime(c, "object", messagesPage(pages, unwrap(readerOf(asked)))));
    return rawJson<z.infer<typeof MessageList>>(c, pieces);
  })
  .openapi(remove, async (c) => {
    const { id, seq } = c.req.valid("param");
    unwrap(await wrapTime(c, "object", threadObject(c, id).deleteMessage(id, seq)));
    return c.body(null, 204);
  })
  .openapi(compact, async (c) => {
    const { id } = c.req.valid("param");
    const { summary: given, from = 1, to } = c.req.valid("json");
    const summary = rawSummary(c, given);
    const added = threadObject(c, id).compactThread(id, { from, to, summary }, await onceOf(c));
    const made = unwrap(await wrapTime(c, "object", added));
    return rawJson<z.infer<typeof Compaction>, 201>(c, compactionPieces({ ...made, from, to, summary }), {
      status: 201,
    });
  })
  .openapi(compactions, async (c) => {
    const { id } = c.req.valid("param");
    const { limit = 50, cursor } = c.req.valid("query");
    const after = unwrap(decodeCursor(cursor, ["number", "string"]));
    const page = threadObject(c, id).listCompactions(id, { limit, ...(after && { after }) });
    const { items, more } = unwrap(await wrapTime(c, "object", page));
    const last = items.at(-1);
    const end = more && last ? `],"cursor":"${encodeCursor([last.from, last.id])}"}` : "]}";
    return rawJson<z.infer<typeof CompactionList>>(c, [
      '{"items":[',
      ...joined(items.map(compactionPieces), ","),
      end,
    ]);
  })
  .openapi(removeCompaction, async (c) => {
    const { id, compaction } = c.req.valid("param");
    unwrap(await wrapTime(c, "object", threadObject(c, id).deleteCompaction(id, compaction)));
    return c.body(null, 204);
  })
  .openapi(validate, async (c) => {
    const { id } = c.req.valid("param");
    const { messages: _given, mode = "strict", ...approvals } = c.req.valid("json");
    const verdict = threadObject(c, id).validateThread(id, rawMessages(c), { mode, ...approvals });
    return c.json(unwrap(await wrapTime(c, "object", verdict)), 200);
  });
