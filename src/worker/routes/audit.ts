import { listAudit } from "../audit/browse.ts";
import { fail } from "../../domain/errors.ts";
import { json, route } from "../http/describe.ts";
import { wholeTenant } from "../http/owner.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/answer.ts";
import { AuditEvents, ListAuditQuery } from "../../domain/schema/audit.ts";

const list = route("get", "/v1/audit", {
  operationId: "listAuditEvents",
  summary: "List deletions and administration, the newest first",
  description:
    "An event is written within seconds after its call. Reading events is an event too. Events hold no contents, keys or user ids: a hash names the owner.",
  scope: "admin",
  owner: wholeTenant("reads the audit log"),
  request: { query: ListAuditQuery },
  responses: { 200: json(AuditEvents, "A page of events.") },
});

/** Events other than operations: refusals, sign-ins, the end of a wait in quarantine, batches of entries that delete, tools of MCP. */
const OTHER_ACTIONS =
  /^((token|access)\.refused|quarantine\.expired|sign-in\.granted|POST \/v1\/users\/\{user\}\/kv\/batch|POST \/mcp \w+)$/;

/** The route of the audit log. `operations` lists those that it records. */
export const auditOf = (operations: () => readonly string[]) =>
  newRouter("access").openapi(list, async (c) => {
    const query = c.req.valid("query");
    const { action } = query;
    // A mistyped action would find nothing, as if nothing had happened.
    if (action !== undefined && !OTHER_ACTIONS.test(action) && !operations().includes(action))
      throw new Refusal(NEVER_RECORDED);
    const page = listAudit(c.get("services").auditLog, query);
    return c.json(unwrap(await wrapTime(c, "d1", page)), 200);
  });

const NEVER_RECORDED = fail("invalid_request", {
  details: [
    {
      path: "query.action",
      message:
        "must be an operation that is recorded, as in `DELETE /v1/threads/{id}`, or `token.refused`, `access.refused`, `sign-in.granted` or `quarantine.expired`",
    },
  ],
});
