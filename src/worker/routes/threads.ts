import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { body, idempotencyHeader, json, nothing, optionalBody, route } from "../http/describe.ts";
import { ofCaller, ofThread, ofUser, ownedBy, wholeTenant } from "../http/owner.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { idempotencyKeyOf } from "../http/idempotency.ts";
import { requireExactMetadata } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/answer.ts";
import { threadObject } from "../http/path.ts";
import { newThreadId, userHash } from "../../domain/ids.ts";
import { listCatalogue } from "../use-cases/catalogue.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { userPath } from "../../domain/schema/bounds.ts";
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

const create = route("post", "/v1/users/{user}/threads", {
  operationId: "createThread",
  summary: "Create a thread",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, headers: idempotencyHeader, body: optionalBody(CreateThreadBody) },
  responses: { 201: json(Thread, "The new thread.") },
});

const createForNobody = route("post", "/v1/threads", {
  operationId: "createThreadForNobody",
  summary: "Create a thread without a user",
  description: "Only a token of all users (`*`) can create and reach such a thread.",
  scope: "write",
  owner: wholeTenant("creates a thread without a user"),
  request: { headers: idempotencyHeader, body: optionalBody(CreateThreadBody) },
  responses: { 201: json(Thread, "The new thread.") },
});

const resume = route("post", "/v1/users/{user}/threads/resume", {
  operationId: "resumeThread",
  summary: "Get the latest thread of an agent, or create one, in one step",
  description:
    "Without `agent`, looks among the threads without an agent. The other fields are for a new thread.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, body: optionalBody(CreateThreadBody) },
  responses: { 200: json(Thread, "The latest thread."), 201: json(Thread, "A new thread.") },
});

const list = route("get", "/v1/users/{user}/threads", {
  operationId: "listThreads",
  summary: "List a user's threads, the latest update first",
  scope: "read",
  owner: ofUser,
  request: { params: userPath, query: ListThreadsQuery },
  responses: { 200: json(ThreadList, "A page of threads.") },
});

const listAll = route("get", "/v1/threads", {
  operationId: "listAllThreads",
  summary: "List the threads of all users, the newest first",
  description:
    "Its pages together hold every thread that could be read when the first was requested; else the answer is 503 (`catalogue_behind`). A token of one user lists that user's threads.",
  scope: "admin",
  owner: ofCaller,
  request: { query: ListAllThreadsQuery },
  responses: { 200: json(CataloguedThreadList, "A page of threads.") },
});

const get = route("get", "/v1/threads/{id}", {
  operationId: "getThread",
  summary: "Get a thread",
  scope: "read",
  owner: ofThread("id"),
  request: { params: threadPath },
  responses: { 200: json(Thread, "The thread.") },
});

const patch = route("patch", "/v1/threads/{id}", {
  operationId: "updateThread",
  summary: "Change the title and metadata of a thread",
  scope: "write",
  owner: ofThread("id"),
  request: { params: threadPath, body: body(PatchThreadBody) },
  responses: { 200: json(Thread, "The thread as it is now.") },
});

const remove = route("delete", "/v1/threads/{id}", {
  operationId: "deleteThread",
  summary: "Delete a thread with its messages",
  description: "Its forks keep the messages that they share with it.",
  scope: "write",
  owner: ofThread("id"),
  request: { params: threadPath },
  responses: { 204: nothing("The thread is deleted, and recall does not find it.") },
});

const NO_FORK =
  "This caller reaches one thread only, and a fork is another one. Use a token, or a binding, without `thread`.";

const fork = route("post", "/v1/threads/{id}/fork", {
  operationId: "forkThread",
  summary: "Fork a thread at a message",
  description:
    "The fork shares the messages up to that one, without copies. Its next seq follows that message.",
  scope: "write",
  owner: ownedBy("id", { ofOneThread: NO_FORK }),
  request: { params: threadPath, headers: idempotencyHeader, body: optionalBody(ForkBody) },
  responses: { 201: json(Thread, "The fork.") },
});

export const threads = newRouter("threads")
  .openapi(create, async (c) => {
    requireExactMetadata(c);
    const { user } = c.req.valid("param");
    const { userMemory, now } = c.get("services");
    const owner = await ownerOf(user);
    const id = newThreadId(owner.hash, now());
    const once = await idempotencyKeyOf(c);
    const made = userMemory(owner.hash).createThread(owner, id, {
      fields: c.req.valid("json"),
      ...(once && { once }),
    });
    return c.json(unwrap(await wrapTime(c, "object", made)), 201);
  })
  .openapi(createForNobody, async (c) => {
    requireExactMetadata(c);
    const { userMemory, now } = c.get("services");
    const once = await idempotencyKeyOf(c);
    // A retry has to reach the object of the first try.
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
    const hash = await userHash(user);
    const name = `threads ${hash}`;
    const key = unwrap(decodeCursor(name, cursor, ["string", "number", "number"]));
    if (key !== undefined && key[0] !== order) throw new Refusal(invalidCursor);
    const after = key && ([key[1], key[2]] as const);
    const object = c.get("services").userMemory(hash);
    const page = object.listThreads({ order, limit, ...(agent && { agent }), ...(after && { after }) });
    const { threads: items, next } = await wrapTime(c, "object", page);
    return c.json({ items, ...(next && { cursor: encodeCursor(name, [order, ...next]) }) }, 200);
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
    const once = await idempotencyKeyOf(c);
    const request = { fields: c.req.valid("json"), ...(once && { once }) };
    const forked = threadObject(c, id).forkThread(id, forkId, request);
    return c.json(unwrap(await wrapTime(c, "object", forked)), 201);
  });
