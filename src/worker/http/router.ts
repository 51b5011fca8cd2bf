import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Handler, MiddlewareHandler } from "hono";
import { noQuery } from "../../domain/schema/bounds.ts";
import { refusePreconditions } from "./conditions.ts";
import type { AppEnv } from "./context.ts";
import { failures } from "./describe.ts";
import { answerFailure } from "./failure.ts";
import { type RouteAccess, declaredAccess, type Declaration, guardsOf } from "./guard.ts";
import { nobody } from "./owner.ts";
import { routedPath } from "./path.ts";
import { validation } from "./validation.ts";

type Router = OpenAPIHono<AppEnv>;

/** A router whose routes are documented under `tag`. Throws for a route without `scope` or `owner`. */
export function newRouter(tag = "other"): Router {
  const router = new OpenAPIHono<AppEnv>({ getPath: routedPath });
  // Replaces the framework's method: adds the guards, `failures`, the audit, refused preconditions and `validation`.
  const openapi = (given: RouteConfig & Partial<RouteAccess>, handler: Handler<AppEnv>): Router => {
    const access = declaredAccess(given);
    const request = { query: noQuery, ...given.request };
    const described = documentedPart({ ...given, request, responses: { ...given.responses, ...failures } });
    router.openAPIRegistry.registerPath({ tags: [tag], ...described });
    const declaration = { ...said(given, access), isAudited: isAudited(given, access), isDocumented: true };
    router.on(
      [given.method],
      [honoPath(given.path)],
      ...guardsOf(declaration, access, [given.middleware ?? []].flat()),
      // Monitors and fetchers of keys send conditions by themselves: a public route reads, and may ignore them.
      ...(access.scope === "open" ? [] : [refusePreconditions(request)]),
      validation(request),
      handler,
    );
    return router;
  };
  // Its type lets the compiler check every answer against the description, and is too long to repeat.
  router.openapi = openapi as typeof router.openapi;
  return router;
}

/** Adds a route that the OpenAPI document leaves out: a page, a file, another protocol. `before` runs before its guards. */
export function undocumented(
  router: Router,
  at: {
    method: "get" | "post" | "put" | "delete";
    path: string;
    before?: MiddlewareHandler<AppEnv>[];
  } & RouteAccess,
  ...handlers: Handler<AppEnv>[]
): void {
  const access = declaredAccess(at);
  const declaration = { ...said(at, access), isAudited: false, isDocumented: false };
  router.on([at.method], [honoPath(at.path)], ...guardsOf(declaration, access, at.before), ...handlers);
}

/** Adds a page for people, or a file of one. Over a service binding there is none: it carries plain data to programs. */
export const page = (router: Router, path: string, handler: Handler<AppEnv>): void =>
  undocumented(router, { method: "get", path, scope: "open", owner: nobody }, (c, next) =>
    c.get("bound") === undefined ? handler(c, next) : answerFailure(c, { code: "route_not_found" }),
  );

const honoPath = (path: string): string => path.replaceAll(/\/{(.+?)}/g, "/:$1");

const said = (
  { method, path }: { method: string; path: string },
  { scope, owner }: RouteAccess,
): Pick<Declaration, "method" | "path" | "scope" | "owner"> => ({
  method: method.toUpperCase(),
  path,
  scope,
  owner,
});

/** The route without its access, which the document says as `security`. Fields keep their order. */
const documentedPart = (given: RouteConfig & Partial<RouteAccess>): RouteConfig =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
      if (name === "scope") return [["security", value === "open" ? [] : [{ bearer: [value] }]]];
      return ["owner", "payload", "bodyBytes", "middleware"].includes(name) ? [] : [[name, value]];
    }),
    // It has the fields of the given one.
  ) as RouteConfig;

/**
 * Selects deletions, all routes of the scope `admin`, and routes with `alwaysAudited`. Batches of entries, tools of
 * MCP and refused tokens write their events themselves. Leaves out the prompt-cache registry: it holds no user's
 * memory.
 */
const isAudited = (route: RouteConfig, { scope, owner }: RouteAccess): boolean =>
  scope === "admin" ||
  (route.method === "delete" && owner.kind !== "namespace") ||
  route.path.endsWith("/forget") ||
  route["x-audited"] === true;
