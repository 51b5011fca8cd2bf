import type { Context, Handler } from "hono";
import { z } from "@hono/zod-openapi";
import { decodeJwt } from "jose";
import { errors, fail, type Result } from "../../domain/errors.ts";
import type { Caller } from "../auth/claims.ts";
import { redeemCode } from "../auth/console-code.ts";
import { NO_STORE } from "../http/answer.ts";
import { auditRefusedToken } from "../http/audit.ts";
import { bearerOf } from "../http/authenticate.ts";
import {
  bearerFor,
  type Cookie,
  cookieAt,
  dropCookie,
  keepInCookie,
  ofOwnPage,
  tokenInCookie,
} from "../http/console-cookie.ts";
import type { AppEnv } from "../http/context.ts";
import { answerFailure, unwrap } from "../http/failure.ts";
import { parsedBody, readBody } from "../http/json-body.ts";
import { nobody } from "../http/owner.ts";
import { countAddress } from "../http/rates.ts";
import { newRouter, undocumented } from "../http/router.ts";
import { parseInput } from "../parse-input.ts";

/** More than a code takes with the longest user id. */
const CODE_BYTES = 8_192;
const Code = z.strictObject({ code: z.string() });

/** How the console's page gets a token, and keeps it through a reload. */
export const consoleSession = newRouter();

const at = { path: "/console/session", scope: "open", owner: nobody } as const;

/** Exchanges the code of a link for a token. The code comes in the body: an address would be logged. */
const redeem: Handler<AppEnv> = async (c) => {
  const { console: settings, secret = "", revocations, revoked, now } = c.get("services");
  // A page that takes logins only has no use for the tenant's own tokens.
  if (settings === null || settings.issuer !== undefined)
    return answerFailure(c, { code: "route_not_found" });
  await countAddress(c);
  const { code } = unwrap(parseInput(Code, parsedBody(c), "body"));
  const token = unwrap(await redeemCode(code, { secret, revocations, revoked, now }));
  return c.json({ token }, 200, NO_STORE);
};
undocumented(consoleSession, { ...at, method: "post", before: [readBody(CODE_BYTES)] }, redeem);

/** Adds a route of the cookie, for the console's own page. Without a cookie here there is no such route. */
const ofCookie = (
  method: "get" | "put" | "delete",
  handle: (c: Context<AppEnv>, cookie: Cookie) => Response | Promise<Response>,
): void =>
  undocumented(consoleSession, { ...at, method }, async (c) => {
    const cookie = cookieAt(c);
    if (cookie === null) return answerFailure(c, { code: "route_not_found" });
    await countAddress(c);
    unwrap(ofOwnPage(c));
    return handle(c, cookie);
  });

ofCookie("put", async (c, cookie) => {
  const token = bearerOf(c) ?? "";
  const session = await sessionOf(unwrap(await callerOf(c, token)), token);
  unwrap(keepInCookie(c, cookie, { token, expiresAt: session.expiresAt }));
  return c.json({ session }, 200, NO_STORE);
});

// The page cannot read the cookie, and asks whose it is.
ofCookie("get", async (c, cookie) => {
  const token = tokenInCookie(c);
  const caller = token.ok ? await callerOf(c, token.value) : token;
  // Only a token that no longer counts ends the session: not a store that is away.
  const isOver = !caller.ok && errors[caller.code][0] === 401;
  if (token.ok && isOver) dropCookie(c, cookie);
  const session = token.ok && !isOver ? await sessionOf(unwrap(caller), token.value) : null;
  return c.json({ session }, 200, NO_STORE);
});

ofCookie("delete", (c, cookie) => {
  dropCookie(c, cookie);
  return c.body(null, 204);
});

/** Verifies a token as each call does. A page that takes logins only takes no other. */
async function callerOf(c: Context<AppEnv>, token: string): Promise<Result<Caller>> {
  const { authenticator, console: settings } = c.get("services");
  const verified = await authenticator.caller(token);
  const isOther = settings?.issuer !== undefined && verified.ok && decodeJwt(token).iss !== settings.issuer;
  const caller = isOther
    ? fail("invalid_token", { message: `The console takes logins of ${settings.issuer} only.` })
    : verified;
  if (!caller.ok && errors[caller.code][0] === 401) auditRefusedToken(c, caller.code);
  return caller;
}

/** The session of a token that was verified, with the bearer of its calls. */
const sessionOf = async ({ user, scopes }: Caller, token: string) => ({
  bearer: await bearerFor(token),
  user,
  scopes: [...scopes],
  // A token without an end is not valid.
  expiresAt: (decodeJwt(token).exp ?? 0) * 1000,
});
