import { createMiddleware } from "hono/factory";
import { secureHeaders } from "hono/secure-headers";
import type { AppEnv } from "./context.ts";

/** For answers that are data. What only a document can be harmed by is left out: a small answer pays for each header. */
const api = secureHeaders({
  contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

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
