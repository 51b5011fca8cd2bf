import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import { fail } from "../../domain/errors.ts";
import { writeAuditEvent } from "../http/audit.ts";
import type { AppEnv } from "../http/context.ts";
import { alwaysAudited, json, route } from "../http/describe.ts";
import { operationOf } from "../http/guard.ts";
import { ofUser, wholeTenant } from "../http/owner.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { NO_STORE } from "../http/answer.ts";
import { newRouter } from "../http/router.ts";
import { writerOf } from "../http/writer.ts";
import { NDJSON } from "../http/json-body.ts";
import { BrokenOff, exportLines } from "../use-cases/export.ts";
import { importLines } from "../use-cases/import.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { ImportAnswer, ImportQuery, ListUsersQuery, UserList } from "../../domain/schema/transfer.ts";

// The wide type hides the media type: for one that ends in `json`, Hono types the answer as parsed.
const lines: Record<string, { schema: z.ZodString }> = {
  [NDJSON]: { schema: z.string().openapi({ description: "Lines of JSON: docs/reference/export.md." }) },
};

const exportUser = route("get", "/v1/users/{user}/export", {
  operationId: "exportUser",
  summary: "Export all data of a user, as lines of JSON",
  description: "A stream, complete if its last line is `end`. It may lack what is written meanwhile.",
  scope: "read",
  owner: ofUser,
  ...alwaysAudited,
  request: { params: userPath },
  responses: { 200: { description: "The export.", content: lines } },
});

const importUser = route("post", "/v1/users/{user}/import", {
  operationId: "importUser",
  summary: "Import an export, for this user or another",
  description:
    "Changes nothing that is there, so the same file can be sent again after a broken connection. " +
    "Refuses a file that is cut off, lacks a line or has one twice.",
  scope: "write",
  owner: ofUser,
  payload: "streamed",
  ...alwaysAudited,
  request: { params: userPath, query: ImportQuery, body: { required: true, content: lines } },
  responses: { 200: json(ImportAnswer, "The counts of imported lines.") },
});

const listUsers = route("get", "/v1/users", {
  operationId: "listUsers",
  summary: "List all users that have data, in the order of their hashes",
  description: "A user who has only entries is listed after a minute.",
  scope: "admin",
  owner: wholeTenant("lists the users"),
  request: { query: ListUsersQuery },
  responses: { 200: json(UserList, "A page of users.") },
});

/** Writes a second event for an export that broke off. The first comes at its beginning: a caller who hangs up leaves it too. */
function auditBrokenOff(c: Context<AppEnv>, why: unknown): void {
  console.error({ message: "an export broke off", requestId: c.get("requestId"), error: String(why) });
  const outcome = why instanceof BrokenOff ? why.code : "internal";
  writeAuditEvent(c, { action: operationOf(exportUser), outcome });
}

export const transfer = newRouter("export")
  .openapi(exportUser, async (c) => {
    const { user } = c.req.valid("param");
    const exported = unwrap(await exportLines(c.get("services"), user, (why) => auditBrokenOff(c, why)));
    return new Response(exported, { headers: { "Content-Type": NDJSON, ...NO_STORE } });
  })
  .answer(importUser, async (c, services) => {
    const body = c.req.raw.body ?? new Blob().stream();
    if (!(c.req.header("Content-Type") ?? "").toLowerCase().startsWith(NDJSON))
      throw new Refusal(fail("unsupported_media_type", { message: `Send the body as ${NDJSON}.` }));
    const how = { body, part: c.req.valid("query").part === "true", trust: writerOf(c).trust };
    return unwrap(await importLines(services, c.req.valid("param").user, how));
  })
  .answer(listUsers, async (c, services) => {
    const { limit = 100, cursor } = c.req.valid("query");
    const after = unwrap(decodeCursor("users", cursor, ["string"]));
    const page = { limit: limit + 1, ...(after && { after: after[0] }) };
    const users = unwrap(await d1Result(() => services.users.list(page)));
    const show = ({ id, hash }: (typeof users)[number]) => ({ userId: id, userHash: hash });
    return pageOf(users, limit, { list: "users", show, keyOf: ({ hash }) => [hash] });
  });
