import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { type Condition, holds } from "../../domain/conditions.ts";
import { conditionOf } from "../http/conditions.ts";
import type { AppEnv } from "../http/context.ts";
import {
  body,
  conditionHeaders,
  failures,
  idempotencyHeader,
  json,
  noBody,
  nothing,
} from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { onceOf } from "../http/idempotency.ts";
import { NO_STORE } from "../http/no-store.ts";
import { requireExactMetadata, requireExactMetadataOfMany } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { userHash } from "../../domain/ids.ts";
import { getMemory, listMemories, memoryHistory } from "../use-cases/browse.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { remember, rememberOne } from "../use-cases/remember.ts";
import { noQuery, userPath } from "../../domain/schema/bounds.ts";
import {
  atQuery,
  Forgotten,
  ForgetMemoriesBody,
  HistoryQuery,
  ListMemoriesQuery,
} from "../../domain/schema/memory-filter.ts";
import {
  Memory,
  MemoryHistory,
  MemoryList,
  memoryPath,
  PatchMemoryBody,
  RememberBody,
  RememberedMany,
  RememberManyBody,
  RestoreMemoryBody,
} from "../../domain/schema/memory.ts";

const changeHeaders = idempotencyHeader.extend({ "if-match": conditionHeaders.shape["if-match"] });
/** Of a new memory too: `If-None-Match: *` remembers only what is not there. */
const rememberHeaders = idempotencyHeader.extend(conditionHeaders.shape);
const withVersion = "The memory, with its version as ETag.";

const rememberRoute = createRoute({
  method: "post",
  path: "/v1/users/{user}/memories",
  operationId: "remember",
  summary: "Remember",
  description:
    "What makes it one with a memory that is there: a fact's subject and predicate, or its key (the new one supersedes the old one); a procedure's title, or your externalId (the new one replaces the old one); else its text (tags and metadata add up). A condition is about that memory.",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: userPath, query: noQuery, headers: rememberHeaders, body: body(RememberBody) },
  responses: {
    201: json(Memory, "A new memory; recall finds it from now on."),
    200: json(Memory, "The memory was there already, and is now what the answer says."),
    ...failures,
  },
});

const rememberManyRoute = createRoute({
  method: "post",
  path: "/v1/users/{user}/memories/batch",
  operationId: "rememberMany",
  summary: "Remember many in one atomic step",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: userPath, query: noQuery, headers: idempotencyHeader, body: body(RememberManyBody) },
  responses: { 200: json(RememberedMany, "What became of each, in their order."), ...failures },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/users/{user}/memories",
  operationId: "listMemories",
  summary: "List memories",
  tags: ["memories"],
  ...requireScope("read"),
  request: { params: userPath, query: ListMemoriesQuery },
  responses: { 200: json(MemoryList, "A page of memories."), ...failures },
});

const getRoute = createRoute({
  method: "get",
  path: "/v1/users/{user}/memories/{id}",
  operationId: "getMemory",
  summary: "Get a memory",
  tags: ["memories"],
  ...requireScope("read"),
  request: { params: memoryPath, query: z.strictObject(atQuery), headers: conditionHeaders },
  responses: {
    200: json(Memory, withVersion),
    304: nothing("It still has a version of If-None-Match."),
    ...failures,
  },
});

const patchRoute = createRoute({
  method: "patch",
  path: "/v1/users/{user}/memories/{id}",
  operationId: "updateMemory",
  summary: "Correct a memory",
  description:
    "The version that was wrong stays in the history. For what has changed in the world, remember the new fact: it supersedes the old one.",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: memoryPath, query: noQuery, headers: changeHeaders, body: body(PatchMemoryBody) },
  responses: { 200: json(Memory, withVersion), ...failures },
});

const forgetRoute = createRoute({
  method: "delete",
  path: "/v1/users/{user}/memories/{id}",
  operationId: "forgetMemory",
  summary: "Forget a memory with its history",
  tags: ["memories"],
  ...requireScope("write"),
  request: {
    params: memoryPath,
    query: noQuery,
    headers: conditionHeaders.pick({ "if-match": true }),
  },
  responses: { 204: nothing("It is gone, from the record and from recall."), ...failures },
});

const forgetManyRoute = createRoute({
  method: "post",
  path: "/v1/users/{user}/memories/forget",
  operationId: "forgetMemories",
  summary: "Forget the memories that a filter means",
  description:
    "Also those that are quarantined, or whose time is over or to come, unless the filter says otherwise; each with its history.",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: userPath, query: noQuery, body: body(ForgetMemoriesBody) },
  responses: { 200: json(Forgotten, "What is gone, or would be."), ...failures },
});

const forgetAllRoute = createRoute({
  method: "delete",
  path: "/v1/users/{user}/memories",
  operationId: "forgetAllMemories",
  summary: "Forget all memories of a user",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: userPath, query: noQuery },
  responses: { 204: nothing("All are gone, from the record and from recall."), ...failures },
});

const historyRoute = createRoute({
  method: "get",
  path: "/v1/users/{user}/memories/{id}/history",
  operationId: "getMemoryHistory",
  summary: "What a memory was, the newest version first",
  tags: ["memories"],
  ...requireScope("read"),
  request: { params: memoryPath, query: HistoryQuery },
  responses: { 200: json(MemoryHistory, "A page of its versions."), ...failures },
});

const restoreRoute = createRoute({
  method: "post",
  path: "/v1/users/{user}/memories/{id}/restore",
  operationId: "restoreMemory",
  summary: "Let a version of the history take the place of what the memory says",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: memoryPath, query: noQuery, headers: changeHeaders, body: body(RestoreMemoryBody) },
  responses: { 200: json(Memory, withVersion), ...failures },
});

const releaseRoute = createRoute({
  method: "post",
  path: "/v1/users/{user}/memories/{id}/release",
  operationId: "releaseMemory",
  summary: "Let a memory out of quarantine",
  description:
    "It takes the place that it would have had: of a fact that it supersedes, or of a memory of the same text. Its id is then that one's. To reject it, forget it.",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: memoryPath, query: noQuery, headers: changeHeaders, body: noBody },
  responses: { 200: json(Memory, withVersion), ...failures },
});

export const memories = newRouter()
  .openapi(rememberRoute, async (c) => {
    requireExactMetadata(c);
    const owner = await ownerOf(c.req.valid("param").user);
    const request = { body: c.req.valid("json"), ...(await changeOf(c)) };
    const remembered = rememberOne(c.get("services"), owner, request);
    const { memory, created } = unwrap(await wrapTime(c, "remember", remembered));
    return versioned(c, memory, created ? 201 : 200);
  })
  .openapi(rememberManyRoute, async (c) => {
    requireExactMetadataOfMany(c, "memories");
    const owner = await ownerOf(c.req.valid("param").user);
    const asked = c.req.valid("json").memories.map(({ ifVersion, ...fields }) => ({
      body: fields,
      condition: conditionOn(ifVersion),
    }));
    const request = { memories: asked, once: await onceOf(c) };
    const remembered = remember(c.get("services"), owner, request);
    return c.json({ items: unwrap(await wrapTime(c, "remember", remembered)) }, 200);
  })
  .openapi(forgetManyRoute, async (c) => {
    requireExactMetadata(c, "filter");
    const owner = await ownerOf(c.req.valid("param").user);
    const asked = c.req.valid("json");
    if (asked.dryRun === true) c.set("about", "dryRun");
    const forgotten = c.get("services").userMemory(owner.hash).forgetMemories(owner, asked);
    return c.json(unwrap(await wrapTime(c, "object", forgotten)), 200);
  })
  .openapi(listRoute, async (c) => {
    const owner = await ownerOf(c.req.valid("param").user);
    const page = listMemories(c.get("services"), owner.hash, c.req.valid("query"));
    return c.json(unwrap(await wrapTime(c, "d1", page)), 200);
  })
  .openapi(forgetAllRoute, async (c) => {
    const owner = await ownerOf(c.req.valid("param").user);
    unwrap(await wrapTime(c, "object", c.get("services").userMemory(owner.hash).forgetAllMemories(owner)));
    return c.body(null, 204);
  })
  .openapi(getRoute, async (c) => {
    const { user, id } = c.req.valid("param");
    const { ifMatch, ifNoneMatch } = conditionOf(c);
    const read = getMemory(c.get("services"), await userHash(user), { id, at: c.req.valid("query") });
    const memory = unwrap(await wrapTime(c, "d1", read));
    const version = String(memory.version);
    if (!holds({ ...(ifMatch && { ifMatch }) }, version)) throw new Refusal(fail("precondition_failed"));
    // A browser that kept the answer would ask by its version, which says nothing of `updatedAt` and `indexing`.
    c.header("Cache-Control", NO_STORE["Cache-Control"]);
    if (!holds({ ...(ifNoneMatch && { ifNoneMatch }) }, version))
      return c.body(null, 304, { ETag: `"${version}"` });
    return versioned(c, memory, 200);
  })
  .openapi(patchRoute, async (c) => {
    requireExactMetadata(c);
    const { user, id } = c.req.valid("param");
    const owner = await ownerOf(user);
    const change = { ...(await changeOf(c)), body: c.req.valid("json") };
    const patched = c.get("services").userMemory(owner.hash).patchMemory(owner, id, change);
    return versioned(c, unwrap(await wrapTime(c, "object", patched)), 200);
  })
  .openapi(forgetRoute, async (c) => {
    const { user, id } = c.req.valid("param");
    const owner = await ownerOf(user);
    const forgotten = c.get("services").userMemory(owner.hash).forget(owner, id, conditionOf(c));
    const known = unwrap(await wrapTime(c, "object", forgotten));
    if (!known) throw new Refusal(fail("not_found"));
    return c.body(null, 204);
  })
  .openapi(historyRoute, async (c) => {
    const { user, id } = c.req.valid("param");
    const request = { id, ...c.req.valid("query") };
    const page = memoryHistory(c.get("services"), await userHash(user), request);
    return c.json(unwrap(await wrapTime(c, "d1", page)), 200);
  })
  .openapi(restoreRoute, async (c) => {
    const { user, id } = c.req.valid("param");
    const owner = await ownerOf(user);
    const change = { ...(await changeOf(c)), version: c.req.valid("json").version };
    const restored = c.get("services").userMemory(owner.hash).restoreMemory(owner, id, change);
    return versioned(c, unwrap(await wrapTime(c, "object", restored)), 200);
  })
  .openapi(releaseRoute, async (c) => {
    const { user, id } = c.req.valid("param");
    const owner = await ownerOf(user);
    const released = c
      .get("services")
      .userMemory(owner.hash)
      .releaseMemory(owner, id, await changeOf(c));
    return versioned(c, unwrap(await wrapTime(c, "object", released)), 200);
  });

/** Under which condition, and how often, a change is to be made. */
async function changeOf(c: Context<AppEnv>) {
  const once = await onceOf(c);
  return { condition: conditionOf(c), ...(once && { once }) };
}

/** The condition of one memory of a batch, as headers say it of a single one. */
const conditionOn = (version: number | null | undefined): Condition =>
  version === undefined ? {} : version === null ? { ifNoneMatch: "any" } : { ifMatch: [String(version)] };

function versioned<const Status extends 200 | 201>(c: Context<AppEnv>, memory: Memory, status: Status) {
  c.header("ETag", `"${memory.version}"`);
  return c.json(memory, status);
}
