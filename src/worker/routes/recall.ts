import { body, json, route } from "../http/describe.ts";
import { isReadOnly } from "../http/guard.ts";
import { ofUser, readOwners } from "../http/owner.ts";
import { unwrap } from "../http/failure.ts";
import { requireExactMetadata } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { afterAnswer, wrapTime } from "../http/answer.ts";
import { recall } from "../use-cases/recall.ts";
import { keepRecalls } from "../use-cases/statistics.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { RecallAnswer, RecallBody } from "../../domain/schema/recall.ts";

const recallRoute = route("post", "/v1/users/{user}/recall", {
  operationId: "recall",
  summary: "Find memories and messages by meaning and by words",
  description:
    "Finds everything that was written before. If a part is down, the others answer and `degraded` is true.",
  scope: "read",
  owner: ofUser,
  request: { params: userPath, body: body(RecallBody) },
  responses: { 200: json(RecallAnswer, "The hits, best first, and how they were found.") },
});

export const recalls = newRouter("memories").answer(recallRoute, async (c, services) => {
  requireExactMetadata(c, "filter");
  const request = c.req.valid("json");
  await readOwners(c, request.owners);
  const found = recall(services, c.req.valid("param").user, request, { readOnly: isReadOnly(c) });
  const answer = await wrapTime(c, "recall", found);
  afterAnswer(c, keepRecalls(services));
  return unwrap(answer);
});
