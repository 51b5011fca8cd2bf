import { type Scope, signToken } from "./token.ts";

/** The lifetimes of the code of a link to the console, and of the token that it is exchanged for. */
export const CODE_MS = 10 * 60_000;
export const SESSION_MS = 24 * 3_600_000;

/** The `aud` of a code. A token has the claim `scope`, which a code lacks: no other route takes one. */
export const CODE_AUDIENCE = "cairn-console-code";

/** A code for one sign-in to the console, signed by the tenant's secret; `now` in milliseconds. */
export const mintConsoleCode = (
  secret: string,
  { user, scope }: { user: string; scope: readonly Scope[] },
  now: number,
): Promise<string> =>
  signToken(secret, {
    aud: CODE_AUDIENCE,
    sub: user,
    opens: scope.join(" "),
    jti: crypto.randomUUID(),
    iat: Math.floor(now / 1000),
    exp: Math.floor((now + CODE_MS) / 1000),
  });
