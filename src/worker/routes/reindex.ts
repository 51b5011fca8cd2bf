import { createRoute } from "@hono/zod-openapi";
import { requireWholeTenant } from "../http/authenticate.ts";
import { failures, json, noBody } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { userHash } from "../../domain/ids.ts";
import { startTenantReindex, tenantReindexState, upkeep } from "../use-cases/upkeep.ts";
import { noQuery, userPath } from "../../domain/schema/bounds.ts";
import { Reindex, TenantReindex } from "../../domain/schema/reindex.ts";

const startUser = createRoute({
  method: "post",
  path: "/v1/users/{user}/reindex",
  operationId: "reindexUser",
  summary: "Rebuild a user's index of memories from the record",
  description: "In slices, while recall goes on. Also embeds what has no vector of the current model.",
  tags: ["memories"],
  ...requireScope("write"),
  request: { params: userPath, query: noQuery, body: noBody },
  responses: { 202: json(Reindex, "It has begun."), ...failures },
});

const getUser = createRoute({
  method: "get",
  path: "/v1/users/{user}/reindex",
  operationId: "getUserReindex",
  summary: "How far the last reindex of a user is",
  tags: ["memories"],
  ...requireScope("read"),
  request: { params: userPath, query: noQuery },
  responses: { 200: json(Reindex, "The last one."), ...failures },
});

const startTenant = createRoute({
  method: "post",
  path: "/v1/reindex",
  operationId: "reindexTenant",
  summary: "Rebuild the index of every user of the tenant",
  description: "The first 500 users at once, 500 more with every run of the cron.",
  tags: ["memories"],
  ...requireScope("admin"),
  request: { query: noQuery, body: noBody },
  responses: { 202: json(TenantReindex, "It has begun."), ...failures },
});

const getTenant = createRoute({
  method: "get",
  path: "/v1/reindex",
  operationId: "getTenantReindex",
  summary: "How far the last reindex of the tenant is",
  tags: ["memories"],
  ...requireScope("admin"),
  request: { query: noQuery },
  responses: { 200: json(TenantReindex, "The last one."), ...failures },
});

const REINDEXES = "reindexes the tenant";

export const reindex = newRouter()
  .openapi(startUser, async (c) => {
    const owner = await userHash(c.req.valid("param").user);
    return c.json(await c.get("services").userMemory(owner).startReindex(owner), 202);
  })
  .openapi(getUser, async (c) => {
    const owner = await userHash(c.req.valid("param").user);
    return c.json(await c.get("services").userMemory(owner).reindexState(), 200);
  })
  .openapi(startTenant, async (c) => {
    requireWholeTenant(c, REINDEXES);
    const services = c.get("services");
    const started = unwrap(await startTenantReindex(services));
    c.executionCtx.waitUntil(upkeep(services));
    return c.json(started, 202);
  })
  .openapi(getTenant, async (c) => {
    requireWholeTenant(c, REINDEXES);
    return c.json(unwrap(await tenantReindexState(c.get("services"))), 200);
  });
