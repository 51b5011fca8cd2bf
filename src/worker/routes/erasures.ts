import { d1Result } from "../../platform/d1/d1-result.ts";
import { alwaysAudited, body, json, route } from "../http/describe.ts";
import { nobody, ofUser, ownedBy } from "../http/owner.ts";
import { unwrap } from "../http/failure.ts";
import { NO_STORE } from "../http/answer.ts";
import { limitAddress } from "../http/rates.ts";
import { newRouter } from "../http/router.ts";
import { erase, erasureOf } from "../use-cases/erase.ts";
import { userPath } from "../../domain/schema/bounds.ts";
import { EraseBody, Erasure, erasurePath, JsonWebKeys } from "../../domain/schema/erasure.ts";

const eraseUser = route("delete", "/v1/users/{user}", {
  operationId: "eraseUser",
  summary: "Erase all data of a user, with a receipt",
  description:
    "After this answer, no call reads the data. Every store is then emptied and read back. Later writes stay.",
  scope: "write",
  owner: ofUser,
  request: { params: userPath },
  responses: { 202: json(Erasure, "The erasure has begun.") },
});

const eraseSome = route("post", "/v1/users/{user}/erasures", {
  operationId: "createErasure",
  summary: "Erase one thread, or all memories of one scope, with a receipt",
  description:
    "Messages that a fork shares stay for the fork; the receipt counts them. An unknown thread is 404. For a scope without memories, the counts are 0.",
  scope: "write",
  owner: ofUser,
  ...alwaysAudited,
  request: { params: userPath, body: body(EraseBody) },
  responses: { 202: json(Erasure, "The erasure has begun.") },
});

const get = route("get", "/v1/erasures/{id}", {
  operationId: "getErasure",
  summary: "Get the progress of an erasure, and its receipt",
  scope: "read",
  owner: ownedBy("id"),
  request: { params: erasurePath },
  responses: { 200: json(Erasure, "The erasure.") },
});

const keys = route("get", "/.well-known/jwks.json", {
  operationId: "getReceiptKeys",
  summary: "The public keys that verify receipts",
  scope: "open",
  owner: nobody,
  // Each answer reads D1.
  middleware: limitAddress,
  responses: { 200: json(JsonWebKeys, "A JSON Web Key Set (RFC 7517).") },
});

export const erasures = newRouter("erasure")
  .openapi(eraseUser, async (c) => {
    const { user } = c.req.valid("param");
    return c.json(unwrap(await erase(c.get("services"), user, "everything")), 202, NO_STORE);
  })
  .openapi(eraseSome, async (c) => {
    const { threadId, scope } = c.req.valid("json");
    const { user } = c.req.valid("param");
    // The schema requires exactly one of them.
    const which = threadId === undefined ? { scope: scope ?? "" } : { threadId };
    return c.json(unwrap(await erase(c.get("services"), user, which)), 202, NO_STORE);
  })
  .openapi(get, async (c) => {
    const { id } = c.req.valid("param");
    return c.json(unwrap(await erasureOf(c.get("services"), id)), 200, NO_STORE);
  });

/** Public: a verifier of a receipt has no token. */
export const receiptKeys = newRouter("erasure").openapi(keys, async (c) => {
  const { receipts, erasures: records } = c.get("services");
  const current = await receipts.publicKey();
  const former = unwrap(await d1Result(() => records.keys())).filter(({ kid }) => kid !== current.kid);
  return c.json({ keys: [current, ...former] }, 200, { "Cache-Control": "public, max-age=300" });
});
