import type { Context } from "hono";
import { mayRead, mayWrite } from "../auth/access.ts";
import { errors, fail } from "../../domain/errors.ts";
import { threadOwner, userHash } from "../../domain/ids.ts";
import { auditRefusedAccess, auditRefusedToken } from "./audit.ts";
import type { AppEnv } from "./context.ts";
import { Refusal, unwrap } from "./failure.ts";
import { type Scope, isSecret } from "../../domain/token.ts";

/** Refuses every call but the one that says so while there is no secret: Cairn is never open by default. */
export function requireSecret(c: Context<AppEnv>): void {
  if (c.req.path !== "/health" && !isSecret(c.get("services").secret))
    throw new Refusal(
      fail("not_configured", {
        message:
          "CAIRN_SECRET is not set, or shorter than 32 bytes: set it with `wrangler secret put CAIRN_SECRET`.",
      }),
    );
}

/** Finds out who calls, from `Authorization: Bearer <token>`. */
export async function authenticate(c: Context<AppEnv>): Promise<void> {
  const [scheme = "", token = "", ...rest] = (c.req.header("Authorization") ?? "").split(" ");
  const given = scheme.toLowerCase() === "bearer" && token !== "" && rest.length === 0;
  const caller = given ? await c.get("services").authenticator.caller(token) : fail("unauthenticated");
  if (!caller.ok && errors[caller.code][0] === 401) auditRefusedToken(c, caller.code);
  c.set("caller", unwrap(caller));
}

/** Keeps a token of one thread to it: whatever else there is, now or later, is refused before it is looked at. */
export function ownThreadOf(c: Context<AppEnv>): void {
  const { thread } = c.get("caller");
  if (thread === undefined) return;
  const own = `/v1/threads/${thread}`;
  const path = c.req.path;
  if (path !== own && !path.startsWith(`${own}/`)) throw new Refusal(ONE_THREAD_ONLY);
  if (path === `${own}/fork`) throw new Refusal(NO_FORK);
}

const ONE_THREAD_ONLY = fail("forbidden", {
  message: "This token reaches one thread only: the one in its claim `thread`.",
});

const NO_FORK = fail("forbidden", {
  message:
    "This token reaches one thread only, and a fork of it is another one: that takes a token without the claim `thread`.",
});

/** Lets pass who holds the scope; of a shared owner's memory, the scope to read is all that a token can hold. */
export function demandScope(c: Context<AppEnv>, scope: Scope): void {
  if (!c.get("caller").scopes.has(scope))
    throw new Refusal(fail("forbidden", { message: `This call needs a token with the scope '${scope}'.` }));
  if (scope !== "read" && c.get("readOnly") === true) throw new Refusal(SHARED_IS_READ_ONLY);
}

const SHARED_IS_READ_ONLY = fail("forbidden", {
  message:
    "This token may read the memory of this shared owner, not change it: that takes a token with the owner, or `*`, as `sub`.",
});

/** Lets pass a token of all users: what is the tenant's is no one user's to see or to change. */
export function demandWholeTenant(c: Context<AppEnv>, does: string): void {
  if (c.get("caller").user !== "*")
    throw new Refusal(fail("forbidden", { message: `Only a token of all users (\`*\`) ${does}.` }));
}

/** On `/v1/users/:user`: a token finds its own user's memory, and to read that of the shared owners that it names. */
export function ownUserOnly(c: Context<AppEnv>): void {
  const caller = c.get("caller");
  const user = c.req.param("user") ?? "";
  if (mayWrite(caller, user)) return;
  if (!mayRead(caller, user)) refuseOthers(c);
  c.set("readOnly", true);
}

/** On `/v1/threads/:id` and `/v1/erasures/:id`: the id tells whose it is; one that does not parse is nobody's. */
export async function ownThreadOnly(c: Context<AppEnv>): Promise<void> {
  const owner = threadOwner(c.req.param("id") ?? "");
  const { user, shared } = c.get("caller");
  if (owner === null) throw new Refusal(fail("not_found"));
  if (user === "*" || owner === (await userHash(user))) return;
  const readable = await Promise.all([...shared].map(userHash));
  if (!readable.includes(owner)) refuseOthers(c);
  c.set("readOnly", true);
}

function refuseOthers(c: Context<AppEnv>): never {
  auditRefusedAccess(c);
  throw new Refusal(fail("not_found"));
}
