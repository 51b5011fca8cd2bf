import { userPath } from "../../domain/schema/bounds.ts";
import { StatisticsQuery, TenantStatistics, UserSummary } from "../../domain/schema/statistics.ts";
import { afterAnswer, wrapTime } from "../http/answer.ts";
import { json, route } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { userObject } from "../http/path.ts";
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
  .answer(statisticsRoute, async (c, services) => {
    const { days = 30 } = c.req.valid("query");
    return unwrap(await tenantStatistics(services, days, (work) => afterAnswer(c, work)));
  })
  .answer(summaryRoute, async (c) => wrapTime(c, "object", (await userObject(c)).object.summary()));
