import { json, noBody, route } from "../http/describe.ts";
import { ofUser, byAdmin } from "../http/owner.ts";
import { unwrap } from "../http/failure.ts";
import { userObject } from "../http/path.ts";
import { newRouter } from "../http/router.ts";
import { startTenantReindex, tenantReindexState, upkeep } from "../use-cases/upkeep.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { Reindex, TenantReindex } from "../../domain/schema/reindex.ts";

const TENANT = byAdmin("reindexes the tenant");

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
  ...TENANT,
  request: { body: noBody },
  responses: { 202: json(TenantReindex, "The reindex has begun.") },
});

const getTenant = route("get", "/v1/reindex", {
  operationId: "getTenantReindex",
  summary: "Get the progress of the last reindex of all users",
  ...TENANT,
  responses: { 200: json(TenantReindex, "The last reindex.") },
});

export const reindex = newRouter("memories")
  .answer(startUser, async (c) => {
    const { owner, object } = await userObject(c);
    return object.startReindex(owner.hash);
  })
  .answer(getUser, async (c) => (await userObject(c)).object.reindexState())
  .answer(startTenant, async (c, services) => {
    const started = unwrap(await startTenantReindex(services));
    c.executionCtx.waitUntil(upkeep(services));
    return started;
  })
  .answer(getTenant, async (_, services) => unwrap(await tenantReindexState(services)));
