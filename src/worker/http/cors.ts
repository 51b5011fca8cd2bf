import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";

/** Lets browsers of CORS_ORIGINS call. Without any, sends no CORS header. */
export const withCors = createMiddleware<AppEnv>(async function withCors(c, next) {
  const { corsOrigins } = c.get("services");
  // Not `return next()`, whose value is no Response, as that of a preflight is.
  if (corsOrigins.length === 0) {
    await next();
    return undefined;
  }
  return cors({
    origin: corsOrigins.includes("*") ? "*" : [...corsOrigins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    // No `credentials`: the program sends its token, never the browser by itself.
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
