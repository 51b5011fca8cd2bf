import type { Context } from "hono";
import type { AppEnv } from "./context.ts";

export const NDJSON = "application/x-ndjson";

const STREAMED = /^\/v1\/users\/[^/]+\/import$/;

/** Whether a route reads its body itself, line by line as it comes in: no limit of a body holds there. */
export const isStreamed = (c: Context<AppEnv>): boolean =>
  c.req.method === "POST" && STREAMED.test(c.req.path);
