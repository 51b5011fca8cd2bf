import { createRoute, type z } from "@hono/zod-openapi";
import { wrapTime } from "hono/timing";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import { fail } from "../errors.ts";
import { anyJson, failures, json, nothing, scoped } from "../http/describe.ts";
import { jsonValue } from "../http/json-body.ts";
import { Refusal } from "../http/failure.ts";
import { type JsonPieces, rawJson } from "../http/raw-json.ts";
import { newRouter } from "../http/router.ts";
import { userHash } from "../ids.ts";
import { noQuery, userPath } from "../schema/bounds.ts";
import {
  EntryList,
  entryPath,
  EntryValue,
  ListEntriesQuery,
  SetEntryQuery,
  WrittenEntry,
} from "../schema/entry.ts";

const list = createRoute({
  method: "get",
  path: "/v1/users/{user}/kv",
  summary: "List entries by prefix, in byte order of their keys",
  tags: ["entries"],
  ...scoped("read"),
  request: { params: userPath, query: ListEntriesQuery },
  responses: { 200: json(EntryList, "A page of live entries."), ...failures },
});

const get = createRoute({
  method: "get",
  path: "/v1/users/{user}/kv/{key}",
  summary: "Get an entry's value",
  tags: ["entries"],
  ...scoped("read"),
  request: { params: entryPath, query: noQuery },
  responses: { 200: json(EntryValue, "The value, byte for byte, with its version as ETag."), ...failures },
});

const set = createRoute({
  method: "put",
  path: "/v1/users/{user}/kv/{key}",
  summary: "Set an entry: its value and its expiry",
  tags: ["entries"],
  ...scoped("write"),
  request: { params: entryPath, query: SetEntryQuery, body: anyJson },
  responses: { 200: json(WrittenEntry, "It is stored."), ...failures },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/users/{user}/kv/{key}",
  summary: "Delete an entry",
  tags: ["entries"],
  ...scoped("write"),
  request: { params: entryPath, query: noQuery },
  responses: { 204: nothing("It is gone, or was never there."), ...failures },
});

export const entries = newRouter()
  .openapi(list, async (c) => {
    const { user } = c.req.valid("param");
    const { prefix = "", values = "false", limit = 100, cursor } = c.req.valid("query");
    const after = cursor === undefined ? undefined : decodeCursor(cursor, ["string"]);
    if (after === null) throw new Refusal(fail("invalid_cursor"));
    const object = c.var.services.userMemory(await userHash(user));
    const page = object.listEntries({
      prefix,
      limit,
      values: values === "true",
      ...(after && { after: after[0] }),
    });
    const { entries: found, more } = await wrapTime(c, "object", page);
    const pieces: JsonPieces = ['{"items":['];
    for (const [i, { value, expiresAt, ...entry }] of found.entries()) {
      const rest = JSON.stringify({ ...entry, ...(expiresAt !== null && { expiresAt }) });
      pieces.push(
        i === 0 ? "" : ",",
        ...(value === undefined ? [rest] : [`${rest.slice(0, -1)},"value":`, value, "}"]),
      );
    }
    const last = found.at(-1);
    pieces.push(more && last ? `],"cursor":"${encodeCursor([last.key])}"}` : "]}");
    return rawJson<z.infer<typeof EntryList>>(c, pieces);
  })
  .openapi(get, async (c) => {
    const { user, key } = c.req.valid("param");
    const entry = await wrapTime(c, "object", c.var.services.userMemory(await userHash(user)).getEntry(key));
    if (entry === null) throw new Refusal(fail("not_found"));
    return rawJson(c, [entry.value], { ETag: `"${entry.version}"` });
  })
  .openapi(set, async (c) => {
    const { user, key } = c.req.valid("param");
    const { ttlMs = null } = c.req.valid("query");
    const value = await jsonValue(c);
    const object = c.var.services.userMemory(await userHash(user));
    const written = await wrapTime(c, "object", object.setEntry({ key, value, ttlMs }));
    return c.json(written, 200, { ETag: `"${written.version}"` });
  })
  .openapi(remove, async (c) => {
    const { user, key } = c.req.valid("param");
    await wrapTime(c, "object", c.var.services.userMemory(await userHash(user)).deleteEntry(key));
    return c.body(null, 204);
  });
