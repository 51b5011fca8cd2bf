import { userPath } from "../../domain/schema/bounds.ts";
import {
  RetentionBody,
  RetentionQuery,
  TenantRetention,
  TenantRetentionQuery,
  UserRetention,
} from "../../domain/schema/retention.ts";
import { alwaysAudited, body, json, nothing, route } from "../http/describe.ts";
import { unwrap } from "../http/failure.ts";
import { ofUser, byAdmin } from "../http/owner.ts";
import { userObject } from "../http/path.ts";
import { newRouter } from "../http/router.ts";
import { previewTenantRetention, setTenantRetention, tenantRetention } from "../use-cases/retention.ts";

const TENANT = byAdmin("keeps the tenant's rules of retention");

const get = route("get", "/v1/retention", {
  operationId: "getRetention",
  summary: "Get the tenant's rules of retention",
  ...TENANT,
  responses: { 200: json(TenantRetention, "As they were set; empty before.") },
});

const put = route("put", "/v1/retention", {
  operationId: "putRetention",
  summary: "Set how long the data of all users are kept",
  description:
    "Takes the place of all that was set before. The cron tells 500 users an hour, and each of them deletes an hour later, and then daily. With `dryRun`, counts 100 users.",
  ...TENANT,
  payload: "verbatim",
  request: { query: TenantRetentionQuery, body: body(RetentionBody) },
  responses: { 200: json(TenantRetention, "As they are set, or what they would delete.") },
});

const remove = route("delete", "/v1/retention", {
  operationId: "deleteRetention",
  summary: "Delete the tenant's rules of retention",
  ...TENANT,
  responses: { 204: nothing("Nothing is set.") },
});

const getOfUser = route("get", "/v1/users/{user}/retention", {
  operationId: "getUserRetention",
  summary: "Get a user's rules of retention, and what they will delete",
  scope: "read",
  owner: ofUser,
  request: { params: userPath },
  responses: { 200: json(UserRetention, "The rules, what is past its time, and the last deletion.") },
});

const putOfUser = route("put", "/v1/users/{user}/retention", {
  operationId: "putUserRetention",
  summary: "Set how long a user's data are kept, besides the tenant's rules",
  description:
    "Takes the place of all of the user's own rules. The first deletion is an hour later. With `dryRun`, counts what it would delete.",
  scope: "write",
  owner: ofUser,
  ...alwaysAudited,
  request: { params: userPath, query: RetentionQuery, body: body(RetentionBody) },
  responses: { 200: json(UserRetention, "The rules, and what is past its time by them.") },
});

const removeOfUser = route("delete", "/v1/users/{user}/retention", {
  operationId: "deleteUserRetention",
  summary: "Delete a user's own rules of retention",
  description: "Those of the tenant stay.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath },
  responses: { 204: nothing("The user has no rules.") },
});

export const retention = newRouter("erasure")
  .answer(get, async (_, services) => unwrap(await tenantRetention(services)))
  .answer(put, async (c, services) => {
    const { dryRun, cursor } = c.req.valid("query");
    const rules = c.req.valid("json");
    if (dryRun !== "true") return unwrap(await setTenantRetention(services, rules));
    c.set("about", "dryRun");
    return unwrap(await previewTenantRetention(services, rules, cursor));
  })
  .answer(remove, async (_, services) => {
    unwrap(await setTenantRetention(services, {}));
  })
  .answer(getOfUser, async (c) => (await userObject(c)).object.retention())
  .answer(putOfUser, async (c) => {
    const { owner, object } = await userObject(c);
    const own = c.req.valid("json");
    if (c.req.valid("query").dryRun !== "true") return object.setRetention(owner, { own });
    c.set("about", "dryRun");
    return object.retention({ own });
  })
  .answer(removeOfUser, async (c) => {
    const { object } = await userObject(c);
    await object.setRetention(null, { own: {} });
  });
