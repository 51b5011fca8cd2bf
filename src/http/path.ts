import { createMiddleware } from "hono/factory";
import { fail } from "../errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Refuses a path or query that does not decode: the router would take `%zz` for the text it is, and store under it. */
export const decodablePath = createMiddleware<AppEnv>(async function decodablePath(c, next) {
  try {
    decodeURIComponent(c.req.url);
  } catch {
    throw new Refusal(fail("invalid_path"));
  }
  await next();
});
