import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import { fail } from "../../domain/errors.ts";
import { present } from "../../domain/present.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { idOwner } from "../../domain/thread-id.ts";
import { MemoryUsageList, Outcome, OutcomeBody, recallPath, UsageQuery } from "../../domain/schema/usage.ts";
import { timed, wrapTime } from "../http/answer.ts";
import { body, json, route } from "../http/describe.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { userObject } from "../http/path.ts";
import { newRouter } from "../http/router.ts";
import { ofUser, ownedBy } from "../http/owner.ts";

const outcomeRoute = route("post", "/v1/recalls/{id}/outcome", {
  operationId: "recallOutcome",
  summary: "Tell which memories of a recall were used",
  description:
    "Counts once, within a day of the recall or the context. Changes nothing but counters, and no ranking.",
  scope: "read",
  owner: ownedBy("id", { isOwnOnly: true }),
  request: { params: recallPath, body: body(OutcomeBody) },
  responses: { 200: json(Outcome, "The memories that were counted.") },
});

const usageRoute = route("get", "/v1/users/{user}/usage", {
  operationId: "listMemoryUsage",
  summary: "List how often memories were recalled and used",
  scope: "read",
  owner: ofUser,
  request: { params: userPath, query: UsageQuery },
  responses: { 200: json(MemoryUsageList, "A page of memories, in the order of their ids.") },
});

export const usage = newRouter("recall")
  .answer(outcomeRoute, async (c, { recallIds, userMemory }) => {
    const id = await recallIds.opened(c.req.valid("param").id);
    const owner = idOwner(id ?? "");
    if (id === null || owner === null) throw new Refusal(fail("not_found"));
    return timed(c, "object", userMemory(owner).recallOutcome(id, c.req.valid("json")));
  })
  .answer(usageRoute, async (c) => {
    const { limit = 50, cursor, unusedDays } = c.req.valid("query");
    const { owner, object } = await userObject(c);
    const list = `usage ${owner.hash}`;
    const after = unwrap(decodeCursor(list, cursor, ["string"]));
    const page = { limit: limit + 1, ...present({ after: after?.[0], unusedDays }) };
    const rows = await wrapTime(c, "object", object.memoryUsage(page));
    return pageOf(rows, limit, { list, show: (one) => one, keyOf: ({ memoryId }) => [memoryId] });
  });
