import { createRoute } from "@hono/zod-openapi";
import { listRevocations, restoreToken, revokeToken, setMinIssuedAt } from "../auth/revoke.ts";
import { requireWholeTenant } from "../http/authenticate.ts";
import { body, failures, json, nothing, optionalBody } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { unwrap } from "../http/failure.ts";
import { newRouter } from "../http/router.ts";
import { noQuery } from "../../domain/schema/bounds.ts";
import {
  ListRevocationsQuery,
  MinIssuedAt,
  MinIssuedAtBody,
  RevocationsList,
  RevokedToken,
  revokedTokenPath,
  RevokeTokenBody,
} from "../../domain/schema/revocation.ts";

const shared = { tags: ["access"], ...requireScope("admin") };

const list = createRoute({
  method: "get",
  path: "/v1/revocations",
  operationId: "listRevocations",
  summary: "List what is revoked: tokens by their ids, and the time before which none may have been issued",
  ...shared,
  request: { query: ListRevocationsQuery },
  responses: { 200: json(RevocationsList, "A page of revoked tokens, by their ids."), ...failures },
});

const setFloor = createRoute({
  method: "put",
  path: "/v1/revocations/min-issued-at",
  operationId: "setMinIssuedAt",
  summary: "Refuse all tokens that were issued before a time",
  description:
    "Holds everywhere within 30 seconds. The token of this very call is refused too, if it is older: mint a new one.",
  ...shared,
  request: { query: noQuery, body: body(MinIssuedAtBody) },
  responses: { 200: json(MinIssuedAt, "From now on, by this time."), ...failures },
});

const removeFloor = createRoute({
  method: "delete",
  path: "/v1/revocations/min-issued-at",
  operationId: "clearMinIssuedAt",
  summary: "Take tokens however old they are",
  ...shared,
  request: { query: noQuery },
  responses: { 204: nothing("There is no such time any more."), ...failures },
});

const revoke = createRoute({
  method: "put",
  path: "/v1/revocations/tokens/{tokenId}",
  operationId: "revokeToken",
  summary: "Refuse one token, by its jti",
  description: "Holds everywhere within 30 seconds.",
  ...shared,
  request: { params: revokedTokenPath, query: noQuery, body: optionalBody(RevokeTokenBody) },
  responses: { 200: json(RevokedToken, "It is revoked."), ...failures },
});

const restore = createRoute({
  method: "delete",
  path: "/v1/revocations/tokens/{tokenId}",
  operationId: "restoreToken",
  summary: "Take back the revocation of one token",
  ...shared,
  request: { params: revokedTokenPath, query: noQuery },
  responses: { 204: nothing("It is not revoked, or never was."), ...failures },
});

const REVOKES = "sees and changes what is revoked";

export const revocations = newRouter()
  .openapi(list, async (c) => {
    requireWholeTenant(c, REVOKES);
    return c.json(unwrap(await listRevocations(c.get("services"), c.req.valid("query"))), 200);
  })
  .openapi(setFloor, async (c) => {
    requireWholeTenant(c, REVOKES);
    const { minIssuedAt } = c.req.valid("json");
    c.set("about", String(minIssuedAt));
    unwrap(await setMinIssuedAt(c.get("services"), minIssuedAt));
    return c.json({ minIssuedAt }, 200);
  })
  .openapi(removeFloor, async (c) => {
    requireWholeTenant(c, REVOKES);
    unwrap(await setMinIssuedAt(c.get("services"), null));
    return c.body(null, 204);
  })
  .openapi(revoke, async (c) => {
    requireWholeTenant(c, REVOKES);
    const { expiresAt } = c.req.valid("json");
    const { tokenId } = c.req.valid("param");
    c.set("about", tokenId);
    return c.json(unwrap(await revokeToken(c.get("services"), tokenId, expiresAt)), 200);
  })
  .openapi(restore, async (c) => {
    requireWholeTenant(c, REVOKES);
    const { tokenId } = c.req.valid("param");
    c.set("about", tokenId);
    unwrap(await restoreToken(c.get("services"), tokenId));
    return c.body(null, 204);
  });
