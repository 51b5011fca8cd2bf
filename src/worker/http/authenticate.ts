import type { Context, MiddlewareHandler } from "hono";
import { errors, fail, ok, type Result } from "../../domain/errors.ts";
import type { Caller } from "../auth/claims.ts";
import { isSignInToken, resourceMetadataAt } from "../sign-in/sign-in.ts";
import { signInAt } from "./sign-in-at.ts";
import { auditRefusedToken } from "./audit.ts";
import { standsForCookie, tokenOfBearer } from "./console-cookie.ts";
import type { AppEnv } from "./context.ts";
import { Refusal, unwrap } from "./failure.ts";
import { countAddress } from "./rates.ts";
import { isSecret } from "../../domain/token.ts";

type Middleware = MiddlewareHandler<AppEnv>;

/** Refuses every call but /health while no secret is set: Cairn is never open by default. */
export const requireSecret: Middleware = (c, next) => {
  if (c.req.path !== "/health" && !isSecret(c.get("services").secret))
    throw new Refusal(
      fail("not_configured", {
        message:
          "CAIRN_SECRET is not set, or shorter than 32 bytes: set it with `wrangler secret put CAIRN_SECRET`.",
      }),
    );
  return next();
};

/** Finds the caller of a call over a service binding, from the binding's props. Without them no route is open. */
export const requireProps: Middleware = (c, next) => {
  const bound = c.get("bound");
  if (bound !== undefined) {
    // A malformed call of a good binding is refused as a body is, and is no attack.
    if (!bound.caller.ok && bound.caller.code === "invalid_props")
      auditRefusedToken(c, bound.caller.code, bound.tokenId);
    c.set("caller", unwrap(bound.caller));
  }
  return next();
};

/** Finds the caller of a call over HTTP, from `Authorization: Bearer <token>`, whose token may be in the console's cookie. */
export const authenticate: Middleware = authenticateBy(async (c, bearer) => {
  const inHeader = standsForCookie(bearer) ? await tokenOfBearer(c, bearer) : ok(bearer);
  return inHeader.ok ? ownTokens(c, inHeader.value) : inHeader;
});

/** The same for MCP: the token may be of a sign-in, which opens nothing else. A caller without one is told where to sign in. */
export const authenticateForMcp: Middleware = async (c, next) => {
  const here = signInAt(c);
  if (here === null) return authenticateBy(ownTokens)(c, next);
  c.set("signInAt", resourceMetadataAt(here.origin));
  const callerOf: CallerOf = (_, token) =>
    isSignInToken(token)
      ? here.signIn.caller(token, {
          origin: here.origin,
          signIns: c.get("services").signIns,
          beforeD1: () => countAddress(c),
        })
      : ownTokens(c, token);
  return authenticateBy(callerOf)(c, next);
};

type CallerOf = (c: Context<AppEnv>, token: string) => Promise<Result<Caller>>;

function ownTokens(c: Context<AppEnv>, token: string): Promise<Result<Caller>> {
  return c.get("services").authenticator.caller(token);
}

function authenticateBy(callerOf: CallerOf): Middleware {
  return async (c, next) => {
    if (c.get("bound") !== undefined) return next();
    const token = bearerOf(c);
    const caller = token === null ? fail("unauthenticated") : await callerOf(c, token);
    // A cookie that another page sends along is refused as a wrong token is.
    if (!caller.ok && (errors[caller.code][0] === 401 || caller.code === "forbidden"))
      auditRefusedToken(c, caller.code);
    c.set("caller", unwrap(caller));
    await next();
  };
}

/** The token of the header `Authorization`, unverified; null if there is none. */
export function bearerOf(c: Context<AppEnv>): string | null {
  const [scheme = "", token = "", ...rest] = (c.req.header("Authorization") ?? "").split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" && rest.length === 0 ? token : null;
}
