import { createRoute } from "@hono/zod-openapi";
import { wrapTime } from "hono/timing";
import { fail } from "../errors.ts";
import { anyJson, failures, json, nothing, scoped } from "../http/describe.ts";
import { Refusal, unwrap } from "../http/failure.ts";
import { jsonValue } from "../http/json-body.ts";
import { rawJson } from "../http/raw-json.ts";
import { newRouter } from "../http/router.ts";
import { noQuery } from "../schema/bounds.ts";
import { cachePath, EntryValue, SetCacheQuery, WrittenEntry } from "../schema/entry.ts";

const get = createRoute({
  method: "get",
  path: "/v1/cache/{key}",
  summary: "Get a registry entry's value",
  tags: ["prompt-cache registry"],
  ...scoped("cache"),
  request: { params: cachePath, query: noQuery },
  responses: { 200: json(EntryValue, "The value, with its version as ETag."), ...failures },
});

const set = createRoute({
  method: "put",
  path: "/v1/cache/{key}",
  summary: "Set a registry entry: its value and its expiry",
  tags: ["prompt-cache registry"],
  ...scoped("cache"),
  request: { params: cachePath, query: SetCacheQuery, body: anyJson },
  responses: { 200: json(WrittenEntry, "It is stored."), ...failures },
});

const forget = createRoute({
  method: "delete",
  path: "/v1/cache/{key}",
  summary: "Forget a registry entry",
  tags: ["prompt-cache registry"],
  ...scoped("cache"),
  request: { params: cachePath, query: noQuery },
  responses: { 204: nothing("It is gone, or was never there."), ...failures },
});

export const cache = newRouter()
  .openapi(get, async (c) => {
    const key = namespaced(c.var.caller.user, c.req.valid("param").key);
    const shard = await c.var.services.promptCache(key);
    const entry = await wrapTime(c, "object", shard.get(key));
    if (entry === null) throw new Refusal(fail("not_found"));
    return rawJson(c, [entry.value], { ETag: `"${entry.version}"` });
  })
  .openapi(set, async (c) => {
    const key = namespaced(c.var.caller.user, c.req.valid("param").key);
    const { ttlSeconds } = c.req.valid("query");
    const value = await jsonValue(c);
    const shard = await c.var.services.promptCache(key);
    const write = { key, value, ttlMs: ttlSeconds === undefined ? null : ttlSeconds * 1000 };
    const written = unwrap(await wrapTime(c, "object", shard.set(write)));
    return c.json(written, 200, { ETag: `"${written.version}"` });
  })
  .openapi(forget, async (c) => {
    const key = namespaced(c.var.caller.user, c.req.valid("param").key);
    const shard = await c.var.services.promptCache(key);
    await wrapTime(c, "object", shard.forget(key));
    return c.body(null, 204);
  });

/** One user's token never reads or spoils what another's, or the app's own (`*`), has cached. */
const namespaced = (user: string, key: string): string => `${encodeURIComponent(user)}/${key}`;
