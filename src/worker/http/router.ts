import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Handler } from "hono";
import { audited } from "./audit.ts";
import { demandScope } from "./authenticate.ts";
import { refusePreconditions } from "./conditions.ts";
import type { AppEnv } from "./context.ts";
import { routedPath } from "./kv-path.ts";
import { validation } from "./validation.ts";
import type { Scope } from "../../domain/token.ts";

/** A router whose routes demand the scope that they describe, and check each request by the schemas that they describe. */
export function newRouter(): OpenAPIHono<AppEnv> {
  const router = new OpenAPIHono<AppEnv>({ getPath: routedPath });
  const openapi = (route: RouteConfig, handler: Handler<AppEnv>): OpenAPIHono<AppEnv> => {
    router.openAPIRegistry.registerPath(route);
    // Monitors and fetchers of keys send conditions by themselves: a public route reads, and may ignore them.
    const isPublic = route.security?.length === 0;
    const checks = [...(isPublic ? [] : [refusePreconditions(route.request)]), validation(route.request)];
    const step = demanding(scopeOf(route), checks, handler);
    router.on(
      [route.method],
      [route.path.replaceAll(/\/{(.+?)}/g, "/:$1")],
      isAudited(route) ? auditing(route, step) : step,
    );
    return router;
  };
  // Does what the original does, in one step a route in place of five or six. Its type, which lets the compiler check
  // every answer against the description, is not to be written out again.
  router.openapi = openapi as typeof router.openapi;
  return router;
}

/** One handler of a route's steps. */
const demanding =
  (
    scope: Scope | undefined,
    checks: readonly ReturnType<typeof validation>[],
    handler: Handler<AppEnv>,
  ): Handler<AppEnv> =>
  (c, next) => {
    if (scope !== undefined) demandScope(c, scope);
    for (const check of checks) check(c);
    return handler(c, next);
  };

/** The operation's name, as `DELETE /v1/threads/{id}`. */
export const operationOf = ({ method, path }: Pick<RouteConfig, "method" | "path">): string =>
  `${method.toUpperCase()} ${path}`;

/** The same, noted in the audit log by the operation's name. */
const auditing =
  (route: RouteConfig, step: Handler<AppEnv>): Handler<AppEnv> =>
  (c, next) =>
    audited(c, operationOf(route), () => step(c, next));

/** The operations of a router, and of what it took in, that are noted in the audit log. */
export const auditedIn = ({ openAPIRegistry }: OpenAPIHono<AppEnv>): string[] =>
  openAPIRegistry.definitions.flatMap((one) =>
    one.type === "route" && isAudited(one.route) ? [operationOf(one.route)] : [],
  );

/**
 * What an operator will be asked about: who deleted or forgot something, and all that an administrator did. Decided here,
 * for every route, so that none is forgotten; a route that is neither says so itself (`noted`). The registry of
 * prompt caches is left out: it holds no user's memory, and forgets by the second.
 */
export const isAudited = (route: RouteConfig): boolean =>
  scopeOf(route) === "admin" ||
  (route.method === "delete" && !route.path.startsWith("/v1/cache/")) ||
  route.path.endsWith("/forget") ||
  route["x-audited"] === true;

/** As `scoped` describes it. */
const scopeOf = ({ security }: RouteConfig): Scope | undefined =>
  security?.[0]?.["bearer"]?.[0] as Scope | undefined;
