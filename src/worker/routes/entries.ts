import { createRoute, type z } from "@hono/zod-openapi";
import type {
  EntryOperation,
  EntryResult,
  ListedEntries,
} from "../../../durable-objects/user-memory/contract.ts";
import { joined, withValue } from "../../domain/page-json.ts";
import { type Condition, holds } from "../../domain/conditions.ts";
import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { fail } from "../../domain/errors.ts";
import { audited } from "../http/audit.ts";
import { conditionOf } from "../http/conditions.ts";
import {
  anyJson,
  body,
  conditionHeaders,
  failures,
  idempotencyHeader,
  json,
  nothing,
} from "../http/describe.ts";
import { assertScope, requireScope } from "../http/scope.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { onceOf } from "../http/idempotency.ts";
import { jsonValue } from "../http/json-body.ts";
import { rawJson } from "../http/raw-json.ts";
import { rawOperationValues } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { userHash } from "../../domain/ids.ts";
import type { JsonPieces } from "../../domain/json-pieces.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { noQuery, userPath } from "../../domain/schema/bounds.ts";
import {
  BatchAnswer,
  BatchBody,
  type BatchOperation,
  DeletedEntries,
  DeleteEntriesQuery,
  EntryList,
  entryPath,
  EntryValue,
  ListEntriesQuery,
  SetEntryQuery,
  WrittenEntry,
} from "../../domain/schema/entry.ts";

const list = createRoute({
  method: "get",
  path: "/v1/users/{user}/kv",
  operationId: "listEntries",
  summary: "List entries by prefix, in byte order of their keys",
  tags: ["entries"],
  ...requireScope("read"),
  request: { params: userPath, query: ListEntriesQuery },
  responses: { 200: json(EntryList, "A page of live entries."), ...failures },
});

const removeAll = createRoute({
  method: "delete",
  path: "/v1/users/{user}/kv",
  operationId: "deleteEntries",
  summary: "Delete all entries under a prefix",
  description: "An empty prefix deletes every entry of the user.",
  tags: ["entries"],
  ...requireScope("write"),
  request: { params: userPath, query: DeleteEntriesQuery },
  responses: { 200: json(DeletedEntries, "How many live entries are gone."), ...failures },
});

const batch = createRoute({
  method: "post",
  path: "/v1/users/{user}/kv/batch",
  operationId: "batchEntries",
  summary: "Get, set and delete many entries in one atomic step",
  description: "Operations happen in order, all or none. Needs the scope `write` too if one of them writes.",
  tags: ["entries"],
  ...requireScope("read"),
  request: { params: userPath, query: noQuery, headers: idempotencyHeader, body: body(BatchBody) },
  responses: { 200: json(BatchAnswer, "One result an operation, in their order."), ...failures },
});

const get = createRoute({
  method: "get",
  path: "/v1/users/{user}/kv/{key}",
  operationId: "getEntry",
  summary: "Get an entry's value",
  tags: ["entries"],
  ...requireScope("read"),
  request: { params: entryPath, query: noQuery, headers: conditionHeaders },
  responses: {
    200: json(EntryValue, "The value, byte for byte, with its version as ETag."),
    304: nothing("It still has a version of If-None-Match."),
    ...failures,
  },
});

const set = createRoute({
  method: "put",
  path: "/v1/users/{user}/kv/{key}",
  operationId: "setEntry",
  summary: "Set an entry: its value and its expiry",
  tags: ["entries"],
  ...requireScope("write"),
  request: { params: entryPath, query: SetEntryQuery, headers: conditionHeaders, body: anyJson },
  responses: { 200: json(WrittenEntry, "It is stored."), ...failures },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/users/{user}/kv/{key}",
  operationId: "deleteEntry",
  summary: "Delete an entry",
  tags: ["entries"],
  ...requireScope("write"),
  request: { params: entryPath, query: noQuery, headers: conditionHeaders },
  responses: { 204: nothing("It is gone, or was never there."), ...failures },
});

export const entries = newRouter()
  .openapi(list, async (c) => {
    const { user } = c.req.valid("param");
    const { prefix = "", values, count, limit = 100, cursor } = c.req.valid("query");
    const after = unwrap(decodeCursor(cursor, ["string"]));
    if (after?.[0].startsWith(prefix) === false) throw new Refusal(invalidCursor);
    const object = c.get("services").userMemory(await userHash(user));
    const page = { prefix, limit, values: values === "true", ...(after && { after: after[0] }) };
    const listed = await wrapTime(c, "object", object.listEntries(page, count === "true"));
    return rawJson<z.infer<typeof EntryList>>(c, listPieces(listed));
  })
  .openapi(removeAll, async (c) => {
    const { user } = c.req.valid("param");
    const object = c.get("services").userMemory(await userHash(user));
    const deleted = await wrapTime(c, "object", object.deleteEntries(c.req.valid("query").prefix));
    return c.json({ deleted }, 200);
  })
  .openapi(batch, async (c) => {
    const { user } = c.req.valid("param");
    const { operations } = c.req.valid("json");
    const writes = operations.some(({ op }) => op !== "get");
    if (writes) assertScope(c, "write");
    const owner = await ownerOf(user);
    const object = c.get("services").userMemory(owner.hash);
    const values = rawOperationValues(c);
    const once = await onceOf(c);
    const perform = async () => {
      const all = operations.map((operation, i) => stored(operation, values[i]));
      return unwrap(await wrapTime(c, "object", object.batchEntries(all, owner, once)));
    };
    const deletes = operations.some(({ op }) => op === "delete");
    const results = await (deletes ? audited(c, "POST /v1/users/{user}/kv/batch", perform) : perform());
    return rawJson<z.infer<typeof BatchAnswer>>(c, batchPieces(operations, results));
  })
  .openapi(get, async (c) => {
    const { user, key } = c.req.valid("param");
    const { ifMatch, ifNoneMatch } = conditionOf(c);
    const entry = await wrapTime(
      c,
      "object",
      c
        .get("services")
        .userMemory(await userHash(user))
        .getEntry(key),
    );
    if (!holds(ifMatch === undefined ? {} : { ifMatch }, entry?.version ?? null))
      throw new Refusal(fail("precondition_failed"));
    if (entry === null) throw new Refusal(fail("not_found"));
    const headers = { ETag: `"${entry.version}"` };
    if (ifNoneMatch !== undefined && !holds({ ifNoneMatch }, entry.version))
      return c.body(null, 304, headers);
    return rawJson(c, [entry.value], headers);
  })
  .openapi(set, async (c) => {
    const { user, key } = c.req.valid("param");
    const { ttlMs = null, refreshOnRead } = c.req.valid("query");
    const value = jsonValue(c);
    const owner = await ownerOf(user);
    const object = c.get("services").userMemory(owner.hash);
    const write = { key, value, ttlMs, refreshOnRead: refreshOnRead === "true", condition: conditionOf(c) };
    const written = unwrap(await wrapTime(c, "object", object.setEntry(write, owner)));
    return c.json(written, 200, { ETag: `"${written.version}"` });
  })
  .openapi(remove, async (c) => {
    const { user, key } = c.req.valid("param");
    const object = c.get("services").userMemory(await userHash(user));
    unwrap(await wrapTime(c, "object", object.deleteEntry(key, conditionOf(c))));
    return c.body(null, 204);
  });

/** A batch operation as the object takes it: values in the bytes that they were sent in. */
function stored(operation: BatchOperation, value: Uint8Array = new Uint8Array()): EntryOperation {
  if (operation.op === "get") return operation;
  const { ifVersion } = operation;
  const condition: Condition =
    ifVersion === undefined ? {} : ifVersion === null ? { ifNoneMatch: "any" } : { ifMatch: [ifVersion] };
  if (operation.op === "delete") return { op: "delete", key: operation.key, condition };
  const { key, ttlMs = null, refreshOnRead = false } = operation;
  return { op: "set", key, value, ttlMs, refreshOnRead, condition };
}

function listPieces({ json: items, last, more, count }: ListedEntries): JsonPieces {
  const end = {
    ...(more && last !== undefined && { cursor: encodeCursor([last]) }),
    ...(count !== null && { count }),
  };
  return ['{"items":[', items, `]${Object.keys(end).length > 0 ? `,${JSON.stringify(end).slice(1)}` : "}"}`];
}

function batchPieces(operations: readonly BatchOperation[], results: readonly EntryResult[]): JsonPieces {
  const items = results.map((result, i): JsonPieces => {
    const key = operations[i]?.key;
    if (!("entry" in result)) return [JSON.stringify({ key, ...result })];
    if (result.entry === null) return [JSON.stringify({ key, found: false })];
    const { value, version, expiresAt } = result.entry;
    return withValue({ key, found: true, version, ...(expiresAt !== null && { expiresAt }) }, value);
  });
  return ['{"results":[', ...joined(items, ","), "]}"];
}
