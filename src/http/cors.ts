import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";

/** Lets browsers of the configured origins call; without any, no CORS header is sent at all. */
export const withCors = createMiddleware<AppEnv>(async function withCors(c, next) {
  const { corsOrigins } = c.get("services");
  if (corsOrigins.length === 0) return next();
  return cors({
    origin: corsOrigins.includes("*") ? "*" : [...corsOrigins],
    exposeHeaders: [
      "ETag",
      "X-Request-Id",
      "Retry-After",
      "Server-Timing",
      "Cairn-Lease",
      "Cairn-Lease-Expires",
    ],
    maxAge: 600,
  })(c, next);
});
