import { createRoute } from "@hono/zod-openapi";
import { body, failures, idempotencyHeader, json, nothing } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { unwrap } from "../http/failure.ts";
import { onceOf } from "../http/idempotency.ts";
import { namespace } from "../http/namespace.ts";
import { requireExactNumbers } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { report, stats } from "../prompt-cache/report.ts";
import { resolve } from "../prompt-cache/resolve.ts";
import { noQuery } from "../../domain/schema/bounds.ts";
import {
  namespaceHeader,
  ReportBody,
  ResolveAnswer,
  ResolveBody,
  Stats,
  StatsQuery,
} from "../../domain/schema/prompt-cache.ts";

const shared = { tags: ["prompt-cache registry"], ...requireScope("cache") };

const resolveOne = createRoute({
  method: "post",
  path: "/v1/prompt-cache/resolve",
  operationId: "resolvePromptCache",
  summary: "What to do to have a prompt cached by its provider",
  ...shared,
  request: { headers: namespaceHeader, query: noQuery, body: body(ResolveBody) },
  responses: { 200: json(ResolveAnswer, "What to do, in `status`."), ...failures },
});

const reportOne = createRoute({
  method: "post",
  path: "/v1/prompt-cache/report",
  operationId: "reportPromptCacheUsage",
  summary: "Report what a provider counted for one call",
  ...shared,
  request: {
    headers: namespaceHeader.extend(idempotencyHeader.shape),
    query: noQuery,
    body: body(ReportBody),
  },
  responses: { 204: nothing("It is counted, for 90 days."), ...failures },
});

const getStats = createRoute({
  method: "get",
  path: "/v1/prompt-cache/stats",
  operationId: "getPromptCacheStats",
  summary: "What the caches saved, by the hour",
  ...shared,
  request: { headers: namespaceHeader, query: StatsQuery },
  responses: { 200: json(Stats, "A page of hours, and the sums of the whole range."), ...failures },
});

export const promptCache = newRouter()
  .openapi(resolveOne, async (c) => {
    requireExactNumbers(c, "regions");
    const answer = resolve(c.get("services"), namespace(c), c.req.valid("json"));
    return c.json(await wrapTime(c, "object", answer), 200);
  })
  .openapi(reportOne, async (c) => {
    const request = { once: await onceOf(c), body: c.req.valid("json") };
    const reported = report(c.get("services"), namespace(c), request);
    unwrap(await wrapTime(c, "object", reported));
    return c.body(null, 204);
  })
  .openapi(getStats, async (c) => {
    const found = stats(c.get("services"), namespace(c), c.req.valid("query"));
    return c.json(unwrap(await wrapTime(c, "object", found)), 200);
  });
