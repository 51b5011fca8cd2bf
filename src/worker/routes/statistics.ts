import { userHash } from "../../domain/ids.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { StatisticsQuery, TenantStatistics, UserSummary } from "../../domain/schema/statistics.ts";
import { wrapTime } from "../http/answer.ts";
import { afterAnswer } from "../http/after-answer.ts";
import { json, route } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { ofUser, wholeTenant } from "../http/owner.ts";
import { tenantStatistics } from "../use-cases/statistics.ts";

const statisticsRoute = route("get", "/v1/statistics", {
  operationId: "getStatistics",
  summary: "Count users, memories, threads and recalls over time",
  description: "Reads the index of all memories: call it for a look, not for each request.",
  scope: "admin",
  owner: wholeTenant("counts the tenant"),
  request: { query: StatisticsQuery },
  responses: { 200: json(TenantStatistics, "The counts, the oldest first.") },
});

const summaryRoute = route("get", "/v1/users/{user}/summary", {
  operationId: "getUserSummary",
  summary: "Tell what a user holds, and what is under way",
  scope: "read",
  owner: ofUser,
  request: { params: userPath },
  responses: { 200: json(UserSummary, "Counts, bytes, unfinished ingests and the webhook.") },
});

export const statistics = newRouter("service")
  .openapi(statisticsRoute, async (c) => {
    const { days = 30 } = c.req.valid("query");
    return c.json(
      unwrap(await tenantStatistics(c.get("services"), days, (work) => afterAnswer(c, work))),
      200,
    );
  })
  .openapi(summaryRoute, async (c) => {
    const { userMemory } = c.get("services");
    const object = userMemory(await userHash(c.req.valid("param").user));
    return c.json(await wrapTime(c, "object", object.summary()), 200);
  });
