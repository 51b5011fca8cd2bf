import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Handler } from "hono";
import { auditMiddleware } from "./audit.ts";
import { noQuery } from "../../domain/schema/bounds.ts";
import { refusePreconditions } from "./conditions.ts";
import type { AppEnv } from "./context.ts";
import { failures } from "./describe.ts";
import { routedPath } from "./path.ts";
import { validation } from "./validation.ts";

/** A router whose routes are documented under `tag`. Throws for a route without `requireScope(…)` or `publicRoute`. */
export function newRouter(tag = "other"): OpenAPIHono<AppEnv> {
  const router = new OpenAPIHono<AppEnv>({ getPath: routedPath });
  // Replaces the framework's method: adds `failures`, the audit, refused preconditions and `validation`.
  const openapi = ({ middleware, ...given }: RouteConfig, handler: Handler<AppEnv>): OpenAPIHono<AppEnv> => {
    const request = { query: noQuery, ...given.request };
    const route = { ...given, request, responses: { ...given.responses, ...failures } };
    if (route.security === undefined || middleware === undefined)
      throw new Error(`${operationOf(route)} says no scope: spread requireScope(…) or publicRoute into it`);
    const isPublic = route.security.length === 0;
    router.openAPIRegistry.registerPath({ tags: [tag], ...route });
    router.on(
      [route.method],
      [route.path.replaceAll(/\/{(.+?)}/g, "/:$1")],
      ...(isAudited(route) ? [auditMiddleware(operationOf(route))] : []),
      ...[middleware].flat(),
      // Monitors and fetchers of keys send conditions by themselves: a public route reads, and may ignore them.
      ...(isPublic ? [] : [refusePreconditions(request)]),
      validation(request),
      handler,
    );
    return router;
  };
  // Its type lets the compiler check every answer against the description, and is too long to repeat.
  router.openapi = openapi as typeof router.openapi;
  return router;
}

/** The operation's name, as `DELETE /v1/threads/{id}`. */
export const operationOf = ({ method, path }: Pick<RouteConfig, "method" | "path">): string =>
  `${method.toUpperCase()} ${path}`;

/** The operations of a router, and of the routers mounted in it, that the audit log records. */
export const auditedOperations = ({ openAPIRegistry }: OpenAPIHono<AppEnv>): string[] =>
  openAPIRegistry.definitions.flatMap((one) =>
    one.type === "route" && isAudited(one.route) ? [operationOf(one.route)] : [],
  );

/**
 * Selects deletions, all routes of the scope `admin`, and routes with `alwaysAudited`. Batches of entries, tools of
 * MCP and refused tokens write their events themselves. Leaves out the prompt-cache registry: it holds no user's
 * memory.
 */
const isAudited = (route: Omit<RouteConfig, "middleware">): boolean =>
  route.security?.[0]?.["bearer"]?.[0] === "admin" ||
  (route.method === "delete" && !route.path.startsWith("/v1/cache/")) ||
  route.path.endsWith("/forget") ||
  route["x-audited"] === true;
