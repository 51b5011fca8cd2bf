import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { conditionOnVersion } from "../../domain/conditions.ts";
import { conditionOf, isNotModified } from "../http/conditions.ts";
import type { AppEnv } from "../http/context.ts";
import {
  alwaysAudited,
  body,
  conditionHeaders,
  idempotencyHeader,
  json,
  noBody,
  nothing,
  route,
} from "../http/describe.ts";
import { ofUser } from "../http/owner.ts";
import { Refusal } from "../http/failure.ts";
import { idempotencyKeyOf } from "../http/idempotency.ts";
import { NO_STORE, timed } from "../http/answer.ts";
import { requireExactMetadata, requireExactMetadataOfMany } from "../http/raw-body.ts";
import { userObject } from "../http/path.ts";
import { newRouter } from "../http/router.ts";
import { writerOf } from "../http/writer.ts";
import { getMemory, listMemories, memoryHistory } from "../use-cases/browse.ts";
import { remember, rememberOne } from "../use-cases/remember.ts";
import { reviewMemories } from "../use-cases/review.ts";
import { userPath } from "../../domain/schema/bounds.ts";
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
  RememberedMemory,
  RememberManyBody,
  RestoreMemoryBody,
} from "../../domain/schema/memory.ts";
import { ReviewedMemories, ReviewMemoriesBody, ReviewQuery } from "../../domain/schema/review.ts";

const changeHeaders = idempotencyHeader.extend({ "if-match": conditionHeaders.shape["if-match"] });
/** For a new memory too: `If-None-Match: *` creates only. */
const rememberHeaders = idempotencyHeader.extend(conditionHeaders.shape);
const withVersion = "The memory, with its version as ETag.";

const rememberRoute = route("post", "/v1/users/{user}/memories", {
  operationId: "remember",
  summary: "Remember one memory",
  description:
    "Merges with the memory that has the same identity. A fact with the same subject and predicate of one object, or with the same key, is superseded, and so is the opposite of the same object; `superseded` names them. A procedure with the same title, or a memory with the same externalId, is replaced. With the same text, tags and metadata are added. A condition applies to that memory.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, headers: rememberHeaders, body: body(RememberBody) },
  responses: {
    201: json(RememberedMemory, "A new memory, which recall finds from now on."),
    200: json(RememberedMemory, "The memory that was there, as it is now."),
  },
});

const rememberManyRoute = route("post", "/v1/users/{user}/memories/batch", {
  operationId: "rememberMany",
  summary: "Remember many in one atomic step",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, headers: idempotencyHeader, body: body(RememberManyBody) },
  responses: { 200: json(RememberedMany, "The memories, in their order.") },
});

const listRoute = route("get", "/v1/users/{user}/memories", {
  operationId: "listMemories",
  summary: "List memories",
  scope: "read",
  owner: ofUser,
  request: { params: userPath, query: ListMemoriesQuery },
  responses: { 200: json(MemoryList, "A page of memories.") },
});

const getRoute = route("get", "/v1/users/{user}/memories/{id}", {
  operationId: "getMemory",
  summary: "Get a memory",
  scope: "read",
  owner: ofUser,
  request: { params: memoryPath, query: z.strictObject(atQuery), headers: conditionHeaders },
  responses: { 200: json(Memory, withVersion), 304: nothing("If-None-Match names the current version.") },
});

const patchRoute = route("patch", "/v1/users/{user}/memories/{id}", {
  operationId: "updateMemory",
  summary: "Correct a memory",
  description:
    "The wrong version stays in the history. If the world has changed, remember the new fact instead: it supersedes the old one. A fact that gets another object, or goes on, ends its opposites; `superseded` names them.",
  scope: "write",
  owner: ofUser,
  request: { params: memoryPath, headers: changeHeaders, body: body(PatchMemoryBody) },
  responses: { 200: json(RememberedMemory, withVersion) },
});

const forgetRoute = route("delete", "/v1/users/{user}/memories/{id}", {
  operationId: "forgetMemory",
  summary: "Delete a memory with its history",
  scope: "write",
  owner: ofUser,
  request: { params: memoryPath, headers: conditionHeaders.pick({ "if-match": true }) },
  responses: { 204: nothing("The memory is deleted, and recall does not find it.") },
});

const forgetManyRoute = route("post", "/v1/users/{user}/memories/forget", {
  operationId: "forgetMemories",
  summary: "Delete memories by filter",
  description:
    "Deletes them with their history. Includes quarantined, past and future memories, unless the filter excludes them.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, body: body(ForgetMemoriesBody) },
  responses: { 200: json(Forgotten, "The memories that it deleted, or would delete.") },
});

const forgetAllRoute = route("delete", "/v1/users/{user}/memories", {
  operationId: "forgetAllMemories",
  summary: "Delete all memories of a user",
  scope: "write",
  owner: ofUser,
  request: { params: userPath },
  responses: { 204: nothing("The memories are deleted, and recall does not find them.") },
});

const historyRoute = route("get", "/v1/users/{user}/memories/{id}/history", {
  operationId: "getMemoryHistory",
  summary: "List the versions of a memory, the newest first",
  scope: "read",
  owner: ofUser,
  request: { params: memoryPath, query: HistoryQuery },
  responses: { 200: json(MemoryHistory, "A page of its versions.") },
});

const restoreRoute = route("post", "/v1/users/{user}/memories/{id}/restore", {
  operationId: "restoreMemory",
  summary: "Restore a version of a memory",
  description: "A fact that says more by this ends its opposites; `superseded` names them.",
  scope: "write",
  owner: ofUser,
  request: { params: memoryPath, headers: changeHeaders, body: body(RestoreMemoryBody) },
  responses: { 200: json(RememberedMemory, withVersion) },
});

const releaseRoute = route("post", "/v1/users/{user}/memories/{id}/release", {
  operationId: "releaseMemory",
  summary: "Release a memory from quarantine",
  description:
    "It merges as a new memory would, and `superseded` names the facts that it ended. It becomes another memory, whose id the answer has, if it has a name (a subject and predicate of one object, a key, a title or an externalId), or if an active memory has its text. The former id reaches that memory from then on. To reject it, delete it.",
  scope: "write",
  owner: ofUser,
  request: { params: memoryPath, headers: changeHeaders, body: noBody },
  responses: { 200: json(RememberedMemory, withVersion) },
});

const reviewRoute = route("post", "/v1/users/{user}/memories/review", {
  operationId: "reviewMemories",
  summary: "Release or reject many memories in quarantine",
  description:
    "Each memory has an outcome of its own, and one that fails keeps none from being released or rejected. By a filter, a call reviews up to 500, and answers a `cursor` for the next call. A repeated call does no harm: a memory that was released is `released`, and one that was rejected is `gone`. The entry that a rejected memory names in `metadata.cairnEntry` stays.",
  scope: "write",
  owner: ofUser,
  ...alwaysAudited,
  request: { params: userPath, query: ReviewQuery, body: body(ReviewMemoriesBody) },
  responses: { 200: json(ReviewedMemories, "The memories, with their outcomes.") },
});

export const memories = newRouter("memories")
  .openapi(rememberRoute, async (c) => {
    requireExactMetadata(c);
    const { owner } = await userObject(c);
    const request = { body: c.req.valid("json"), ...(await changeOf(c)) };
    const remembered = await timed(c, "remember", rememberOne(c.get("services"), owner, request));
    const { memory, created, replaced: _replaced, ...more } = remembered;
    return versioned(c, { ...memory, ...more }, created ? 201 : 200);
  })
  .answer(rememberManyRoute, async (c, services) => {
    requireExactMetadataOfMany(c, "memories");
    const { owner } = await userObject(c);
    const bodies = c.req.valid("json").memories.map(({ ifVersion, ...fields }) => ({
      body: fields,
      condition: conditionOnVersion(ifVersion),
    }));
    const request = { memories: bodies, by: writerOf(c), once: await idempotencyKeyOf(c) };
    const remembered = await timed(c, "remember", remember(services, owner, request));
    return { items: remembered.map(({ replaced: _replaced, ...one }) => one) };
  })
  .answer(forgetManyRoute, async (c) => {
    requireExactMetadata(c, "filter");
    const { owner, object } = await userObject(c);
    const request = c.req.valid("json");
    if (request.dryRun === true) c.set("about", "dryRun");
    return timed(c, "object", object.forgetMemories(owner, request));
  })
  .answer(reviewRoute, async (c, services) => {
    requireExactMetadata(c, "filter");
    const { owner } = await userObject(c);
    const review = c.req.valid("json");
    c.set("about", review.decision);
    const request = { ...review, by: writerOf(c), cursor: c.req.valid("query").cursor };
    return timed(c, "object", reviewMemories(services, owner, request));
  })
  .answer(listRoute, async (c, services) => {
    const { owner } = await userObject(c);
    return timed(c, "d1", listMemories(services, owner.hash, c.req.valid("query")));
  })
  .answer(forgetAllRoute, async (c) => {
    const { owner, object } = await userObject(c);
    await timed(c, "object", object.forgetAllMemories(owner));
  })
  .openapi(getRoute, async (c) => {
    const condition = conditionOf(c);
    const { owner } = await userObject(c);
    const request = { id: c.req.valid("param").id, at: c.req.valid("query") };
    const memory = await timed(c, "d1", getMemory(c.get("services"), owner.hash, request));
    const notModified = isNotModified(condition, String(memory.version));
    // A cached answer would be validated by its version, which does not cover `updatedAt` and `indexing`.
    c.header("Cache-Control", NO_STORE["Cache-Control"]);
    if (notModified) return c.body(null, 304, { ETag: `"${memory.version}"` });
    return versioned(c, memory, 200);
  })
  .openapi(patchRoute, async (c) => {
    requireExactMetadata(c);
    const { owner, object } = await userObject(c);
    const change = { ...(await changeOf(c)), body: c.req.valid("json") };
    const patched = object.patchMemory(owner, c.req.valid("param").id, change);
    return versioned(c, await timed(c, "object", patched), 200);
  })
  .answer(forgetRoute, async (c) => {
    const { owner, object } = await userObject(c);
    const forgotten = object.forget(owner, c.req.valid("param").id, conditionOf(c));
    if (!(await timed(c, "object", forgotten))) throw new Refusal(fail("not_found"));
  })
  .answer(historyRoute, async (c, services) => {
    const { owner } = await userObject(c);
    const request = { id: c.req.valid("param").id, ...c.req.valid("query") };
    return timed(c, "d1", memoryHistory(services, owner.hash, request));
  })
  .openapi(restoreRoute, async (c) => {
    const { owner, object } = await userObject(c);
    const change = { ...(await changeOf(c)), version: c.req.valid("json").version };
    const restored = object.restoreMemory(owner, c.req.valid("param").id, change);
    return versioned(c, await timed(c, "object", restored), 200);
  })
  .openapi(releaseRoute, async (c) => {
    const { owner, object } = await userObject(c);
    const released = object.releaseMemory(owner, c.req.valid("param").id, await changeOf(c));
    return versioned(c, await timed(c, "object", released), 200);
  });

/** The condition, the writer and the idempotency key of a change. */
async function changeOf(c: Context<AppEnv>) {
  const once = await idempotencyKeyOf(c);
  return { condition: conditionOf(c), by: writerOf(c), ...(once && { once }) };
}

function versioned<const Status extends 200 | 201, Shown extends Memory>(
  c: Context<AppEnv>,
  memory: Shown,
  status: Status,
) {
  return c.json(memory, status, { ETag: `"${memory.version}"` });
}
