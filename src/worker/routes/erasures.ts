import { createRoute } from "@hono/zod-openapi";
import { answered } from "../../platform/d1/answered.ts";
import { alwaysAudited, body, failures, json } from "../http/describe.ts";
import { publicRoute, requireScope } from "../http/scope.ts";
import { unwrap } from "../http/failure.ts";
import { NO_STORE } from "../http/no-store.ts";
import { newRouter } from "../http/router.ts";
import { erase, erasureOf } from "../use-cases/erase.ts";
import { noQuery, userPath } from "../../domain/schema/bounds.ts";
import { EraseBody, Erasure, erasurePath, JsonWebKeys } from "../../domain/schema/erasure.ts";

const tags = ["erasure"];

const eraseUser = createRoute({
  method: "delete",
  path: "/v1/users/{user}",
  operationId: "eraseUser",
  summary: "Erase everything of a user's, with a receipt",
  description:
    "From this answer on nothing of it is read; then every store is emptied and read back. What is written from now on stays.",
  tags,
  ...requireScope("write"),
  request: { params: userPath, query: noQuery },
  responses: { 202: json(Erasure, "It has begun."), ...failures },
});

const eraseSome = createRoute({
  method: "post",
  path: "/v1/users/{user}/erasures",
  operationId: "createErasure",
  summary: "Erase one thread, or all memories of one scope, with a receipt",
  description:
    "Messages that a fork of the thread shows stay for the fork, and the receipt says how many. A thread that is not there is 404; of a scope that no memory has, the counts say that there was nothing.",
  tags,
  ...requireScope("write"),
  ...alwaysAudited,
  request: { params: userPath, query: noQuery, body: body(EraseBody) },
  responses: { 202: json(Erasure, "It has begun."), ...failures },
});

const get = createRoute({
  method: "get",
  path: "/v1/erasures/{id}",
  operationId: "getErasure",
  summary: "How far an erasure is, and its receipt",
  tags,
  ...requireScope("read"),
  request: { params: erasurePath, query: noQuery },
  responses: { 200: json(Erasure, "The erasure."), ...failures },
});

const keys = createRoute({
  method: "get",
  path: "/.well-known/jwks.json",
  operationId: "getReceiptKeys",
  summary: "The public keys that verify receipts",
  tags,
  ...publicRoute,
  request: { query: noQuery },
  responses: { 200: json(JsonWebKeys, "A JSON Web Key Set (RFC 7517)."), ...failures },
});

export const erasures = newRouter()
  .openapi(eraseUser, async (c) => {
    const { user } = c.req.valid("param");
    return c.json(unwrap(await erase(c.get("services"), user, "everything")), 202, NO_STORE);
  })
  .openapi(eraseSome, async (c) => {
    const { threadId, scope } = c.req.valid("json");
    const { user } = c.req.valid("param");
    // The schema lets exactly one of them pass.
    const which = threadId === undefined ? { scope: scope ?? "" } : { threadId };
    return c.json(unwrap(await erase(c.get("services"), user, which)), 202, NO_STORE);
  })
  .openapi(get, async (c) => {
    const { id } = c.req.valid("param");
    return c.json(unwrap(await erasureOf(c.get("services"), id)), 200, NO_STORE);
  });

/** Open to everybody: who verifies a receipt has no token. */
export const receiptKeys = newRouter().openapi(keys, async (c) => {
  const { receipts, erasures: records } = c.get("services");
  const current = await receipts.publicKey();
  const former = unwrap(await answered(() => records.keys())).filter(({ kid }) => kid !== current.kid);
  return c.json({ keys: [current, ...former] }, 200, { "Cache-Control": "public, max-age=300" });
});
