import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { SESSION_MS } from "../../domain/console-link.ts";
import { fail, ok, type Result } from "../../domain/errors.ts";
import { hash16 } from "../../domain/hash.ts";
import { safeUrl } from "../auth/login-settings.ts";
import type { AppEnv } from "./context.ts";

/** A bearer that stands for the token in the cookie. A JWT has two dots. */
const STANDS_IN = "cookie.";
export const standsForCookie = (bearer: string): boolean => bearer.startsWith(STANDS_IN);
/**
 * The bearer that the console sends in place of a token in its cookie. No call counts by the cookie alone. The hash names the session:
 * another tab may have put another token into the cookie.
 */
export const bearerFor = async (token: string): Promise<string> =>
  STANDS_IN + (await hash16(`cairn:console:${token}`));
/** A browser drops a cookie above 4,096 bytes without a word; the name takes some of them. */
const LONGEST_TOKEN = 4_000;

export type Cookie = { name: string; secure: boolean };

/**
 * The console's cookie at the name by which a call comes; null where there is none. The pages of a Worker that Cairn is mounted in would
 * share it. Hosts share cookies between ports, so on this machine the name has the port.
 */
export function cookieAt(c: Context<AppEnv>): Cookie | null {
  const allowed = c.get("services").console?.cookie === true;
  if (!allowed || c.get("sharesOrigin") || c.get("bound") !== undefined) return null;
  const url = safeUrl(new URL(c.req.url).origin);
  if (url === null) return null;
  return url.protocol === "https:"
    ? { name: "__Host-cairn-console", secure: true }
    : { name: `cairn-console-${url.port}`, secure: false };
}

/** Refuses a call from another page than one of this origin. A browser sends the header, and no page can set it. */
export const ofOwnPage = (c: Context<AppEnv>): Result<null> =>
  c.req.header("Sec-Fetch-Site") === "same-origin"
    ? ok(null)
    : fail("forbidden", { message: "The console's cookie counts for calls of the console's own page only." });

/** The token in the cookie, for a call of the console's own page, whose bearer names the session. */
export async function tokenOfBearer(c: Context<AppEnv>, bearer: string): Promise<Result<string>> {
  const token = tokenInCookie(c);
  return !token.ok || (await bearerFor(token.value)) === bearer
    ? token
    : fail("unauthenticated", {
        message:
          "The console's cookie is of another session: another tab signed in. Reload the page for that one, or sign in again.",
      });
}

/** The token in the cookie, for a call of the console's own page. */
export function tokenInCookie(c: Context<AppEnv>): Result<string> {
  const cookie = cookieAt(c);
  const token = cookie === null ? undefined : getCookie(c, cookie.name);
  if (token === undefined)
    return fail("unauthenticated", {
      message: "The console's cookie has ended, or is not allowed here. Sign in again.",
    });
  const own = ofOwnPage(c);
  return own.ok ? ok(token) : own;
}

/** Has the browser keep the token for a day, or until it expires if that is sooner. */
export function keepInCookie(
  c: Context<AppEnv>,
  { name, secure }: Cookie,
  { token, expiresAt }: { token: string; expiresAt: number },
): Result<null> {
  if (token.length > LONGEST_TOKEN)
    return fail("value_too_large", {
      message: `A cookie holds a token of ${LONGEST_TOKEN} characters at most.`,
    });
  const leftMs = Math.min(expiresAt - c.get("services").now(), SESSION_MS);
  const maxAge = Math.max(0, Math.floor(leftMs / 1000));
  setCookie(c, name, token, { httpOnly: true, secure, sameSite: "Strict", path: "/", maxAge });
  return ok(null);
}

export const dropCookie = (c: Context<AppEnv>, { name, secure }: Cookie): void => {
  deleteCookie(c, name, { httpOnly: true, secure, sameSite: "Strict", path: "/" });
};
