import { createRoute } from "@hono/zod-openapi";
import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { holds } from "../../domain/conditions.ts";
import { conditionOf } from "../http/conditions.ts";
import type { AppEnv } from "../http/context.ts";
import { anyJson, body, conditionHeaders, failures, json, noBody, nothing } from "../http/describe.ts";
import { requireScope } from "../http/scope.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { jsonValue } from "../http/json-body.ts";
import { namespace } from "../http/namespace.ts";
import { rawJson } from "../http/raw-json.ts";
import type { JsonPieces } from "../../domain/json-pieces.ts";
import { newRouter } from "../http/router.ts";
import { wrapTime } from "../http/timing.ts";
import { answered } from "../prompt-cache/held.ts";
import { keyIn } from "../../domain/prompt-cache/keys.ts";
import { noQuery } from "../../domain/schema/bounds.ts";
import { cachePath, EntryValue, SetCacheQuery, WrittenEntry } from "../../domain/schema/entry.ts";
import {
  DeleteCacheQuery,
  GetCacheQuery,
  LeaseAnswer,
  LeaseBody,
  namespaceHeader,
  ReleaseQuery,
} from "../../domain/schema/prompt-cache.ts";
import type { Entry } from "../../../durable-objects/storage/contract.ts";

const shared = { tags: ["prompt-cache registry"], ...requireScope("cache") };
const request = { params: cachePath, headers: namespaceHeader };
const conditional = { params: cachePath, headers: namespaceHeader.extend(conditionHeaders.shape) };

const get = createRoute({
  method: "get",
  path: "/v1/cache/{key}",
  operationId: "getCacheEntry",
  summary: "Get a registry entry's value, or the lease to create it",
  ...shared,
  request: { ...conditional, query: GetCacheQuery },
  responses: {
    200: json(EntryValue, "The value, with its version as ETag."),
    304: nothing("It still has a version of If-None-Match."),
    404: {
      ...failures.default,
      description: "There is none. With `lease`, you are to create it: see `Cairn-Lease`.",
      headers: {
        "Cairn-Lease": { schema: { type: "string" }, description: "The lease's id, for the PUT." },
        "Cairn-Lease-Expires": { schema: { type: "integer" }, description: "Milliseconds since the epoch." },
      },
    },
    409: {
      ...failures.default,
      description: "Another creates it, and your wait ran out.",
      headers: { "Retry-After": { schema: { type: "integer" }, description: "Seconds." } },
    },
    ...failures,
  },
});

const set = createRoute({
  method: "put",
  path: "/v1/cache/{key}",
  operationId: "setCacheEntry",
  summary: "Set a registry entry: its value and its expiry",
  ...shared,
  request: { ...conditional, query: SetCacheQuery, body: anyJson },
  responses: { 200: json(WrittenEntry, "It is stored, and all who waited for it have it."), ...failures },
});

const forget = createRoute({
  method: "delete",
  path: "/v1/cache/{key}",
  operationId: "deleteCacheEntry",
  summary: "Forget a registry entry and its lease, or one version of it",
  ...shared,
  request: { ...conditional, query: DeleteCacheQuery },
  responses: { 204: nothing("It is gone, or was never there."), ...failures },
});

const take = createRoute({
  method: "post",
  path: "/v1/cache/{key}/take",
  operationId: "takeCacheEntry",
  summary: "Get a registry entry's value and forget it, in one step",
  ...shared,
  request: { ...request, query: noQuery, body: noBody },
  responses: { 200: json(EntryValue, "The value, which nobody else gets."), ...failures },
});

const lease = createRoute({
  method: "post",
  path: "/v1/cache/{key}/lease",
  operationId: "leaseCacheEntry",
  summary: "Get a registry entry, the lease to create it, or wait for who does",
  ...shared,
  request: { ...request, query: noQuery, body: body(LeaseBody) },
  responses: { 200: json(LeaseAnswer, "What you have got, in `status`."), ...failures },
});

const release = createRoute({
  method: "delete",
  path: "/v1/cache/{key}/lease",
  operationId: "releaseCacheLease",
  summary: "Give a lease back; the next who waits gets it",
  ...shared,
  request: { ...request, query: ReleaseQuery },
  responses: { 204: nothing("It is not current, or never was."), ...failures },
});

export const cache = newRouter()
  .openapi(get, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const { lease: leaseMs, wait: waitMs = 0 } = c.req.valid("query");
    const { promptCache, now } = c.get("services");
    if (leaseMs === undefined)
      return currentValueOf(c, await wrapTime(c, "object", (await promptCache(key)).get(key)));
    const ask = async (left: number) => (await promptCache(key)).lease({ key, leaseMs, waitMs: left });
    const answer = await wrapTime(c, "object", answered({ ask, waitMs, now }));
    if (answer.status === "hit") return currentValueOf(c, answer.entry);
    if (answer.status === "lease") {
      c.header("Cairn-Lease", answer.lease.id);
      c.header("Cairn-Lease-Expires", String(answer.lease.expiresAt));
      throw new Refusal(
        fail("not_found", { message: "There is no value: you hold the lease to create it." }),
      );
    }
    c.header("Retry-After", String(Math.ceil(answer.retryAfterMs / 1000)));
    throw new Refusal(fail("lease_held"));
  })
  .openapi(set, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const { ttlSeconds, lease: leaseId } = c.req.valid("query");
    const value = jsonValue(c);
    const shard = await c.get("services").promptCache(key);
    const ttlMs = ttlSeconds === undefined ? null : ttlSeconds * 1000;
    const write = { key, value, ttlMs, condition: conditionOf(c) };
    const written = unwrap(await wrapTime(c, "object", shard.set(write, leaseId)));
    return c.json(written, 200, { ETag: `"${written.version}"` });
  })
  .openapi(forget, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const { version } = c.req.valid("query");
    const condition = conditionOf(c);
    if (version !== undefined && Object.keys(condition).length > 0) throw new Refusal(TWO_CONDITIONS);
    const shard = await c.get("services").promptCache(key);
    if (version === undefined) unwrap(await wrapTime(c, "object", shard.forget(key, condition)));
    else await wrapTime(c, "object", shard.forgetVersion(key, version));
    return c.body(null, 204);
  })
  .openapi(take, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const shard = await c.get("services").promptCache(key);
    return valueOf(c, await wrapTime(c, "object", shard.take(key)));
  })
  .openapi(lease, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const { leaseMs, waitMs = 0 } = c.req.valid("json");
    const { promptCache, now } = c.get("services");
    const ask = async (left: number) => (await promptCache(key)).lease({ key, leaseMs, waitMs: left });
    const answer = await wrapTime(c, "object", answered({ ask, waitMs, now }));
    return rawJson<LeaseAnswer>(c, answer.status === "hit" ? hitOf(answer.entry) : [JSON.stringify(answer)]);
  })
  .openapi(release, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const shard = await c.get("services").promptCache(key);
    await wrapTime(c, "object", shard.release(key, c.req.valid("query").id));
    return c.body(null, 204);
  });

const TWO_CONDITIONS = fail("invalid_request", {
  details: [{ path: "query.version", message: "does not go with If-Match or If-None-Match" }],
});

/** The value, unless the caller's If-Match or If-None-Match says that it wants none, or not this one. */
function currentValueOf(c: Context<AppEnv>, entry: Entry | null) {
  const { ifMatch, ifNoneMatch } = conditionOf(c);
  const version = entry?.version ?? null;
  if (!holds({ ...(ifMatch && { ifMatch }) }, version)) throw new Refusal(fail("precondition_failed"));
  if (version !== null && !holds({ ...(ifNoneMatch && { ifNoneMatch }) }, version))
    return c.body(null, 304, { ETag: `"${version}"` });
  return valueOf(c, entry);
}

function valueOf(c: Context<AppEnv>, entry: Entry | null) {
  if (entry === null) throw new Refusal(fail("not_found"));
  return rawJson<EntryValue>(c, [entry.value], { ETag: `"${entry.version}"` });
}

const hitOf = ({ value, version, expiresAt }: Entry): JsonPieces => [
  `{"status":"hit","value":`,
  value,
  `,"version":${JSON.stringify(version)}${expiresAt === null ? "" : `,"expiresAt":${expiresAt}`}}`,
];
