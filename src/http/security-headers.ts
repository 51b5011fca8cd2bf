import { createMiddleware } from "hono/factory";
import { secureHeaders } from "hono/secure-headers";
import type { AppEnv } from "./context.ts";

const api = secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } });

const page = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    // Swagger UI sets inline styles.
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", "data:"],
    connectSrc: ["'self'"],
    frameAncestors: ["'none'"],
  },
});

/** Nothing may be loaded from an answer of the API; the reference page loads its own files only. */
export const securityHeaders = createMiddleware<AppEnv>(function securityHeaders(c, next) {
  return c.req.path === "/docs" ? page(c, next) : api(c, next);
});
