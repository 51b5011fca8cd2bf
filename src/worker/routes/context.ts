import { z } from "@hono/zod-openapi";
import { fail } from "../../domain/errors.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import {
  ContextAnswer,
  ContextBody,
  ContextProfile,
  ContextProfileBody,
  ContextProfileList,
} from "../../domain/schema/context.ts";
import { name } from "../../domain/schema/memory-fields.ts";
import { conditionOf, isNotModified } from "../http/conditions.ts";
import { body, conditionHeaders, json, nothing, optionalBody, route } from "../http/describe.ts";
import { Refusal } from "../http/failure.ts";
import { assertScope, isReadOnly } from "../http/guard.ts";
import { ofUser, readOwners, byAdmin } from "../http/owner.ts";
import { userObject } from "../http/path.ts";
import { newRouter } from "../http/router.ts";
import { rawJson, timed, wrapTime } from "../http/answer.ts";
import { context } from "../use-cases/context.ts";

const tenantProfilePath = z.object({ profile: name.openapi({ example: "support" }) });
const profilePath = userPath.extend(tenantProfilePath.shape);

const TENANT = byAdmin("keeps the tenant's context profiles");

const contextRoute = route("post", "/v1/users/{user}/context", {
  operationId: "context",
  summary: "Get the memory of a prompt",
  description:
    "The stable block stays the same from turn to turn. The turn's block has what the query needs, and is kept with the user's message.",
  scope: "read",
  owner: ofUser,
  request: {
    params: userPath,
    headers: conditionHeaders,
    body: optionalBody(ContextBody),
  },
  responses: {
    200: json(ContextAnswer, "The blocks, with their etag as ETag."),
    304: nothing("The blocks have the etag of `If-None-Match`."),
  },
});

const listProfiles = route("get", "/v1/users/{user}/context-profiles", {
  operationId: "listContextProfiles",
  summary: "List the stored lists of layers",
  scope: "read",
  owner: ofUser,
  request: { params: userPath },
  responses: { 200: json(ContextProfileList, "All of them, by name.") },
});

const putProfile = route("put", "/v1/users/{user}/context-profiles/{profile}", {
  operationId: "putContextProfile",
  summary: "Store a list of layers under a name",
  scope: "write",
  owner: ofUser,
  request: { params: profilePath, body: body(ContextProfileBody) },
  responses: { 200: json(ContextProfile, "The profile.") },
});

const deleteProfile = route("delete", "/v1/users/{user}/context-profiles/{profile}", {
  operationId: "deleteContextProfile",
  summary: "Delete a stored list of layers",
  scope: "write",
  owner: ofUser,
  request: { params: profilePath },
  responses: { 204: nothing("There is no such profile any more.") },
});

const listTenantProfiles = route("get", "/v1/context-profiles", {
  operationId: "listTenantContextProfiles",
  summary: "List the lists of layers that all users can name",
  ...TENANT,
  responses: { 200: json(ContextProfileList, "All of them, by name.") },
});

const putTenantProfile = route("put", "/v1/context-profiles/{profile}", {
  operationId: "putTenantContextProfile",
  summary: "Store a list of layers that all users can name",
  description: "A user's own list of the same name goes before it.",
  ...TENANT,
  payload: "verbatim",
  request: { params: tenantProfilePath, body: body(ContextProfileBody) },
  responses: { 200: json(ContextProfile, "The profile.") },
});

const deleteTenantProfile = route("delete", "/v1/context-profiles/{profile}", {
  operationId: "deleteTenantContextProfile",
  summary: "Delete a list of layers that all users can name",
  ...TENANT,
  request: { params: tenantProfilePath },
  responses: { 204: nothing("There is no such profile any more.") },
});

export const contexts = newRouter("memories")
  .openapi(contextRoute, async (c) => {
    const { user } = c.req.valid("param");
    const condition = conditionOf(c);
    const request = c.req.valid("json");
    if (request.thread !== undefined) assertScope(c, "write", false);
    await readOwners(c, request.owners);
    const made = context(c.get("services"), user, request, { readOnly: isReadOnly(c) });
    const { answer, history } = await timed(c, "context", made);
    const headers = { ETag: `"${answer.etag}"` };
    if (isNotModified(condition, answer.etag)) return c.body(null, 304, headers);
    if (history === undefined) return c.json(answer, 200, headers);
    const open = JSON.stringify(answer).slice(0, -1);
    return rawJson<ContextAnswer>(c, [`${open},"history":[`, history, "]}"], headers);
  })
  .answer(listProfiles, async (c) => {
    const { object } = await userObject(c);
    return { items: await wrapTime(c, "object", object.listContextProfiles()) };
  })
  .answer(putProfile, async (c) => {
    const { owner, object } = await userObject(c);
    const profile = { name: c.req.valid("param").profile, layers: c.req.valid("json").layers };
    await timed(c, "object", object.putContextProfile(owner, profile));
    return profile;
  })
  .answer(deleteProfile, async (c) => {
    const { object } = await userObject(c);
    return wrapTime(c, "object", object.deleteContextProfile(c.req.valid("param").profile));
  })
  .answer(listTenantProfiles, async (_, { tenantProfiles }) => ({ items: await tenantProfiles.list() }))
  .answer(putTenantProfile, async (c, { tenantProfiles }) => {
    const profile = { name: c.req.valid("param").profile, layers: c.req.valid("json").layers };
    if (!(await tenantProfiles.put(profile))) throw new Refusal(fail("limit_reached"));
    return profile;
  })
  .answer(deleteTenantProfile, (c, { tenantProfiles }) =>
    tenantProfiles.delete(c.req.valid("param").profile),
  );
