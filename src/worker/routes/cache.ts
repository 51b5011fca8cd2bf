import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { inByteOrder } from "../../domain/byte-order.ts";
import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import { conditionOf, isNotModified } from "../http/conditions.ts";
import type { AppEnv } from "../http/context.ts";
import {
  rawJsonBody,
  body,
  conditionHeaders,
  failures,
  json,
  noBody,
  nothing,
  route,
} from "../http/describe.ts";
import { ofNamespace } from "../http/owner.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { jsonValue } from "../http/json-body.ts";
import { namespace } from "../http/namespace.ts";
import { rawJson, wrapTime } from "../http/answer.ts";
import type { JsonPieces } from "../../domain/json-pieces.ts";
import { newRouter } from "../http/router.ts";
import { awaitAnswer } from "../prompt-cache/await-answer.ts";
import { keyIn } from "../../domain/prompt-cache/keys.ts";
import { cachePath, EntryValue, SetCacheQuery, WrittenEntry } from "../../domain/schema/entry.ts";
import {
  DeleteCacheQuery,
  GetCacheQuery,
  LeaseAnswer,
  LeaseBody,
  ListKeysQuery,
  namespaceHeader,
  RegistryKeys,
  ReleaseQuery,
} from "../../domain/schema/prompt-cache.ts";
import type { Entry } from "../../contract/storage.ts";

const request = { params: cachePath, headers: namespaceHeader };
const conditional = { params: cachePath, headers: namespaceHeader.extend(conditionHeaders.shape) };

const get = route("get", "/v1/cache/{key}", {
  operationId: "getCacheEntry",
  summary: "Get a registry entry's value, or the lease to create it",
  scope: "cache",
  owner: ofNamespace,
  request: { ...conditional, query: GetCacheQuery },
  responses: {
    200: json(EntryValue, "The value, with its version as ETag."),
    304: nothing("If-None-Match names the current version."),
    404: {
      ...failures.default,
      description: "No value. With `lease`, the caller holds the lease to create it: `Cairn-Lease`.",
      headers: {
        "Cairn-Lease": { schema: { type: "string" }, description: "The lease's id, for the PUT." },
        "Cairn-Lease-Expires": { schema: { type: "integer" }, description: "Milliseconds since the epoch." },
      },
    },
    409: {
      ...failures.default,
      description: "Another caller creates the value, and the wait ran out.",
      headers: { "Retry-After": { schema: { type: "integer" }, description: "Seconds." } },
    },
  },
});

const set = route("put", "/v1/cache/{key}", {
  operationId: "setCacheEntry",
  summary: "Set a registry entry: its value and its expiry",
  scope: "cache",
  owner: ofNamespace,
  payload: "verbatim",
  request: { ...conditional, query: SetCacheQuery, body: rawJsonBody },
  responses: { 200: json(WrittenEntry, "The value is stored, and its waiters have it.") },
});

const forget = route("delete", "/v1/cache/{key}", {
  operationId: "deleteCacheEntry",
  summary: "Delete a registry entry and its lease, or one version of it",
  scope: "cache",
  owner: ofNamespace,
  request: { ...conditional, query: DeleteCacheQuery },
  responses: { 204: nothing("The entry does not exist any more.") },
});

const take = route("post", "/v1/cache/{key}/take", {
  operationId: "takeCacheEntry",
  summary: "Get a registry entry's value and delete it, in one step",
  scope: "cache",
  owner: ofNamespace,
  payload: "verbatim",
  request: { ...request, body: noBody },
  responses: { 200: json(EntryValue, "The value, which no other caller gets.") },
});

const lease = route("post", "/v1/cache/{key}/lease", {
  operationId: "leaseCacheEntry",
  summary: "Get a registry entry or the lease to create it, or wait for its creator",
  scope: "cache",
  owner: ofNamespace,
  payload: "verbatim",
  request: { ...request, body: body(LeaseBody) },
  responses: { 200: json(LeaseAnswer, "`status` says which of them it is.") },
});

const release = route("delete", "/v1/cache/{key}/lease", {
  operationId: "releaseCacheLease",
  summary: "Release a lease; the next waiter gets it",
  scope: "cache",
  owner: ofNamespace,
  request: { ...request, query: ReleaseQuery },
  responses: { 204: nothing("The lease is not held any more.") },
});

const keys = route("get", "/v1/cache", {
  operationId: "listCacheKeys",
  summary: "List the keys of the registry, with their leases",
  description: "Asks each of the registry's 64 objects: for a look, not for each request.",
  scope: "cache",
  owner: ofNamespace,
  request: { query: ListKeysQuery, headers: namespaceHeader },
  responses: { 200: json(RegistryKeys, "A page of keys, in byte order.") },
});

export const cache = newRouter("prompt-cache registry")
  .openapi(keys, async (c) => {
    const { prefix = "", limit = 100, cursor } = c.req.valid("query");
    const begin = keyIn(namespace(c), "");
    const list = `registry ${begin}`;
    const after = unwrap(decodeCursor(list, cursor, ["string"]));
    const page = { prefix: begin + prefix, limit: limit + 1, ...(after && { after: begin + after[0] }) };
    const shards = c.get("services").promptCacheShards();
    const pages = Promise.all(shards.map((shard) => shard.keys(page)));
    const all = (await wrapTime(c, "object", pages)).flat().toSorted((a, b) => inByteOrder(a.key, b.key));
    const shown = all.map(({ key, entry, ...rest }) => {
      const { expiresAt = null, ...value } = entry ?? {};
      return { key: key.slice(begin.length), ...value, ...(expiresAt !== null && { expiresAt }), ...rest };
    });
    return c.json(pageOf(shown, limit, { list, show: (one) => one, keyOf: ({ key }) => [key] }), 200);
  })
  .openapi(get, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const { lease: leaseMs, wait: waitMs = 0 } = c.req.valid("query");
    const { promptCache } = c.get("services");
    if (leaseMs === undefined)
      return currentValueOf(c, await wrapTime(c, "object", (await promptCache(key)).get(key)));
    const answer = await leaseOf(c, { key, leaseMs, waitMs });
    if (answer.status === "hit") return currentValueOf(c, answer.entry);
    if (answer.status === "lease") {
      c.header("Cairn-Lease", answer.lease.id);
      c.header("Cairn-Lease-Expires", String(answer.lease.expiresAt));
      throw new Refusal(
        fail("not_found", { message: "There is no value. You hold the lease to create it." }),
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
    const answer = await leaseOf(c, { key, leaseMs, waitMs });
    return rawJson<LeaseAnswer>(c, answer.status === "hit" ? hitOf(answer.entry) : [JSON.stringify(answer)]);
  })
  .openapi(release, async (c) => {
    const key = keyIn(namespace(c), c.req.valid("param").key);
    const shard = await c.get("services").promptCache(key);
    await wrapTime(c, "object", shard.release(key, c.req.valid("query").id));
    return c.body(null, 204);
  });

const TWO_CONDITIONS = fail("invalid_request", {
  details: [{ path: "query.version", message: "cannot be combined with If-Match or If-None-Match" }],
});

/** The entry, or the lease to create it; waits for another caller's lease. */
async function leaseOf(
  c: Context<AppEnv>,
  { key, leaseMs, waitMs }: { key: string; leaseMs: number; waitMs: number },
) {
  const { promptCache, now } = c.get("services");
  const ask = async (left: number) => (await promptCache(key)).lease({ key, leaseMs, waitMs: left });
  return wrapTime(c, "object", awaitAnswer({ ask, waitMs, now }));
}

/** The value, under the caller's If-Match and If-None-Match. */
function currentValueOf(c: Context<AppEnv>, entry: Entry | null) {
  const version = entry?.version ?? null;
  if (isNotModified(conditionOf(c), version)) return c.body(null, 304, { ETag: `"${version}"` });
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
