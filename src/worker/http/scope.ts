import type { Context, MiddlewareHandler } from "hono";
import { fail } from "../../domain/errors.ts";
import type { Scope } from "../../domain/token.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/**
 * For the definition of a route: its callers need a token with this scope. Enforces it, and documents it. `ofOwner`: reading
 * the owner's memory is not enough, even where the scope is `read`.
 */
export const requireScope = (scope: Scope, { ofOwner = scope !== "read" }: { ofOwner?: boolean } = {}) => ({
  security: [{ bearer: [scope] }],
  middleware: ((c, next) => {
    assertScope(c, scope, ofOwner);
    return next();
  }) satisfies MiddlewareHandler<AppEnv>,
});

/** For the definition of a route that needs no token. Generators of clients want this said, too. */
export const publicRoute = { security: [], middleware: [] };

/** Refuses a token without the scope. A token that names a shared owner can only read that owner's memory. */
export function assertScope(c: Context<AppEnv>, scope: Scope, ofOwner = scope !== "read"): void {
  if (!c.get("caller").scopes.has(scope))
    throw new Refusal(fail("forbidden", { message: `This call needs a token with the scope '${scope}'.` }));
  if (ofOwner && isReadOnly(c)) throw new Refusal(SHARED_IS_READ_ONLY);
}

/** True if the token reads the memory of a shared owner, which it cannot change. */
export const isReadOnly = (c: Context<AppEnv>): boolean => c.get("readOnly") === true;

const SHARED_IS_READ_ONLY = fail("forbidden", {
  message:
    "This token may only read this shared owner's memory. To change it, use a token with the owner, or `*`, as `sub`.",
});
