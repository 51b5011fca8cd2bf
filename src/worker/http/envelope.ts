import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";
import { withCors } from "./cors.ts";
import { setSecurityHeaders } from "./security-headers.ts";

/** What a caller may name a request: it goes into a header and into the logs as it is. */
const REQUEST_ID = /^[\w\-=]{1,128}$/;

/** What every answer carries, failures too: the request's id, how long it took, and what a browser may do with it. */
export const envelope = createMiddleware<AppEnv>(async function envelope(c, next) {
  const started = performance.now();
  const given = c.req.header("X-Request-Id");
  const requestId = given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
  c.set("requestId", requestId);
  const preflight = await withCors(c, next);
  if (preflight !== undefined) c.res = preflight;
  const { headers } = c.res;
  headers.set("X-Request-Id", requestId);
  const total = `total;dur=${(performance.now() - started).toFixed(1)}`;
  const parts = c.get("timings");
  headers.set("Server-Timing", parts === undefined ? total : `${parts},${total}`);
  setSecurityHeaders(headers, c.req.path);
});
