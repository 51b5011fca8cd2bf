import type { Context } from "hono";
import type { AppEnv } from "./context.ts";
import { answerFailure } from "./failure.ts";

/** A message for a path that is probably a mistake. */
function hint(pathname: string): { message?: string } {
  if (/\/v1\/v1\//.test(pathname))
    return { message: "There is no such route. The `url` of a client has no /v1 at its end." };
  if (/^\/v1\/(users\/[^/]+\/kv|cache)\/./.test(pathname))
    return { message: "There is no such route. In a key, `/` is written as %2F." };
  return {};
}

type Route = { method: string; path: string };

/** Answers a call that no route takes: 405 with the methods of its path, or 404. */
export function unknownRoute(routes: readonly Route[]): (c: Context<AppEnv>) => Response {
  // Middleware is registered for ALL methods.
  const known = routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/:[^/]+/g, "[^/]+")}$`) }));
  return (c) => {
    const { pathname } = new URL(c.req.url);
    const methods = new Set(
      known.filter(({ pattern }) => pattern.test(pathname)).map(({ method }) => method),
    );
    if (methods.size === 0) return answerFailure(c, { code: "route_not_found", ...hint(pathname) });
    c.header("Allow", [...methods].join(", "));
    return answerFailure(c, { code: "method_not_allowed" });
  };
}
