import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";

/** Lets browsers of the configured origins call; without any, no CORS header is sent at all. */
export const withCors = createMiddleware<AppEnv>(async function withCors(c, next) {
  const { corsOrigins } = c.get("services");
  // Not `return next()`: what Hono's answers is no Response, as that of a preflight is.
  if (corsOrigins.length === 0) {
    await next();
    return undefined;
  }
  return cors({
    origin: corsOrigins.includes("*") ? "*" : [...corsOrigins],
    allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    // No `credentials`: a token is sent by the program that has it, and never by the browser on its own.
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
