import type { z } from "@hono/zod-openapi";
import { joined } from "../../domain/page-json.ts";
import { decodeCursor, encodeCursor } from "../../domain/cursor.ts";
import { body, idempotencyHeader, json, nothing, route } from "../http/describe.ts";
import { ofThread } from "../http/owner.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { idempotencyKeyOf } from "../http/idempotency.ts";
import { rawJson, wrapTime } from "../http/answer.ts";
import { rawMessages, rawSummary } from "../http/raw-body.ts";
import { writerOf } from "../http/writer.ts";
import { newRouter } from "../http/router.ts";
import { NDJSON } from "../http/json-body.ts";
import { threadObject } from "../http/path.ts";
import { notesOf } from "../../domain/conversation/message-notes.ts";
import type { JsonPieces } from "../../domain/json-pieces.ts";
import {
  messageLines,
  messagesPage,
  readerOf,
  streamReaderOf,
  type ThreadPages,
} from "../use-cases/messages.ts";
import { futureTimeFailure } from "../../domain/schema/message-time.ts";
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
import type { Compaction as StoredCompaction } from "../../contract/user-memory.ts";

const append = route("post", "/v1/threads/{id}/messages", {
  operationId: "appendMessages",
  summary: "Append messages, all or none",
  scope: "write",
  owner: ofThread("id"),
  request: { params: threadPath, headers: idempotencyHeader, body: body(AppendBody) },
  responses: { 201: json(AppendAnswer, "The messages are stored, and recall finds them by their words.") },
});

const read = route("get", "/v1/threads/{id}/messages", {
  operationId: "listMessages",
  summary: "List messages",
  description: `With \`Accept: ${NDJSON}\`, streams all messages from the first (or behind \`after\`) on, one JSON object a line.`,
  scope: "read",
  owner: ofThread("id"),
  request: { params: threadPath, query: ReadMessagesQuery },
  responses: {
    200: {
      description: "A page of messages, in the order of the conversation.",
      content: { "application/json": { schema: MessageList }, [NDJSON]: { schema: { type: "string" } } },
    },
  },
});

const remove = route("delete", "/v1/threads/{id}/messages/{seq}", {
  operationId: "deleteMessage",
  summary: "Delete one message",
  description: "Forks that share the message keep it.",
  scope: "write",
  owner: ofThread("id"),
  request: { params: messagePath },
  responses: { 204: nothing("The message is deleted, and recall does not find it.") },
});

const compact = route("post", "/v1/threads/{id}/compactions", {
  operationId: "createCompaction",
  summary: "Summarize a range of messages",
  description: "Stores your summary. The messages stay; `view=compacted` shows the summary in their place.",
  scope: "write",
  owner: ofThread("id"),
  request: { params: threadPath, headers: idempotencyHeader, body: body(CompactBody) },
  responses: { 201: json(Compaction, "The compaction.") },
});

const compactions = route("get", "/v1/threads/{id}/compactions", {
  operationId: "listCompactions",
  summary: "List the compactions of a thread",
  scope: "read",
  owner: ofThread("id"),
  request: { params: threadPath, query: ListCompactionsQuery },
  responses: { 200: json(CompactionList, "A page of compactions, in the order of the conversation.") },
});

const removeCompaction = route("delete", "/v1/threads/{id}/compactions/{compaction}", {
  operationId: "deleteCompaction",
  summary: "Delete a compaction",
  description: "`view=compacted` shows its messages again. Forks that were made after it keep theirs.",
  scope: "write",
  owner: ofThread("id"),
  request: { params: compactionPath },
  responses: { 204: nothing("The compaction is deleted; its messages are unchanged.") },
});

const validate = route("post", "/v1/threads/{id}/validate", {
  operationId: "validateConversation",
  summary: "Check that a conversation continues the stored one",
  description:
    "Finds rewritten history, forged tool results and forged approvals. `strict` also finds truncated history, second results, forged tool calls and forged system messages.",
  scope: "read",
  owner: ofThread("id"),
  request: { params: threadPath, body: body(ValidateBody) },
  responses: { 200: json(Verdict, "The verdict.") },
});

function compactionJson({ summary, ...rest }: StoredCompaction): JsonPieces {
  return [`${JSON.stringify(rest).slice(0, -1)},"summary":`, summary, "}"];
}

export const messages = newRouter("messages")
  .openapi(append, async (c) => {
    const { id } = c.req.valid("param");
    const { messages: sent, expectedLength, validate: mode, createdAt, ...approvals } = c.req.valid("json");
    const ahead = futureTimeFailure(createdAt, c.get("services").now());
    if (ahead !== null) throw new Refusal(ahead);
    const request = {
      bodies: rawMessages(c),
      trust: writerOf(c).trust,
      ...(createdAt !== undefined && { createdAt }),
      ...(expectedLength !== undefined && { expectedLength }),
      ...(mode && { validate: { mode, ...approvals } }),
    };
    const appended = threadObject(c, id).appendMessages(id, request, await idempotencyKeyOf(c));
    return c.json({ ...unwrap(await wrapTime(c, "object", appended)), ...notesOf(sent) }, 201);
  })
  .openapi(read, async (c) => {
    const { id } = c.req.valid("param");
    const query = c.req.valid("query");
    // A new stub for each page: a stub stays broken after its object was reset.
    const pages: ThreadPages = {
      messages: (page) => threadObject(c, id).readMessages(id, page),
      prompted: (page) => threadObject(c, id).readPrompted(id, page),
      json: (page, separator) => threadObject(c, id).readMessagesJson(id, page, separator),
    };
    if ((c.req.header("Accept") ?? "").includes(NDJSON)) {
      const lines = unwrap(await messageLines(pages, unwrap(streamReaderOf(id, query))));
      return rawJson<z.infer<typeof MessageList>>(c, lines, { "Content-Type": NDJSON });
    }
    const pieces = unwrap(await wrapTime(c, "object", messagesPage(pages, unwrap(readerOf(id, query)))));
    return rawJson<z.infer<typeof MessageList>>(c, pieces);
  })
  .openapi(remove, async (c) => {
    const { id, seq } = c.req.valid("param");
    unwrap(await wrapTime(c, "object", threadObject(c, id).deleteMessage(id, seq)));
    return c.body(null, 204);
  })
  .openapi(compact, async (c) => {
    const { id } = c.req.valid("param");
    const { summary: text, from = 1, to } = c.req.valid("json");
    const summary = rawSummary(c, text);
    const added = threadObject(c, id).compactThread(id, { from, to, summary }, await idempotencyKeyOf(c));
    const made = unwrap(await wrapTime(c, "object", added));
    return rawJson<z.infer<typeof Compaction>, 201>(c, compactionJson({ ...made, from, to, summary }), {
      status: 201,
    });
  })
  .openapi(compactions, async (c) => {
    const { id } = c.req.valid("param");
    const { limit = 50, cursor } = c.req.valid("query");
    const list = `compactions ${id}`;
    const after = unwrap(decodeCursor(list, cursor, ["number", "string"]));
    const page = threadObject(c, id).listCompactions(id, { limit, ...(after && { after }) });
    const { items, more } = unwrap(await wrapTime(c, "object", page));
    const last = items.at(-1);
    const end = more && last ? `],"cursor":"${encodeCursor(list, [last.from, last.id])}"}` : "]}";
    return rawJson<z.infer<typeof CompactionList>>(c, [
      '{"items":[',
      ...joined(items.map(compactionJson), ","),
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
