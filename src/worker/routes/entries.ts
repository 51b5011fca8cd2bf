import type { z } from "@hono/zod-openapi";
import type { EntryOperation, EntryResult, ListedEntries } from "../../contract/user-memory.ts";
import { joined, withValue } from "../../domain/page-json.ts";
import { decodeCursor, encodeCursor, invalidCursor } from "../../domain/cursor.ts";
import { fail } from "../../domain/errors.ts";
import { withAudit } from "../http/audit.ts";
import { conditionOnVersion } from "../../domain/conditions.ts";
import { conditionOf, isNotModified } from "../http/conditions.ts";
import {
  rawJsonBody,
  body,
  conditionHeaders,
  idempotencyHeader,
  json,
  nothing,
  route,
} from "../http/describe.ts";
import { assertScope } from "../http/guard.ts";
import { ofUser } from "../http/owner.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { idempotencyKeyOf } from "../http/idempotency.ts";
import { jsonValue } from "../http/json-body.ts";
import { rawJson, wrapTime } from "../http/answer.ts";
import { rawOperationMessages, rawOperationValues } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { userHash } from "../../domain/ids.ts";
import type { JsonPieces } from "../../domain/json-pieces.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { notesOf } from "../../domain/conversation/message-notes.ts";
import type { Trust } from "../../domain/schema/provenance.ts";
import { writerOf } from "../http/writer.ts";
import { futureTimeFailure } from "../../domain/schema/message-time.ts";
import { userPath } from "../../domain/schema/bounds.ts";
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

const list = route("get", "/v1/users/{user}/kv", {
  operationId: "listEntries",
  summary: "List entries by prefix, in byte order of their keys",
  scope: "read",
  owner: ofUser,
  request: { params: userPath, query: ListEntriesQuery },
  responses: { 200: json(EntryList, "A page of live entries.") },
});

const removeAll = route("delete", "/v1/users/{user}/kv", {
  operationId: "deleteEntries",
  summary: "Delete all entries under a prefix",
  description: "An empty prefix deletes all entries of the user.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, query: DeleteEntriesQuery },
  responses: { 200: json(DeletedEntries, "The number of live entries that it deleted.") },
});

const batch = route("post", "/v1/users/{user}/kv/batch", {
  operationId: "batchEntries",
  summary: "Get, set and delete many entries in one atomic step, beside messages of threads",
  description:
    "Runs the operations in order, all or none. Needs the scope `write` too if one of them writes. `messages` reads the last messages of a thread of the user, and `append` appends some: an entry about messages is stored with them.",
  scope: "read",
  owner: ofUser,
  request: { params: userPath, headers: idempotencyHeader, body: body(BatchBody) },
  responses: { 200: json(BatchAnswer, "One result for each operation, in their order.") },
});

const get = route("get", "/v1/users/{user}/kv/{key}", {
  operationId: "getEntry",
  summary: "Get an entry's value",
  scope: "read",
  owner: ofUser,
  request: { params: entryPath, headers: conditionHeaders },
  responses: {
    200: json(EntryValue, "The value, byte for byte, with its version as ETag."),
    304: nothing("If-None-Match names the current version."),
  },
});

const set = route("put", "/v1/users/{user}/kv/{key}", {
  operationId: "setEntry",
  summary: "Set an entry: its value and its expiry",
  scope: "write",
  owner: ofUser,
  request: { params: entryPath, query: SetEntryQuery, headers: conditionHeaders, body: rawJsonBody },
  responses: { 200: json(WrittenEntry, "The entry is stored.") },
});

const remove = route("delete", "/v1/users/{user}/kv/{key}", {
  operationId: "deleteEntry",
  summary: "Delete an entry",
  scope: "write",
  owner: ofUser,
  request: { params: entryPath, headers: conditionHeaders },
  responses: { 204: nothing("The entry does not exist any more.") },
});

export const entries = newRouter("entries")
  .openapi(list, async (c) => {
    const { user } = c.req.valid("param");
    const { prefix = "", values, count, limit = 100, cursor } = c.req.valid("query");
    const name = `entries ${user}`;
    const after = unwrap(decodeCursor(name, cursor, ["string"]));
    if (after?.[0].startsWith(prefix) === false) throw new Refusal(invalidCursor);
    const object = c.get("services").userMemory(await userHash(user));
    const page = { prefix, limit, values: values === "true", ...(after && { after: after[0] }) };
    const listed = await wrapTime(c, "object", object.listEntries(page, count === "true"));
    return rawJson<z.infer<typeof EntryList>>(c, listJson(name, listed));
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
    const writes = operations.some(({ op }) => op !== "get" && op !== "messages");
    if (writes) assertScope(c, "write");
    const owner = await ownerOf(user);
    const object = c.get("services").userMemory(owner.hash);
    const values = rawOperationValues(c);
    const appends = operations.some(({ op }) => op === "append");
    const bodies = appends ? rawOperationMessages(c) : [];
    for (const [i, one] of operations.entries()) {
      if (one.op !== "append") continue;
      const ahead = futureTimeFailure(one.createdAt, c.get("services").now(), `body.operations[${i}]`);
      if (ahead !== null) throw new Refusal(ahead);
    }
    const { trust } = writerOf(c);
    const once = await idempotencyKeyOf(c);
    const perform = async () => {
      const all = operations.map((operation, i) =>
        operationFor(operation, { value: values[i], bodies: bodies[i], trust }),
      );
      return unwrap(await wrapTime(c, "object", object.batchEntries(all, owner, once)));
    };
    const deletes = operations.some(({ op }) => op === "delete");
    const results = await (deletes ? withAudit(c, "POST /v1/users/{user}/kv/batch", perform) : perform());
    return rawJson<z.infer<typeof BatchAnswer>>(c, batchJson(operations, results));
  })
  .openapi(get, async (c) => {
    const { user, key } = c.req.valid("param");
    const condition = conditionOf(c);
    const object = c.get("services").userMemory(await userHash(user));
    const entry = await wrapTime(c, "object", object.getEntry(key));
    const notModified = isNotModified(condition, entry?.version ?? null);
    if (entry === null) throw new Refusal(fail("not_found"));
    const headers = { ETag: `"${entry.version}"` };
    if (notModified) return c.body(null, 304, headers);
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

/** A batch operation for the object. Values and messages keep the bytes that the caller sent. */
function operationFor(
  operation: BatchOperation,
  {
    value = new Uint8Array(),
    bodies = [],
    trust,
  }: { value?: Uint8Array | undefined; bodies?: Uint8Array[] | undefined; trust: Trust },
): EntryOperation {
  if (operation.op === "get") return operation;
  if (operation.op === "messages") return { limit: 50, ...operation };
  if (operation.op === "append") {
    const { op, threadId, ifLastSeq, createdAt } = operation;
    return {
      op,
      threadId,
      bodies,
      trust,
      ...(ifLastSeq !== undefined && { ifLastSeq }),
      ...(createdAt !== undefined && { createdAt }),
    };
  }
  const condition = conditionOnVersion(operation.ifVersion);
  if (operation.op === "delete") return { op: "delete", key: operation.key, condition };
  const { key, ttlMs = null, refreshOnRead = false } = operation;
  return { op: "set", key, value, ttlMs, refreshOnRead, condition };
}

function listJson(name: string, { json: items, last, more, count }: ListedEntries): JsonPieces {
  const end = {
    ...(more && last !== undefined && { cursor: encodeCursor(name, [last]) }),
    ...(count !== null && { count }),
  };
  return ['{"items":[', items, `]${Object.keys(end).length > 0 ? `,${JSON.stringify(end).slice(1)}` : "}"}`];
}

function batchJson(operations: readonly BatchOperation[], results: readonly EntryResult[]): JsonPieces {
  const items = results.map((result, i): JsonPieces => {
    const operation = operations[i];
    if (operation?.op === "append") return [JSON.stringify(appendedIn(operation, result))];
    if (operation?.op === "messages") return lastJson(operation.threadId, result);
    const key = operation?.key;
    if (!("entry" in result)) return [JSON.stringify({ key, ...result })];
    if (result.entry === null) return [JSON.stringify({ key, found: false })];
    const { value, version, expiresAt } = result.entry;
    return withValue({ key, found: true, version, ...(expiresAt !== null && { expiresAt }) }, value);
  });
  return ['{"results":[', ...joined(items, ","), "]}"];
}

const appendedIn = ({ threadId, messages }: BatchOperation & { op: "append" }, result: EntryResult) => ({
  threadId,
  ...("appended" in result && result.appended),
  ...notesOf(messages),
});

function lastJson(threadId: string, result: EntryResult): JsonPieces {
  if (!("last" in result) || result.last === null) return [JSON.stringify({ threadId, found: false })];
  const { json: items, ...about } = result.last;
  return [`${JSON.stringify({ threadId, found: true, ...about }).slice(0, -1)},"messages":[`, items, "]}"];
}
