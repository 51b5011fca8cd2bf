import { body, idempotencyHeader, json, nothing, route } from "../http/describe.ts";
import { ofNamespace } from "../http/owner.ts";
import { unwrap } from "../http/failure.ts";
import { idempotencyKeyOf } from "../http/idempotency.ts";
import { namespace } from "../http/namespace.ts";
import { requireExactNumbers } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/answer.ts";
import { report, stats } from "../prompt-cache/report.ts";
import { resolve } from "../prompt-cache/resolve.ts";
import {
  namespaceHeader,
  ReportBody,
  ResolveAnswer,
  ResolveBody,
  Stats,
  StatsQuery,
} from "../../domain/schema/prompt-cache.ts";

const resolveOne = route("post", "/v1/prompt-cache/resolve", {
  operationId: "resolvePromptCache",
  summary: "Resolve how to have a prompt cached by its provider",
  scope: "cache",
  owner: ofNamespace,
  request: { headers: namespaceHeader, body: body(ResolveBody) },
  responses: { 200: json(ResolveAnswer, "`status` says what to do.") },
});

const reportOne = route("post", "/v1/prompt-cache/report", {
  operationId: "reportPromptCacheUsage",
  summary: "Report the token counts of one call",
  scope: "cache",
  owner: ofNamespace,
  request: { headers: namespaceHeader.extend(idempotencyHeader.shape), body: body(ReportBody) },
  responses: { 204: nothing("The call is counted, for 90 days.") },
});

const getStats = route("get", "/v1/prompt-cache/stats", {
  operationId: "getPromptCacheStats",
  summary: "Get the savings of the caches, by the hour",
  scope: "cache",
  owner: ofNamespace,
  request: { headers: namespaceHeader, query: StatsQuery },
  responses: { 200: json(Stats, "A page of hours, and the sums of the range.") },
});

export const promptCache = newRouter("prompt-cache registry")
  .openapi(resolveOne, async (c) => {
    requireExactNumbers(c, "regions");
    const answer = resolve(c.get("services"), namespace(c), c.req.valid("json"));
    return c.json(await wrapTime(c, "object", answer), 200);
  })
  .openapi(reportOne, async (c) => {
    const request = { once: await idempotencyKeyOf(c), body: c.req.valid("json") };
    const reported = report(c.get("services"), namespace(c), request);
    unwrap(await wrapTime(c, "object", reported));
    return c.body(null, 204);
  })
  .openapi(getStats, async (c) => {
    const page = stats(c.get("services"), namespace(c), c.req.valid("query"));
    return c.json(unwrap(await wrapTime(c, "object", page)), 200);
  });
