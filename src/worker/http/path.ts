import type { Context, MiddlewareHandler } from "hono";
import { getPath } from "hono/utils/url";
import type { UserMemoryRpc } from "../../contract/user-memory.ts";
import { fail } from "../../domain/errors.ts";
import { ownerOf } from "../../domain/memory/record.ts";
import { threadOwner } from "../../domain/thread-id.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Refuses a path or query that does not decode: the router would take `%zz` as literal text, and store under it. */
export const requireDecodablePath: MiddlewareHandler<AppEnv> = (c, next) => {
  const { url } = c.req;
  try {
    if (url.includes("%")) decodeURIComponent(url);
  } catch {
    throw new Refusal(fail("invalid_path"));
  }
  return next();
};

/**
 * The path for the router. URL parsers drop a last segment `.`, encoded or not, and keep the slash before it. No key is
 * empty, so a path that ends in that slash names the key `.`.
 */
export function routedPath(request: Request): string {
  const path = getPath(request);
  return path.endsWith("/") && /^\/v1\/(users\/[^/]+\/kv|cache)\/$/.test(path) ? `${path}%2E` : path;
}

type OfUser = Context<AppEnv, string, { out: { param: { user: string } } }>;

/** The user in the path, and the user's object. */
export async function userObject(c: OfUser) {
  const owner = await ownerOf(c.req.valid("param").user);
  return { owner, object: c.get("services").userMemory(owner.hash) };
}

/** The object of the owner that a thread's id names. */
export function threadObject(c: Context<AppEnv>, threadId: string): UserMemoryRpc {
  const owner = threadOwner(threadId);
  if (owner === null) throw new Refusal(fail("not_found"));
  return c.get("services").userMemory(owner);
}
