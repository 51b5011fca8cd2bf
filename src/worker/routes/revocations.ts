import { listRevocations, restoreToken, revokeToken, setMinIssuedAt } from "../auth/revoke.ts";
import { body, json, nothing, optionalBody, route } from "../http/describe.ts";
import { wholeTenant } from "../http/owner.ts";
import { unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import {
  ListRevocationsQuery,
  MinIssuedAt,
  MinIssuedAtBody,
  RevocationsList,
  RevokedToken,
  revokedTokenPath,
  RevokeTokenBody,
} from "../../domain/schema/revocation.ts";

const TENANT = wholeTenant("lists and changes revocations");

const list = route("get", "/v1/revocations", {
  operationId: "listRevocations",
  summary: "List revoked tokens, and the time before which all tokens are refused",
  scope: "admin",
  owner: TENANT,
  request: { query: ListRevocationsQuery },
  responses: { 200: json(RevocationsList, "A page of revoked tokens, by their ids.") },
});

const setMinimum = route("put", "/v1/revocations/min-issued-at", {
  operationId: "setMinIssuedAt",
  summary: "Refuse all tokens issued before a time",
  description:
    "Takes effect everywhere within 30 seconds, or 5 minutes while D1 is down. Refuses this call's token too, if older.",
  scope: "admin",
  owner: TENANT,
  payload: "verbatim",
  request: { body: body(MinIssuedAtBody) },
  responses: { 200: json(MinIssuedAt, "The time that was set.") },
});

const clearMinimum = route("delete", "/v1/revocations/min-issued-at", {
  operationId: "clearMinIssuedAt",
  summary: "Clear the time before which all tokens are refused",
  scope: "admin",
  owner: TENANT,
  responses: { 204: nothing("No such time is set any more.") },
});

const revoke = route("put", "/v1/revocations/tokens/{tokenId}", {
  operationId: "revokeToken",
  summary: "Refuse one token, by its jti",
  description: "Takes effect everywhere within 30 seconds, or 5 minutes while D1 is down.",
  scope: "admin",
  owner: TENANT,
  payload: "verbatim",
  request: { params: revokedTokenPath, body: optionalBody(RevokeTokenBody) },
  responses: { 200: json(RevokedToken, "The token is revoked.") },
});

const restore = route("delete", "/v1/revocations/tokens/{tokenId}", {
  operationId: "restoreToken",
  summary: "End the revocation of one token",
  scope: "admin",
  owner: TENANT,
  request: { params: revokedTokenPath },
  responses: { 204: nothing("The token is not revoked any more.") },
});

export const revocations = newRouter("access")
  .openapi(list, async (c) => {
    return c.json(unwrap(await listRevocations(c.get("services"), c.req.valid("query"))), 200);
  })
  .openapi(setMinimum, async (c) => {
    const { minIssuedAt } = c.req.valid("json");
    c.set("about", String(minIssuedAt));
    unwrap(await setMinIssuedAt(c.get("services"), minIssuedAt));
    return c.json({ minIssuedAt }, 200);
  })
  .openapi(clearMinimum, async (c) => {
    unwrap(await setMinIssuedAt(c.get("services"), null));
    return c.body(null, 204);
  })
  .openapi(revoke, async (c) => {
    const { expiresAt } = c.req.valid("json");
    const { tokenId } = c.req.valid("param");
    c.set("about", tokenId);
    return c.json(unwrap(await revokeToken(c.get("services"), tokenId, expiresAt)), 200);
  })
  .openapi(restore, async (c) => {
    const { tokenId } = c.req.valid("param");
    c.set("about", tokenId);
    unwrap(await restoreToken(c.get("services"), tokenId));
    return c.body(null, 204);
  });
