import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { answered } from "../../platform/d1/answered.ts";
import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import { fail } from "../../domain/errors.ts";
import { audit } from "../http/audit.ts";
import { requireWholeTenant } from "../http/authenticate.ts";
import type { AppEnv } from "../http/context.ts";
import { alwaysAudited, failures, json } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { NO_STORE } from "../http/no-store.ts";
import { newRouter, operationOf } from "../http/router.ts";
import { NDJSON } from "../http/streamed-body.ts";
import { BrokenOff, exportLines } from "../use-cases/export.ts";
import { importLines } from "../use-cases/import.ts";
import { noQuery, userPath } from "../../domain/schema/bounds.ts";
import { ImportAnswer, ImportQuery, ListUsersQuery, UserList } from "../../domain/schema/transfer.ts";

const tags = ["export"];
// Typed by any name: of a type that ends in `json`, the answer would have to be a value.
const lines: Record<string, { schema: z.ZodString }> = {
  [NDJSON]: { schema: z.string().openapi({ description: "Lines of JSON: docs/export.md." }) },
};

const exportUser = createRoute({
  method: "get",
  path: "/v1/users/{user}/export",
  operationId: "exportUser",
  summary: "Everything that is kept of a user, as lines of JSON",
  description:
    "A stream. It is whole if its last line is `end`. What is written while it runs may be in it or not.",
  tags,
  ...requireScope("read"),
  ...alwaysAudited,
  request: { params: userPath, query: noQuery },
  responses: { 200: { description: "The export.", content: lines }, ...failures },
});

const importUser = createRoute({
  method: "post",
  path: "/v1/users/{user}/import",
  operationId: "importUser",
  summary: "Take an export in, for this user or another",
  description:
    "What is there stays as it is, so the same can be sent again: after a broken connection it goes on where it was. " +
    "A file that is cut off, lacks a line or has one twice is refused; the right one brings what is missing then.",
  tags,
  ...requireScope("write"),
  ...alwaysAudited,
  request: { params: userPath, query: ImportQuery, body: { required: true, content: lines } },
  responses: { 200: json(ImportAnswer, "What became of the lines."), ...failures },
});

const listUsers = createRoute({
  method: "get",
  path: "/v1/users",
  operationId: "listUsers",
  summary: "List all users who have written anything, in the order of their hashes",
  description: "Complete over its pages, and a minute behind for users who have only entries.",
  tags,
  ...requireScope("admin"),
  request: { query: ListUsersQuery },
  responses: { 200: json(UserList, "A page of users."), ...failures },
});

/**
 * Notes an export that broke off, besides the event of its beginning: one event at the end would be none of an export that
 * was taken nearly whole, by a caller who hangs up.
 */
function noteBrokenOff(c: Context<AppEnv>, why: unknown): void {
  console.error({ message: "an export broke off", requestId: c.get("requestId"), error: String(why) });
  const outcome = why instanceof BrokenOff ? why.code : "internal";
  audit(c, { action: operationOf(exportUser), outcome });
}

export const transfer = newRouter()
  .openapi(exportUser, async (c) => {
    const { user } = c.req.valid("param");
    const exported = unwrap(await exportLines(c.get("services"), user, (why) => noteBrokenOff(c, why)));
    return new Response(exported, { headers: { "Content-Type": NDJSON, ...NO_STORE } });
  })
  .openapi(importUser, async (c) => {
    const { user } = c.req.valid("param");
    const body = c.req.raw.body ?? new Blob().stream();
    if (!(c.req.header("Content-Type") ?? "").toLowerCase().startsWith(NDJSON))
      throw new Refusal(fail("unsupported_media_type", { message: `Send the body as ${NDJSON}.` }));
    const part = c.req.valid("query").part === "true";
    return c.json(unwrap(await importLines(c.get("services"), user, { body, part })), 200);
  })
  .openapi(listUsers, async (c) => {
    requireWholeTenant(c, "lists the users");
    const { limit = 100, cursor } = c.req.valid("query");
    const after = unwrap(decodeCursor(cursor, ["string"]));
    const page = { limit: limit + 1, ...(after && { after: after[0] }) };
    const users = unwrap(await answered(() => c.get("services").users.list(page)));
    const show = ({ id, hash }: (typeof users)[number]) => ({ userId: id, userHash: hash });
    return c.json(pageOf(users, limit, { show, keyOf: ({ hash }) => [hash] }), 200);
  });
