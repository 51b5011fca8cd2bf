import { type Scope, signToken } from "./token.ts";

/** The lifetimes of the code of a link to the console, and of the token that it is exchanged for. */
export const CODE_MS = 10 * 60_000;
export const SESSION_MS = 24 * 3_600_000;

/** The `aud` of a code, by what it is for. A token has the claim `scope`, which a code lacks: no other route takes one. */
export const CODE_AUDIENCES = { console: "cairn-console-code", mcp: "cairn-mcp-code" } as const;
export type CodeFor = keyof typeof CODE_AUDIENCES;

type CodeRequest = { user: string; scope: readonly Scope[] };

/** A code for one sign-in to the console, signed by the tenant's secret; `now` in milliseconds. */
export const mintConsoleCode = (secret: string, request: CodeRequest, now: number): Promise<string> =>
  mintCode(secret, { ...request, opens: "console" }, now);

/** A code that works once: its holder has what it opens. */
export const mintCode = (
  secret: string,
  { user, scope, opens }: CodeRequest & { opens: CodeFor },
  now: number,
): Promise<string> =>
  signToken(secret, {
    aud: CODE_AUDIENCES[opens],
    sub: user,
    opens: scope.join(" "),
    jti: crypto.randomUUID(),
    iat: Math.floor(now / 1000),
    exp: Math.floor((now + CODE_MS) / 1000),
  });
