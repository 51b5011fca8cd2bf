import { userHash } from "../../domain/ids.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { Restore, RestoreBody } from "../../domain/schema/restore.ts";
import { body, json, route } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { ofUser } from "../http/owner.ts";
import { newRouter } from "../http/router.ts";
import { restoreUser } from "../use-cases/restore.ts";

const restoreRoute = route("post", "/v1/users/{user}/restore", {
  operationId: "restoreUser",
  summary: "Set a user back to an earlier time, or list what that would do",
  description:
    "Threads, messages, entries and memories become those of then, in the user's object and in the database. Only on Cloudflare.",
  scope: "admin",
  owner: { ...ofUser, wholeTenantFor: "sets users back to a time" },
  request: { params: userPath, body: body(RestoreBody) },
  responses: { 200: json(Restore, "What is lost and what comes back, and how far it is.") },
});

export const restore = newRouter("export").answer(restoreRoute, async (c, services) => {
  const request = c.req.valid("json");
  if (request.dryRun !== false) c.set("about", "dryRun");
  return unwrap(await restoreUser(services, await userHash(c.req.valid("param").user), request));
});
