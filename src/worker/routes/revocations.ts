import { listRevocations, restoreToken, revokeToken, setMinIssuedAt } from "../auth/revoke.ts";
import { body, json, nothing, optionalBody, route } from "../http/describe.ts";
import { byAdmin } from "../http/owner.ts";
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

const TENANT = byAdmin("lists and changes revocations");

const list = route("get", "/v1/revocations", {
  operationId: "listRevocations",
  summary: "List revoked tokens, and the time before which all tokens are refused",
  ...TENANT,
  request: { query: ListRevocationsQuery },
  responses: { 200: json(RevocationsList, "A page of revoked tokens, by their ids.") },
});

const setMinimum = route("put", "/v1/revocations/min-issued-at", {
  operationId: "setMinIssuedAt",
  summary: "Refuse all tokens issued before a time",
  description:
    "Takes effect everywhere within 30 seconds, or 5 minutes while D1 is down. Refuses this call's token too, if older.",
  ...TENANT,
  payload: "verbatim",
  request: { body: body(MinIssuedAtBody) },
  responses: { 200: json(MinIssuedAt, "The time that was set.") },
});

const clearMinimum = route("delete", "/v1/revocations/min-issued-at", {
  operationId: "clearMinIssuedAt",
  summary: "Clear the time before which all tokens are refused",
  ...TENANT,
  responses: { 204: nothing("No such time is set any more.") },
});

const revoke = route("put", "/v1/revocations/tokens/{tokenId}", {
  operationId: "revokeToken",
  summary: "Refuse one token, by its jti",
  description: "Takes effect everywhere within 30 seconds, or 5 minutes while D1 is down.",
  ...TENANT,
  payload: "verbatim",
  request: { params: revokedTokenPath, body: optionalBody(RevokeTokenBody) },
  responses: { 200: json(RevokedToken, "The token is revoked.") },
});

const restore = route("delete", "/v1/revocations/tokens/{tokenId}", {
  operationId: "restoreToken",
  summary: "End the revocation of one token",
  ...TENANT,
  request: { params: revokedTokenPath },
  responses: { 204: nothing("The token is not revoked any more.") },
});

export const revocations = newRouter("access")
  .answer(list, async (c, services) => unwrap(await listRevocations(services, c.req.valid("query"))))
  .answer(setMinimum, async (c, services) => {
    const { minIssuedAt } = c.req.valid("json");
    c.set("about", String(minIssuedAt));
    unwrap(await setMinIssuedAt(services, minIssuedAt));
    return { minIssuedAt };
  })
  .answer(clearMinimum, async (_, services) => unwrap(await setMinIssuedAt(services, null)))
  .answer(revoke, async (c, services) => {
    const { tokenId } = c.req.valid("param");
    c.set("about", tokenId);
    return unwrap(await revokeToken(services, tokenId, c.req.valid("json").expiresAt));
  })
  .answer(restore, async (c, services) => {
    const { tokenId } = c.req.valid("param");
    c.set("about", tokenId);
    unwrap(await restoreToken(services, tokenId));
  });
