import { createRoute, type z } from "@hono/zod-openapi";
import type { UserMemory } from "../../durable-objects/user-memory.ts";
import { wrapTime } from "hono/timing";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import { fail } from "../errors.ts";
import { body, failures, json, nothing, scoped } from "../http/describe.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import type { Remote, Services } from "../services.ts";
import { type JsonPieces, rawJson } from "../http/raw-json.ts";
import { newRouter } from "../http/router.ts";
import { newThreadId, threadOwner, userHash } from "../ids.ts";
import { noQuery, userPath } from "../schema/bounds.ts";
import {
  AppendAnswer,
  AppendBody,
  CreateThreadBody,
  ListThreadsQuery,
  MessageList,
  ReadMessagesQuery,
  Thread,
  ThreadList,
  threadPath,
} from "../schema/thread.ts";

const create = createRoute({
  method: "post",
  path: "/v1/users/{user}/threads",
  summary: "Begin a thread",
  tags: ["threads"],
  ...scoped("write"),
  request: { params: userPath, query: noQuery, body: body(CreateThreadBody) },
  responses: { 201: json(Thread, "The new thread."), ...failures },
});

const list = createRoute({
  method: "get",
  path: "/v1/users/{user}/threads",
  summary: "List a user's threads, the one that was updated last first",
  tags: ["threads"],
  ...scoped("read"),
  request: { params: userPath, query: ListThreadsQuery },
  responses: { 200: json(ThreadList, "A page of threads."), ...failures },
});

const get = createRoute({
  method: "get",
  path: "/v1/threads/{id}",
  summary: "Get a thread",
  tags: ["threads"],
  ...scoped("read"),
  request: { params: threadPath, query: noQuery },
  responses: { 200: json(Thread, "The thread."), ...failures },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/threads/{id}",
  summary: "Delete a thread with its messages",
  tags: ["threads"],
  ...scoped("write"),
  request: { params: threadPath, query: noQuery },
  responses: { 204: nothing("It is gone, also from recall."), ...failures },
});

const append = createRoute({
  method: "post",
  path: "/v1/threads/{id}/messages",
  summary: "Append messages, all or none",
  tags: ["threads"],
  ...scoped("write"),
  request: { params: threadPath, query: noQuery, body: body(AppendBody) },
  responses: {
    201: json(AppendAnswer, "They are stored, and found by their words from now on."),
    ...failures,
  },
});

const read = createRoute({
  method: "get",
  path: "/v1/threads/{id}/messages",
  summary: "Read messages",
  tags: ["threads"],
  ...scoped("read"),
  request: { params: threadPath, query: ReadMessagesQuery },
  responses: { 200: json(MessageList, "A page of messages, in the order of the conversation."), ...failures },
});

const encoder = new TextEncoder();

export const threads = newRouter()
  .openapi(create, async (c) => {
    const { user } = c.req.valid("param");
    const { userMemory, now } = c.var.services;
    const owner = { hash: await userHash(user), id: user };
    const made = userMemory(owner.hash).createThread(
      owner,
      newThreadId(owner.hash, now()),
      c.req.valid("json"),
    );
    return c.json(await wrapTime(c, "object", made), 201);
  })
  .openapi(list, async (c) => {
    const { user } = c.req.valid("param");
    const { agent, limit = 50, cursor } = c.req.valid("query");
    const after = cursor === undefined ? undefined : decodeCursor(cursor, ["number", "number"]);
    if (after === null) throw new Refusal(fail("invalid_cursor"));
    const object = c.var.services.userMemory(await userHash(user));
    const page = object.listThreads({ limit, ...(agent && { agent }), ...(after && { after }) });
    const { threads: items, next } = await wrapTime(c, "object", page);
    return c.json({ items, ...(next && { cursor: encodeCursor(next) }) }, 200);
  })
  .openapi(get, async (c) => {
    const { id } = c.req.valid("param");
    return c.json(unwrap(await wrapTime(c, "object", objectOf(c.var.services, id).getThread(id))), 200);
  })
  .openapi(remove, async (c) => {
    const { id } = c.req.valid("param");
    unwrap(await wrapTime(c, "object", objectOf(c.var.services, id).deleteThread(id)));
    return c.body(null, 204);
  })
  .openapi(append, async (c) => {
    const { id } = c.req.valid("param");
    const bodies = c.req.valid("json").messages.map((message) => encoder.encode(JSON.stringify(message)));
    const appended = objectOf(c.var.services, id).appendMessages(id, bodies);
    return c.json(unwrap(await wrapTime(c, "object", appended)), 201);
  })
  .openapi(read, async (c) => {
    const { id } = c.req.valid("param");
    const { order = "newest", limit = 50, cursor } = c.req.valid("query");
    const from = cursor === undefined ? undefined : messageSeq(cursor, order);
    const page = objectOf(c.var.services, id).readMessages(id, {
      order,
      limit,
      ...(from !== undefined && { from }),
    });
    const { items, more } = unwrap(await wrapTime(c, "object", page));
    const last = order === "newest" ? items.at(0) : items.at(-1);
    const pieces: JsonPieces = ['{"items":['];
    for (const [i, { seq, body: message, createdAt }] of items.entries())
      pieces.push(`${i === 0 ? "" : ","}{"seq":${seq},"message":`, message, `,"createdAt":${createdAt}}`);
    pieces.push(more && last ? `],"cursor":"${encodeCursor([order, last.seq])}"}` : "]}");
    return rawJson<z.infer<typeof MessageList>>(c, pieces);
  });

/** The object that a thread lives in: its id says so. */
function objectOf({ userMemory }: Services, threadId: string): Remote<UserMemory> {
  const owner = threadOwner(threadId);
  if (owner === null) throw new Refusal(fail("not_found"));
  return userMemory(owner);
}

/** The seq in a cursor, which goes on in the order that it was begun with. */
function messageSeq(cursor: string, order: "newest" | "oldest"): number {
  const [begun, seq] = decodeCursor(cursor, ["string", "number"]) ?? [];
  if (seq === undefined || begun !== order)
    throw new Refusal(
      fail("invalid_cursor", { details: [{ path: "query.cursor", message: `is none of order ${order}` }] }),
    );
  return seq;
}
