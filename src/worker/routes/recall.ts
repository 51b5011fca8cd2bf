import { afterAnswer } from "../http/after-answer.ts";
import { body, json, route } from "../http/describe.ts";
import { isReadOnly } from "../http/guard.ts";
import { ofUser } from "../http/owner.ts";
import { unwrap } from "../http/failure.ts";
import { readOwners } from "../http/shared-owners.ts";
import { requireExactMetadata } from "../http/raw-body.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/answer.ts";
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

export const recalls = newRouter("memories").openapi(recallRoute, async (c) => {
  requireExactMetadata(c, "filter");
  const { user } = c.req.valid("param");
  const asked = c.req.valid("json");
  await readOwners(c, asked.owners);
  const answer = await wrapTime(
    c,
    "recall",
    recall(c.get("services"), user, asked, { readOnly: isReadOnly(c) }),
  );
  afterAnswer(c, keepRecalls(c.get("services")));
  return c.json(unwrap(answer), 200);
});
