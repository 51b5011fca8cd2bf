import type { Context } from "hono";
import type { AppEnv } from "./context.ts";
import { answerFailure } from "./failure.ts";

/** What a path was probably meant to be. */
function hint(pathname: string): { message?: string } {
  if (/\/v1\/v1\//.test(pathname))
    return { message: "There is no such route. The `url` of a client has no /v1 at its end." };
  if (/^\/v1\/(users\/[^/]+\/kv|cache)\/./.test(pathname))
    return { message: "There is no such route. In a key, `/` is written as %2F." };
  return {};
}

type Route = { method: string; path: string };

/** Answers what no route took: 405 with the methods that the path does take, or 404. */
export function unknownRoute(routes: readonly Route[]): (c: Context<AppEnv>) => Response {
  // Middleware is registered for ALL methods; what is left are the routes.
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
