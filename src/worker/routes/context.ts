import { z } from "@hono/zod-openapi";
import { fail } from "../../domain/errors.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import {
  ContextAnswer,
  ContextBody,
  ContextProfile,
  ContextProfileBody,
  ContextProfileList,
} from "../../domain/schema/context.ts";
import { name } from "../../domain/schema/memory-fields.ts";
import { userHash } from "../../domain/ids.ts";
import { conditionOf, isNotModified } from "../http/conditions.ts";
import { body, conditionHeaders, json, nothing, optionalBody, route } from "../http/describe.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { assertScope, isReadOnly } from "../http/guard.ts";
import { ofUser, wholeTenant } from "../http/owner.ts";
import { readOwners } from "../http/shared-owners.ts";
import { newRouter } from "../http/router.ts";
import { rawJson, wrapTime } from "../http/answer.ts";
import { context } from "../use-cases/context.ts";

const tenantProfilePath = z.object({
  profile: name.openapi({ example: "support" }),
});
const profilePath = userPath.extend(tenantProfilePath.shape);

const TENANT = wholeTenant("keeps the tenant's context profiles");

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
  scope: "admin",
  owner: TENANT,
  responses: { 200: json(ContextProfileList, "All of them, by name.") },
});

const putTenantProfile = route("put", "/v1/context-profiles/{profile}", {
  operationId: "putTenantContextProfile",
  summary: "Store a list of layers that all users can name",
  description: "A user's own list of the same name goes before it.",
  scope: "admin",
  owner: TENANT,
  payload: "verbatim",
  request: { params: tenantProfilePath, body: body(ContextProfileBody) },
  responses: { 200: json(ContextProfile, "The profile.") },
});

const deleteTenantProfile = route("delete", "/v1/context-profiles/{profile}", {
  operationId: "deleteTenantContextProfile",
  summary: "Delete a list of layers that all users can name",
  scope: "admin",
  owner: TENANT,
  request: { params: tenantProfilePath },
  responses: { 204: nothing("There is no such profile any more.") },
});

export const contexts = newRouter("memories")
  .openapi(contextRoute, async (c) => {
    const { user } = c.req.valid("param");
    const condition = conditionOf(c);
    const asked = c.req.valid("json");
    if (asked.thread !== undefined) assertScope(c, "write", false);
    await readOwners(c, asked.owners);
    const { answer, history } = unwrap(
      await wrapTime(c, "context", context(c.get("services"), user, asked, { readOnly: isReadOnly(c) })),
    );
    const headers = { ETag: `"${answer.etag}"` };
    if (isNotModified(condition, answer.etag)) return c.body(null, 304, headers);
    return history === undefined
      ? c.json(answer, 200, headers)
      : rawJson<ContextAnswer>(
          c,
          [`${JSON.stringify(answer).slice(0, -1)},"history":[`, history, "]}"],
          headers,
        );
  })
  .openapi(listProfiles, async (c) => {
    const object = c.get("services").userMemory(await userHash(c.req.valid("param").user));
    return c.json({ items: await wrapTime(c, "object", object.listContextProfiles()) }, 200);
  })
  .openapi(putProfile, async (c) => {
    const { user, profile } = c.req.valid("param");
    const owner = await ownerOf(user);
    const stored = { name: profile, layers: c.req.valid("json").layers };
    const object = c.get("services").userMemory(owner.hash);
    unwrap(await wrapTime(c, "object", object.putContextProfile(owner, stored)));
    return c.json(stored, 200);
  })
  .openapi(deleteProfile, async (c) => {
    const { user, profile } = c.req.valid("param");
    const object = c.get("services").userMemory(await userHash(user));
    await wrapTime(c, "object", object.deleteContextProfile(profile));
    return c.body(null, 204);
  })
  .openapi(listTenantProfiles, async (c) => {
    return c.json({ items: await c.get("services").tenantProfiles.list() }, 200);
  })
  .openapi(putTenantProfile, async (c) => {
    const stored = { name: c.req.valid("param").profile, layers: c.req.valid("json").layers };
    if (!(await c.get("services").tenantProfiles.put(stored))) throw new Refusal(fail("limit_reached"));
    return c.json(stored, 200);
  })
  .openapi(deleteTenantProfile, async (c) => {
    await c.get("services").tenantProfiles.delete(c.req.valid("param").profile);
    return c.body(null, 204);
  });
