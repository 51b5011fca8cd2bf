import { createRoute } from "@hono/zod-openapi";
import { listAudit } from "../audit/browse.ts";
import { demandWholeTenant } from "../http/authenticate.ts";
import { failures, json, scoped } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { AuditEvents, ListAuditQuery } from "../schema/audit.ts";

const list = createRoute({
  method: "get",
  path: "/v1/audit",
  summary: "Who deleted, forgot or administered what, and when; the newest first",
  description:
    "Events are written behind the answer, within seconds. To read them is an event too. No contents, no keys, no user ids: whose memory it was is told by a hash.",
  tags: ["access"],
  ...scoped("admin"),
  request: { query: ListAuditQuery },
  responses: { 200: json(AuditEvents, "A page of events."), ...failures },
});

export const audit = newRouter().openapi(list, async (c) => {
  demandWholeTenant(c, "reads the audit log");
  const page = listAudit(c.get("services").auditLog, c.req.valid("query"));
  return c.json(unwrap(await wrapTime(c, "d1", page)), 200);
});
