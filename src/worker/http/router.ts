import { OpenAPIHono, type RouteConfig, type RouteHandler, type z } from "@hono/zod-openapi";
import type { Handler, MiddlewareHandler } from "hono";
import { noQuery } from "../../domain/schema/bounds.ts";
import { refusePreconditions } from "./conditions.ts";
import type { AppEnv } from "./context.ts";
import { failures } from "./describe.ts";
import { answerFailure } from "./failure.ts";
import { type RouteAccess, declaredAccess, type Declaration, guardsOf } from "./guard.ts";
import { nobody } from "./owner.ts";
import { routedPath } from "./path.ts";
import type { Services } from "../services.ts";
import { validation } from "./validation.ts";

/** The JSON that a route answers with; of one that answers 204, nothing: a failure that nobody unwrapped does not compile. */
type AnswerOf<Responses> = {
  [Status in keyof Responses]: Status extends 200 | 201 | 202
    ? Responses[Status] extends {
        content: { "application/json": { schema: infer Schema extends z.ZodType } };
      }
      ? z.infer<Schema>
      : never
    : Status extends 204
      ? void
      : never;
}[keyof Responses];
type Answerer<Route extends RouteConfig> = (
  c: Parameters<RouteHandler<Route, AppEnv>>[0],
  services: Services,
) => AnswerOf<Route["responses"]> | Promise<AnswerOf<Route["responses"]>>;

/** The compiler checks every answer against the description of its route. */
type Declares = {
  openapi: <Route extends RouteConfig>(route: Route, handler: RouteHandler<Route, AppEnv>) => Router;
  /** A route with one code of success: answers the value as JSON, or 204 without it. */
  answer: <Route extends RouteConfig>(route: Route, answer: Answerer<Route>) => Router;
};
export type Router = Declares & OpenAPIHono<AppEnv>;

/** A router whose routes are documented under `tag`. Throws for a route without `scope` or `owner`. */
export function newRouter(tag = "other"): Router {
  const hono = new OpenAPIHono<AppEnv>({ getPath: routedPath });
  // Replaces the framework's method: adds the guards, `failures`, the audit, refused preconditions and `validation`.
  const openapi = (config: RouteConfig & Partial<RouteAccess>, handler: Handler<AppEnv>): Router => {
    const access = declaredAccess(config);
    const request = { query: noQuery, ...config.request };
    const described = documentedPart({ ...config, request, responses: { ...config.responses, ...failures } });
    hono.openAPIRegistry.registerPath({ tags: [tag], ...described });
    const declaration = {
      ...declarationOf(config, access),
      isAudited: isAudited(config, access),
      isDocumented: true,
    };
    hono.on(
      [config.method],
      [honoPath(config.path)],
      ...guardsOf(declaration, access, [config.middleware ?? []].flat()),
      // Monitors and fetchers of keys send conditions by themselves: a public route reads, and may ignore them.
      ...(access.scope === "open" ? [] : [refusePreconditions(request)]),
      validation(request),
      handler,
    );
    return router;
  };
  const answer = (config: RouteConfig & Partial<RouteAccess>, answerer: Answerer<RouteConfig>): Router => {
    const status = [200, 201, 202].find((code) => code in config.responses);
    return openapi(config, async (c) => {
      const value = await answerer(c, c.get("services"));
      return status === undefined ? c.body(null, 204) : c.json(value, status as 200);
    });
  };
  // The handlers' types are those of their routes.
  const router = Object.assign(hono, { openapi, answer } as unknown as Declares);
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
  const declaration = { ...declarationOf(at, access), isAudited: false, isDocumented: false };
  router.on([at.method], [honoPath(at.path)], ...guardsOf(declaration, access, at.before), ...handlers);
}

/** Adds a page for people, or a file of one. Over a service binding there is none: it carries plain data to programs. */
export const page = (router: Router, path: string, handler: Handler<AppEnv>): void =>
  undocumented(router, { method: "get", path, scope: "open", owner: nobody }, (c, next) =>
    c.get("bound") === undefined ? handler(c, next) : answerFailure(c, { code: "route_not_found" }),
  );

const honoPath = (path: string): string => path.replaceAll(/\/{(.+?)}/g, "/:$1");

const declarationOf = (
  { method, path }: { method: string; path: string },
  { scope, owner }: RouteAccess,
): Pick<Declaration, "method" | "path" | "scope" | "owner"> => ({
  method: method.toUpperCase(),
  path,
  scope,
  owner,
});

/** The route without its access, which the document says as `security`. Fields keep their order. */
const documentedPart = (config: RouteConfig & Partial<RouteAccess>): RouteConfig =>
  Object.fromEntries(
    Object.entries(config).flatMap(([name, value]): [string, unknown][] => {
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
