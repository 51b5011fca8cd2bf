import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { fail, type Failure } from "../../domain/errors.ts";
import type { AppEnv } from "./context.ts";
import { answerFailure } from "./failure.ts";

/** True if pages of the origin may call. */
export const isAllowed = (corsOrigins: readonly string[], origin: string): boolean =>
  corsOrigins.includes("*") || corsOrigins.includes(origin);

export const UNKNOWN_ORIGIN: Failure = fail("forbidden", {
  message: "This Origin is not among the deployment's CORS_ORIGINS. Add it there if its pages may call.",
  details: [{ path: "header.Origin", message: "is not allowed" }],
});

/** Origins that are logged, and characters of each: anyone may send any. */
const [MOST_LOGGED, LONGEST_LOGGED] = [100, 200];

/** Logs an origin once. A browser shows its page no answer to a preflight, so people look for the reason in the log. */
function logOnce(logged: Set<string>, origin: string): void {
  const shown = origin.slice(0, LONGEST_LOGGED);
  if (logged.has(shown) || logged.size >= MOST_LOGGED) return;
  logged.add(shown);
  console.error({ message: "a page's origin is not among CORS_ORIGINS", origin: shown });
}

/** Lets browsers of CORS_ORIGINS call. Without any, sends no CORS header. Refuses a preflight from any other origin. */
export const withCors = createMiddleware<AppEnv>(async function withCors(c, next) {
  const { corsOrigins, loggedOrigins } = c.get("services");
  const origin = c.req.header("Origin");
  const isPreflight =
    c.req.method === "OPTIONS" && c.req.header("Access-Control-Request-Method") !== undefined;
  if (isPreflight && origin !== undefined && !isAllowed(corsOrigins, origin)) {
    logOnce(loggedOrigins, origin);
    return answerFailure(c, UNKNOWN_ORIGIN);
  }
  // Not `return next()`, whose value is no Response, as that of a preflight is.
  if (corsOrigins.length === 0) {
    await next();
    return undefined;
  }
  return cors({
    origin: corsOrigins.includes("*") ? "*" : [...corsOrigins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    // No `credentials`: another origin's program sends a token, and the console's cookie is not for it.
    exposeHeaders: [
      "Allow",
      "ETag",
      "WWW-Authenticate",
      "X-Request-Id",
      "Retry-After",
      "Server-Timing",
      "Cairn-Lease",
      "Cairn-Lease-Expires",
    ],
    maxAge: 600,
  })(c, next);
});
