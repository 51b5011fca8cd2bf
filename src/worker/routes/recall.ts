import { createRoute } from "@hono/zod-openapi";
import type { Context } from "hono";
import { mayRead } from "../auth/access.ts";
import { fail } from "../../domain/errors.ts";
import type { AppEnv } from "../http/context.ts";
import { requireWholeTenant } from "../http/authenticate.ts";
import { body, failures, json } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { countUsers } from "../http/rates.ts";
import { requireExactMetadata } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { recall } from "../use-cases/recall.ts";
import { tenantRecall } from "../use-cases/tenant-recall.ts";
import { noQuery, userPath } from "../../domain/schema/bounds.ts";
import {
  RecallAnswer,
  RecallBody,
  TenantRecallAnswer,
  TenantRecallBody,
} from "../../domain/schema/recall.ts";
import { isShared } from "../../domain/token.ts";

const recallRoute = createRoute({
  method: "post",
  path: "/v1/users/{user}/recall",
  operationId: "recall",
  summary: "Find memories and messages by meaning and by words",
  description:
    "Sees all that was written before. If a part is down, `degraded` says so and the others answer.",
  tags: ["memories"],
  ...requireScope("read"),
  request: { params: userPath, query: noQuery, body: body(RecallBody) },
  responses: { 200: json(RecallAnswer, "What was found, best first, and how."), ...failures },
});

const tenantRecallRoute = createRoute({
  method: "post",
  path: "/v1/recall",
  operationId: "recallAllUsers",
  summary: "Find memories of all users by meaning",
  description:
    "Through Vectorize, which shows a write after seconds, sometimes minutes: each owner's object says what of it still stands. Messages are among the hits where `MESSAGE_INDEXING` is `vectorize`.",
  tags: ["memories"],
  ...requireScope("admin"),
  request: { query: noQuery, body: body(TenantRecallBody) },
  responses: { 200: json(TenantRecallAnswer, "What was found, best first."), ...failures },
});

export const recalls = newRouter()
  .openapi(recallRoute, async (c) => {
    requireExactMetadata(c, "filter");
    const { user } = c.req.valid("param");
    const asked = c.req.valid("json");
    requireReadable(c, asked.owners ?? []);
    await countUsers(c, asked.owners ?? []);
    const answer = recall(c.get("services"), user, asked);
    return c.json(unwrap(await wrapTime(c, "recall", answer)), 200);
  })
  .openapi(tenantRecallRoute, async (c) => {
    requireWholeTenant(c, "searches the tenant");
    requireExactMetadata(c, "filter");
    const answer = tenantRecall(c.get("services"), c.req.valid("json"));
    return c.json(unwrap(await wrapTime(c, "recall", answer)), 200);
  });

/** A shared owner that the token does not name is as unknown as one that there is not. */
function requireReadable(c: Context<AppEnv>, owners: readonly string[]): void {
  const at = owners.findIndex((owner) => !isShared(owner) || !mayRead(c.get("caller"), owner));
  if (at < 0) return;
  const message = "is no shared owner (`shared:…`) that this token may read";
  throw new Refusal(fail("not_found", { details: [{ path: `body.owners[${at}]`, message }] }));
}
