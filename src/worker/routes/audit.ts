import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import { invalidField } from "../../domain/errors.ts";
import { present } from "../../domain/present.ts";
import { userHash } from "../../domain/ids.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { AuditRow } from "../../platform/d1/tables.ts";
import { json, route } from "../http/describe.ts";
import { wholeTenant } from "../http/owner.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { timed } from "../http/answer.ts";
import { type AuditedEvent, AuditEvents, ListAuditQuery } from "../../domain/schema/audit.ts";

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

/** Its name in cursors. */
const LIST = "audit";

/** The route of the audit log. `operations` lists those that it records. */
export const auditOf = (operations: () => readonly string[]) =>
  newRouter("access").answer(list, async (c, { auditLog }) => {
    const { user, limit = 100, cursor, ...filter } = c.req.valid("query");
    const { action } = filter;
    // A mistyped action would find nothing, as if nothing had happened.
    if (action !== undefined && !OTHER_ACTIONS.test(action) && !operations().includes(action))
      throw new Refusal(invalidField("query.action", NEVER_RECORDED));
    const after = unwrap(decodeCursor(LIST, cursor, ["number", "string"]));
    const page = {
      ...filter,
      ...(user !== undefined && { user: await userHash(user) }),
      ...(after && { after }),
      limit: limit + 1,
    };
    const rows = await timed(
      c,
      "d1",
      d1Result(() => auditLog.list(page)),
    );
    return pageOf(rows, limit, { list: LIST, show: eventOf, keyOf: ({ at, id }) => [at, id] });
  });

const NEVER_RECORDED =
  "must be an operation that is recorded, as in `DELETE /v1/threads/{id}`, or `token.refused`, `access.refused`, `sign-in.granted` or `quarantine.expired`";

const eventOf = (row: AuditRow): AuditedEvent => ({
  id: row.id,
  at: row.at,
  action: row.action,
  outcome: row.outcome,
  ...present({
    actor: row.actor,
    tokenId: row.tokenId,
    userHash: row.userHash,
    requestId: row.requestId,
    about: row.about,
  }),
  count: row.count,
});
