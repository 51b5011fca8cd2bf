import type { Context, Handler, MiddlewareHandler } from "hono";
import { type Failure, fail } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/token.ts";
import { type Caller, wordOf } from "../auth/claims.ts";
import { auditMiddleware } from "./audit.ts";
import { authenticate, authenticateForMcp } from "./authenticate.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import { readBody } from "./json-body.ts";
import { refuseOneThread, requireWholeTenant, type RouteOwner } from "./owner.ts";
import { limitCaller, limitUser } from "./rates.ts";
import { redactBody } from "./redact.ts";

/** Who may call a route, and with what body. Each route says it: the router does not start with one that does not. */
export type RouteAccess = {
  /** The scope that a token needs. `open` needs no token; `by tool` leaves it to each tool of MCP. */
  scope: Scope | "open" | "by tool";
  owner: RouteOwner;
  /** Of a body that is not read and redacted whole before the handler: it is no user's text, or it is read line by line. */
  payload?: "verbatim" | "streamed";
  /** Bytes of the body at most. */
  bodyBytes?: number;
};

/** A route as it runs. */
export type Declaration = Pick<RouteAccess, "scope" | "owner"> & {
  method: string;
  /** As in the OpenAPI document: `/v1/threads/{id}`. */
  path: string;
  /** True for a route that the audit log records. */
  isAudited: boolean;
  /** False for a route that the OpenAPI document leaves out. */
  isDocumented: boolean;
};

type Undeclared = Partial<RouteAccess> & { method: string; path: string };

/** An id that tells its owner: no user stands before it in the path. */
const OWNED_ID = /^(?!.*\{user\}).*\{id\}/;

/** The access of a route. Throws for one that lacks a part, or whose path names another owner than it says. */
export function declaredAccess({ method, path, scope, owner, payload, bodyBytes }: Undeclared): RouteAccess {
  const refuse = (why: string): never => {
    throw new Error(`${operationOf({ method, path })} ${why}`);
  };
  if (scope === undefined || owner === undefined)
    return refuse(`says no ${scope === undefined ? "scope" : "owner"}: see src/worker/http/guard.ts`);
  if ((scope === "open") !== (owner.kind === "nobody")) refuse("is open and owned, or neither");
  if (path.includes("{user}") !== (owner.kind === "user")) refuse("names a user, and is not ofUser");
  if (owner.param !== undefined && !path.includes(`{${owner.param}}`)) refuse("lacks its owner's parameter");
  if (OWNED_ID.test(path) && owner.param !== "id") refuse("names what a user owns, and not its owner");
  if (payload === "verbatim" && owner.kind !== "tenant" && owner.kind !== "namespace")
    refuse("takes a user's text without redaction");
  return { scope, owner, ...(payload && { payload }), ...(bodyBytes !== undefined && { bodyBytes }) };
}

/** The operation's name, as `DELETE /v1/threads/{id}`. */
export const operationOf = ({ method, path }: { method: string; path: string }): string =>
  `${method.toUpperCase()} ${path}`;

/** Refuses every call while the bindings are not those that the data were stored with: the data would seem lost. */
const requireSameDeployment: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { deployment, now } = c.get("services");
  const problem = await deployment.refusal(now());
  if (problem !== null)
    throw new Refusal(fail("deployment_changed", { message: `Nothing is read or written: ${problem}.` }));
  await next();
};

/** All that a call passes before its handler. The first of them carries the declaration. */
export function guardsOf(
  declaration: Declaration,
  { payload, bodyBytes = limits.body }: Pick<RouteAccess, "payload" | "bodyBytes">,
  before: readonly MiddlewareHandler<AppEnv>[] = [],
): MiddlewareHandler<AppEnv>[] {
  const { scope, owner, isAudited } = declaration;
  const name = operationOf(declaration);
  const note: MiddlewareHandler<AppEnv> = (c, next) => {
    c.set("route", name);
    return next();
  };
  const first = Object.assign<MiddlewareHandler<AppEnv>, Declared>(note, { declares: declaration });
  if (scope === "open") return [first, ...before];
  return [
    first,
    ...before,
    scope === "by tool" ? authenticateForMcp : authenticate,
    (c, next) => {
      refuseOneThread(c, owner);
      return next();
    },
    requireSameDeployment,
    limitCaller,
    ...(payload === "streamed" ? [] : [readBody(bodyBytes)]),
    ...(payload === undefined ? [redactBody] : []),
    async (c, next) => {
      await owner.reach?.(c);
      await next();
    },
    // Behind the check of ownership, so that no stranger uses up a user's calls.
    ...(owner.param === undefined ? [] : [limitUser]),
    ...(isAudited ? [auditMiddleware(name)] : []),
    (c, next) => {
      if (scope !== "by tool") assertScope(c, scope, owner.isOwnOnly ?? scope !== "read");
      requireWholeTenant(c, owner);
      return next();
    },
  ];
}

type Declared = { declares: Declaration };
type Registered = { method: string; path: string; handler: Handler | MiddlewareHandler };

const isDeclared = (handler: object): handler is Declared => "declares" in handler;

/** What runs on an app, as its routes say it. */
export const declarationsOf = ({ routes }: { routes: readonly Registered[] }): Declaration[] =>
  routes.flatMap(({ handler }) => (isDeclared(handler) ? [handler.declares] : []));

/** Throws for a handler that is mounted beside the declared routes: it would have no guard. Middleware for some paths is one. */
export function refuseUndeclared({ routes }: { routes: readonly Registered[] }): void {
  const declared = new Set<string>();
  for (const { method, path, handler } of routes) {
    const name = operationOf({ method, path });
    if (isDeclared(handler)) declared.add(name);
    else if (name !== "ALL /*" && !declared.has(name))
      throw new Error(`${name} says no scope and no owner: declare it with route(…) or undocumented(…)`);
  }
}

/** Refuses a token without the scope. A token that names a shared owner can only read that owner's memory. */
export function assertScope(c: Context<AppEnv>, scope: Scope, isOwnOnly = scope !== "read"): void {
  const caller = c.get("caller");
  const message = `This call needs a ${wordOf(caller)} with the scope '${scope}'.`;
  if (!caller.scopes.has(scope)) throw new Refusal(fail("forbidden", { message }));
  if (isOwnOnly && isReadOnly(c)) throw new Refusal(sharedIsReadOnly(caller));
}

/** True if the token reads the memory of a shared owner, which it cannot change. */
export const isReadOnly = (c: Context<AppEnv>): boolean => c.get("readOnly") === true;

const sharedIsReadOnly = (caller: Caller): Failure => {
  const it = wordOf(caller);
  const itsUser = caller.bound ? "in its `users`" : "as `sub`";
  const message = `This ${it} may only read this shared owner's memory. To change it, use a ${it} with the owner, or \`*\`, ${itsUser}.`;
  return fail("forbidden", { message });
};
