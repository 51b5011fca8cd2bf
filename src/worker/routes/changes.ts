import { userHash } from "../../domain/ids.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { Changes, ChangesQuery } from "../../domain/schema/changes.ts";
import { NO_STORE, wrapTime } from "../http/answer.ts";
import { json, route } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { ofUser } from "../http/owner.ts";

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

export const changes = newRouter("changes").openapi(read, async (c) => {
  const { after, limit = 100 } = c.req.valid("query");
  const object = c.get("services").userMemory(await userHash(c.req.valid("param").user));
  const page = object.changes({ limit, ...(after !== undefined && { after }) });
  return c.json(unwrap(await wrapTime(c, "object", page)), 200, NO_STORE);
});
