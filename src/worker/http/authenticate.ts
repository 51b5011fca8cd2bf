import type { Context, MiddlewareHandler } from "hono";
import { mayRead, mayWrite, outOfReach } from "../auth/claims.ts";
import { errors, fail } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { idOwner } from "../../domain/thread-id.ts";
import { auditRefusedAccess, auditRefusedToken } from "./audit.ts";
import type { AppEnv } from "./context.ts";
import { Refusal, unwrap } from "./failure.ts";
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

/** Finds the caller, from `Authorization: Bearer <token>`. */
export const authenticate: Middleware = async (c, next) => {
  const [scheme = "", token = "", ...rest] = (c.req.header("Authorization") ?? "").split(" ");
  const hasToken = scheme.toLowerCase() === "bearer" && token !== "" && rest.length === 0;
  const caller = hasToken ? await c.get("services").authenticator.caller(token) : fail("unauthenticated");
  if (!caller.ok && errors[caller.code][0] === 401) auditRefusedToken(c, caller.code);
  c.set("caller", unwrap(caller));
  await next();
};

/** Refuses a token of one thread on every other path, so also on routes added later. */
export const restrictToThread: Middleware = (c, next) => {
  const { thread } = c.get("caller");
  const own = `/v1/threads/${thread}`;
  const { path } = c.req;
  if (thread !== undefined && path !== own && !path.startsWith(`${own}/`)) throw new Refusal(ONE_THREAD_ONLY);
  if (thread !== undefined && path === `${own}/fork`) throw new Refusal(NO_FORK);
  return next();
};

const ONE_THREAD_ONLY = fail("forbidden", {
  message: "This token reaches one thread only: the one in its claim `thread`.",
});

const NO_FORK = fail("forbidden", {
  message:
    "This token reaches one thread only, and a fork is another one. Use a token without the claim `thread`.",
});

/** Refuses a token of one user where a call concerns the whole tenant. `action` completes the message: "lists the users". */
export function requireWholeTenant(c: Context<AppEnv>, action: string): void {
  if (c.get("caller").user !== "*")
    throw new Refusal(fail("forbidden", { message: `Only a token of all users (\`*\`) ${action}.` }));
}

/** On `/v1/users/:user`: refuses other users; a shared owner that the token names can be read. */
export const requireOwnUser: Middleware = (c, next) => {
  const caller = c.get("caller");
  const user = c.req.param("user") ?? "";
  if (!mayWrite(caller, user)) allowReading(c, mayRead(caller, user));
  return next();
};

/** The same on `/v1/threads/:id`, `/v1/erasures/:id`, `/v1/ingests/:id` and `/v1/recalls/:id`, by the owner that the id names. */
export const requireOwnId: Middleware = async (c, next) => {
  const owner = idOwner(c.req.param("id") ?? "");
  const { user, shared } = c.get("caller");
  if (owner === null) throw new Refusal(fail("not_found"));
  if (user !== "*" && owner !== (await userHash(user))) {
    const readable = await Promise.all([...shared].map(userHash));
    allowReading(c, readable.includes(owner));
  }
  await next();
};

/** Marks a call as read only, or refuses it if not even reading is allowed. */
function allowReading(c: Context<AppEnv>, readable: boolean): void {
  if (!readable) {
    auditRefusedAccess(c);
    throw new Refusal(outOfReach(c.get("caller")));
  }
  c.set("readOnly", true);
}
