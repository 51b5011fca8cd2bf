import { createRoute } from "@hono/zod-openapi";
import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { fail } from "../../domain/errors.ts";
import { body, failures, idempotencyHeader, json, nothing, optionalBody } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { onceOf } from "../http/idempotency.ts";
import { requireExactMetadata } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { threadObject } from "../http/thread-object.ts";
import { newThreadId, userHash } from "../../domain/ids.ts";
import { listCatalogue } from "../use-cases/catalogue.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { noQuery, userPath } from "../../domain/schema/bounds.ts";
import {
  CataloguedThreadList,
  CreateThreadBody,
  ForkBody,
  ListAllThreadsQuery,
  ListThreadsQuery,
  PatchThreadBody,
  Thread,
  ThreadList,
  threadPath,
} from "../../domain/schema/thread.ts";
import { hash16 } from "../../domain/hash.ts";

const tags = ["threads"];

const create = createRoute({
  method: "post",
  path: "/v1/users/{user}/threads",
  operationId: "createThread",
  summary: "Begin a thread",
  tags,
  ...requireScope("write"),
  request: {
    params: userPath,
    query: noQuery,
    headers: idempotencyHeader,
    body: optionalBody(CreateThreadBody),
  },
  responses: { 201: json(Thread, "The new thread."), ...failures },
});

const createForNobody = createRoute({
  method: "post",
  path: "/v1/threads",
  operationId: "createThreadForNobody",
  summary: "Begin a thread of nobody",
  description: "For a token of all users (`*`), which alone can reach the thread.",
  tags,
  ...requireScope("write"),
  request: { query: noQuery, headers: idempotencyHeader, body: optionalBody(CreateThreadBody) },
  responses: { 201: json(Thread, "The new thread."), ...failures },
});

const resume = createRoute({
  method: "post",
  path: "/v1/users/{user}/threads/resume",
  operationId: "resumeThread",
  summary: "Get the thread of this agent that was updated last, or begin one, in one step",
  description: "Without an `agent`, among the threads without one. The other fields are for a new thread.",
  tags,
  ...requireScope("write"),
  request: { params: userPath, query: noQuery, body: optionalBody(CreateThreadBody) },
  responses: { 200: json(Thread, "The latest thread."), 201: json(Thread, "A new thread."), ...failures },
});

const list = createRoute({
  method: "get",
  path: "/v1/users/{user}/threads",
  operationId: "listThreads",
  summary: "List a user's threads, the one that was updated last first",
  tags,
  ...requireScope("read"),
  request: { params: userPath, query: ListThreadsQuery },
  responses: { 200: json(ThreadList, "A page of threads."), ...failures },
});

const listAll = createRoute({
  method: "get",
  path: "/v1/threads",
  operationId: "listAllThreads",
  summary: "List the threads of all users, the one that began last first",
  description:
    "Complete over its pages: it has every thread that could be read when its first page was asked for, or is 503 (`catalogue_behind`). A token of one user lists that user's.",
  tags,
  ...requireScope("admin"),
  request: { query: ListAllThreadsQuery },
  responses: { 200: json(CataloguedThreadList, "A page of threads."), ...failures },
});

const get = createRoute({
  method: "get",
  path: "/v1/threads/{id}",
  operationId: "getThread",
  summary: "Get a thread",
  tags,
  ...requireScope("read"),
  request: { params: threadPath, query: noQuery },
  responses: { 200: json(Thread, "The thread."), ...failures },
});

const patch = createRoute({
  method: "patch",
  path: "/v1/threads/{id}",
  operationId: "updateThread",
  summary: "Rename a thread, or change what is said of it",
  tags,
  ...requireScope("write"),
  request: { params: threadPath, query: noQuery, body: body(PatchThreadBody) },
  responses: { 200: json(Thread, "The thread as it is now."), ...failures },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/threads/{id}",
  operationId: "deleteThread",
  summary: "Delete a thread with its messages",
  description: "Its forks keep the messages that they share with it.",
  tags,
  ...requireScope("write"),
  request: { params: threadPath, query: noQuery },
  responses: { 204: nothing("It is gone, also from recall."), ...failures },
});

const fork = createRoute({
  method: "post",
  path: "/v1/threads/{id}/fork",
  operationId: "forkThread",
  summary: "Fork a thread at a message",
  description: "The fork shares the messages up to that one; none is copied, and seqs go on from there.",
  tags,
  ...requireScope("write"),
  request: { params: threadPath, query: noQuery, headers: idempotencyHeader, body: optionalBody(ForkBody) },
  responses: { 201: json(Thread, "The fork."), ...failures },
});

export const threads = newRouter()
  .openapi(create, async (c) => {
    requireExactMetadata(c);
    const { user } = c.req.valid("param");
    const { userMemory, now } = c.get("services");
    const owner = await ownerOf(user);
    const id = newThreadId(owner.hash, now());
    const once = await onceOf(c);
    const made = userMemory(owner.hash).createThread(owner, id, {
      fields: c.req.valid("json"),
      ...(once && { once }),
    });
    return c.json(unwrap(await wrapTime(c, "object", made)), 201);
  })
  .openapi(createForNobody, async (c) => {
    requireExactMetadata(c);
    const { userMemory, now } = c.get("services");
    if (c.get("caller").user !== "*")
      throw new Refusal(
        fail("forbidden", { message: "Only a token of all users (`*`) begins a thread of nobody." }),
      );
    const once = await onceOf(c);
    // A retry has to find the object that the first try made.
    const hash = await hash16(`cairn:nobody:${once?.key ?? crypto.randomUUID()}`);
    const id = newThreadId(hash, now());
    const request = { fields: c.req.valid("json"), ...(once && { once }) };
    const made = userMemory(hash).createThread({ hash, id: null }, id, request);
    return c.json(unwrap(await wrapTime(c, "object", made)), 201);
  })
  .openapi(resume, async (c) => {
    requireExactMetadata(c);
    const { user } = c.req.valid("param");
    const { userMemory, now } = c.get("services");
    const owner = await ownerOf(user);
    const id = newThreadId(owner.hash, now());
    const resumed = userMemory(owner.hash).resumeThread(owner, id, c.req.valid("json"));
    const { thread, created } = unwrap(await wrapTime(c, "object", resumed));
    return created ? c.json(thread, 201) : c.json(thread, 200);
  })
  .openapi(list, async (c) => {
    const { user } = c.req.valid("param");
    const { agent, order = "updated", limit = 50, cursor } = c.req.valid("query");
    const key = unwrap(decodeCursor(cursor, ["string", "number", "number"]));
    if (key !== undefined && key[0] !== order) throw new Refusal(invalidCursor);
    const after = key && ([key[1], key[2]] as const);
    const object = c.get("services").userMemory(await userHash(user));
    const page = object.listThreads({ order, limit, ...(agent && { agent }), ...(after && { after }) });
    const { threads: items, next } = await wrapTime(c, "object", page);
    return c.json({ items, ...(next && { cursor: encodeCursor([order, ...next]) }) }, 200);
  })
  .openapi(listAll, async (c) => {
    const { user } = c.get("caller");
    const owner = user === "*" ? null : await userHash(user);
    const page = listCatalogue(c.get("services"), owner, c.req.valid("query"));
    return c.json(unwrap(await wrapTime(c, "d1", page)), 200);
  })
  .openapi(get, async (c) => {
    const { id } = c.req.valid("param");
    return c.json(unwrap(await wrapTime(c, "object", threadObject(c, id).getThread(id))), 200);
  })
  .openapi(patch, async (c) => {
    requireExactMetadata(c);
    const { id } = c.req.valid("param");
    const patched = threadObject(c, id).patchThread(id, c.req.valid("json"));
    return c.json(unwrap(await wrapTime(c, "object", patched)), 200);
  })
  .openapi(remove, async (c) => {
    const { id } = c.req.valid("param");
    unwrap(await wrapTime(c, "object", threadObject(c, id).deleteThread(id)));
    return c.body(null, 204);
  })
  .openapi(fork, async (c) => {
    requireExactMetadata(c);
    const { id } = c.req.valid("param");
    const forkId = newThreadId(id.slice(0, id.indexOf(".")), c.get("services").now());
    const once = await onceOf(c);
    const request = { fields: c.req.valid("json"), ...(once && { once }) };
    const forked = threadObject(c, id).forkThread(id, forkId, request);
    return c.json(unwrap(await wrapTime(c, "object", forked)), 201);
  });
