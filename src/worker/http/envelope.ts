import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";
import { withCors } from "./cors.ts";
import { answerPlainly } from "../rpc/plain.ts";
import { setSecurityHeaders } from "./security-headers.ts";

/** Request ids of callers that are safe in a header and in the logs. */
const REQUEST_ID = /^[\w\-=]{1,128}$/;

/** Adds to every answer, failures too: the request id, the timings, CORS and security headers. */
export const envelope = createMiddleware<AppEnv>(async function envelope(c, next) {
  const started = performance.now();
  const callers = c.req.header("X-Request-Id");
  const requestId = callers !== undefined && REQUEST_ID.test(callers) ? callers : crypto.randomUUID();
  c.set("requestId", requestId);
  // No browser reads the answer.
  if (c.get("bound") !== undefined) {
    answerPlainly(c);
    c.header("X-Request-Id", requestId);
    await next();
    // A route that streams makes a `Response` itself.
    if (c.res instanceof Response) c.res.headers.set("X-Request-Id", requestId);
    return;
  }
  const preflight = await withCors(c, next);
  if (preflight !== undefined) c.res = preflight;
  const { headers } = c.res;
  headers.set("X-Request-Id", requestId);
  const total = `total;dur=${(performance.now() - started).toFixed(1)}`;
  const parts = c.get("timings");
  headers.set("Server-Timing", parts === undefined ? total : `${parts},${total}`);
  setSecurityHeaders(headers, c.req.path);
});
