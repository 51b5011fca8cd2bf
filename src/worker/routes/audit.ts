import { createRoute } from "@hono/zod-openapi";
import { listAudit } from "../audit/browse.ts";
import { fail } from "../../domain/errors.ts";
import { requireWholeTenant } from "../http/authenticate.ts";
import { failures, json } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { AuditEvents, ListAuditQuery } from "../../domain/schema/audit.ts";

const list = createRoute({
  method: "get",
  path: "/v1/audit",
  operationId: "listAuditEvents",
  summary: "Who deleted, forgot or administered what, and when; the newest first",
  description:
    "Events are written behind the answer, within seconds. To read them is an event too. No contents, no keys, no user ids: whose memory it was is told by a hash.",
  tags: ["access"],
  ...requireScope("admin"),
  request: { query: ListAuditQuery },
  responses: { 200: json(AuditEvents, "A page of events."), ...failures },
});

/** What is noted besides whole operations: refusals, batches of entries that delete, tools of MCP. */
const OTHERS = /^((token|access)\.refused|POST \/v1\/users\/\{user\}\/kv\/batch|POST \/mcp \w+)$/;

/** The route of the audit log, which knows by `operations` what can be in it. */
export const auditOf = (operations: () => readonly string[]) =>
  newRouter().openapi(list, async (c) => {
    requireWholeTenant(c, "reads the audit log");
    const query = c.req.valid("query");
    const { action } = query;
    // A mistyped one would find nothing, and read as if nothing had happened.
    if (action !== undefined && !OTHERS.test(action) && !operations().includes(action))
      throw new Refusal(NEVER_NOTED);
    const page = listAudit(c.get("services").auditLog, query);
    return c.json(unwrap(await wrapTime(c, "d1", page)), 200);
  });

const NEVER_NOTED = fail("invalid_request", {
  details: [
    {
      path: "query.action",
      message:
        "is nothing that is noted: an operation as in `DELETE /v1/threads/{id}`, `token.refused` or `access.refused`",
    },
  ],
});
