import { userHash } from "../../domain/ids.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { Changes, ChangesQuery, WebhookResumed } from "../../domain/schema/changes.ts";
import { NO_STORE, wrapTime } from "../http/answer.ts";
import { json, noBody, route } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import { wakeWebhook } from "../use-cases/webhook.ts";
import { newRouter } from "../http/router.ts";
import { ofUser, wholeTenant } from "../http/owner.ts";

const read = route("get", "/v1/users/{user}/changes", {
  operationId: "listChanges",
  summary: "List what changed since a version",
  description:
    "Memories, threads and erasures, by their ids. A reader that saves `version` after each page misses nothing; after a crash it reads some changes again.",
  scope: "read",
  owner: ofUser,
  request: { params: userPath, query: ChangesQuery },
  responses: { 200: json(Changes, "The changes, those of memories first.") },
});

const resume = route("post", "/v1/webhook/resume", {
  operationId: "resumeWebhook",
  summary: "Send changes to the webhook again",
  description:
    "For a receiver that was away, and answers now. Wakes 500 users at once, and each run of the cron 500 more. Nothing was lost: each user's changes go on where the receiver was.",
  scope: "admin",
  owner: wholeTenant("resumes the webhook"),
  request: { body: noBody },
  responses: { 202: json(WebhookResumed, "Messages go out again.") },
});

export const changes = newRouter("changes")
  .openapi(read, async (c) => {
    const { after, limit = 100 } = c.req.valid("query");
    const object = c.get("services").userMemory(await userHash(c.req.valid("param").user));
    const page = object.changes({ limit, ...(after !== undefined && { after }) });
    return c.json(unwrap(await wrapTime(c, "object", page)), 200, NO_STORE);
  })
  .openapi(resume, async (c) => {
    const services = c.get("services");
    const waiting = unwrap(await d1Result(() => services.webhookBreaker.resume()));
    c.executionCtx.waitUntil(wakeWebhook(services));
    return c.json({ waiting }, 202);
  });
