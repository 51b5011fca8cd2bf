import { json, noBody, route } from "../http/describe.ts";
import { ofUser, wholeTenant } from "../http/owner.ts";
import { unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { userHash } from "../../domain/ids.ts";
import { startTenantReindex, tenantReindexState, upkeep } from "../use-cases/upkeep.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { Reindex, TenantReindex } from "../../domain/schema/reindex.ts";

const TENANT = wholeTenant("reindexes the tenant");

const startUser = route("post", "/v1/users/{user}/reindex", {
  operationId: "reindexUser",
  summary: "Rebuild a user's search index from the record",
  description:
    "Runs in slices, while recall goes on. Also embeds memories without a vector of the current model.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath, body: noBody },
  responses: { 202: json(Reindex, "The reindex has begun.") },
});

const getUser = route("get", "/v1/users/{user}/reindex", {
  operationId: "getUserReindex",
  summary: "Get the progress of a user's last reindex",
  scope: "read",
  owner: ofUser,
  request: { params: userPath },
  responses: { 200: json(Reindex, "The last reindex.") },
});

const startTenant = route("post", "/v1/reindex", {
  operationId: "reindexTenant",
  summary: "Rebuild the search index of every user",
  description: "Starts with 500 users; each run of the cron takes 500 more.",
  scope: "admin",
  owner: TENANT,
  request: { body: noBody },
  responses: { 202: json(TenantReindex, "The reindex has begun.") },
});

const getTenant = route("get", "/v1/reindex", {
  operationId: "getTenantReindex",
  summary: "Get the progress of the last reindex of all users",
  scope: "admin",
  owner: TENANT,
  responses: { 200: json(TenantReindex, "The last reindex.") },
});

export const reindex = newRouter("memories")
  .openapi(startUser, async (c) => {
    const owner = await userHash(c.req.valid("param").user);
    return c.json(await c.get("services").userMemory(owner).startReindex(owner), 202);
  })
  .openapi(getUser, async (c) => {
    const owner = await userHash(c.req.valid("param").user);
    return c.json(await c.get("services").userMemory(owner).reindexState(), 200);
  })
  .openapi(startTenant, async (c) => {
    const services = c.get("services");
    const started = unwrap(await startTenantReindex(services));
    c.executionCtx.waitUntil(upkeep(services));
    return c.json(started, 202);
  })
  .openapi(getTenant, async (c) => {
    return c.json(unwrap(await tenantReindexState(c.get("services"))), 200);
  });
