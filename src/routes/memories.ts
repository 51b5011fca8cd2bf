import { createRoute } from "@hono/zod-openapi";
import { fail } from "../errors.ts";
import { body, failures, idempotencyHeader, json, nothing, scoped } from "../http/describe.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { onceOf } from "../http/idempotency.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { userHash } from "../ids.ts";
import { getMemory, listMemories } from "../memory/browse.ts";
import { recall } from "../memory/recall.ts";
import { remember } from "../memory/remember.ts";
import { noQuery, userPath } from "../schema/bounds.ts";
import { ListMemoriesQuery, Memory, MemoryList, memoryPath, RememberBody } from "../schema/memory.ts";
import { RecallAnswer, RecallBody } from "../schema/recall.ts";

const rememberOne = createRoute({
  method: "post",
  path: "/v1/users/{user}/memories",
  summary: "Remember",
  tags: ["memories"],
  ...scoped("write"),
  request: { params: userPath, query: noQuery, headers: idempotencyHeader, body: body(RememberBody) },
  responses: {
    201: json(Memory, "A new memory; recall finds it from now on."),
    200: json(
      Memory,
      "The memory was there already (the same kind and words): tags and metadata are added to it.",
    ),
    ...failures,
  },
});

const list = createRoute({
  method: "get",
  path: "/v1/users/{user}/memories",
  summary: "List memories by age",
  tags: ["memories"],
  ...scoped("read"),
  request: { params: userPath, query: ListMemoriesQuery },
  responses: { 200: json(MemoryList, "A page of memories."), ...failures },
});

const get = createRoute({
  method: "get",
  path: "/v1/users/{user}/memories/{id}",
  summary: "Get a memory",
  tags: ["memories"],
  ...scoped("read"),
  request: { params: memoryPath, query: noQuery },
  responses: { 200: json(Memory, "The memory."), ...failures },
});

const forget = createRoute({
  method: "delete",
  path: "/v1/users/{user}/memories/{id}",
  summary: "Forget a memory",
  tags: ["memories"],
  ...scoped("write"),
  request: { params: memoryPath, query: noQuery },
  responses: { 204: nothing("It is gone, from the record and from recall."), ...failures },
});

const recallHits = createRoute({
  method: "post",
  path: "/v1/users/{user}/recall",
  summary: "Recall by meaning and by words",
  tags: ["memories"],
  ...scoped("read"),
  request: { params: userPath, query: noQuery, body: body(RecallBody) },
  responses: { 200: json(RecallAnswer, "What was found, best first, and how."), ...failures },
});

export const memories = newRouter()
  .openapi(rememberOne, async (c) => {
    const { user } = c.req.valid("param");
    const owner = { hash: await userHash(user), id: user };
    const once = await onceOf(c);
    const remembered = remember(c.get("services"), owner, {
      body: c.req.valid("json"),
      ...(once && { once }),
    });
    const { memory, created } = unwrap(await wrapTime(c, "remember", remembered));
    return created ? c.json(memory, 201) : c.json(memory, 200);
  })
  .openapi(list, async (c) => {
    const { user } = c.req.valid("param");
    const page = listMemories(c.get("services").records, await userHash(user), c.req.valid("query"));
    return c.json(unwrap(await wrapTime(c, "d1", page)), 200);
  })
  .openapi(get, async (c) => {
    const { user, id } = c.req.valid("param");
    const memory = getMemory(c.get("services").records, await userHash(user), id);
    return c.json(unwrap(await wrapTime(c, "d1", memory)), 200);
  })
  .openapi(forget, async (c) => {
    const { user, id } = c.req.valid("param");
    const hash = await userHash(user);
    const forgotten = c.get("services").userMemory(hash).forget({ hash, id: user }, id);
    const known = unwrap(await wrapTime(c, "object", forgotten));
    if (!known) throw new Refusal(fail("not_found"));
    return c.body(null, 204);
  })
  .openapi(recallHits, async (c) => {
    const { user } = c.req.valid("param");
    const answer = recall(c.get("services"), await userHash(user), c.req.valid("json"));
    return c.json(unwrap(await wrapTime(c, "recall", answer)), 200);
  });
