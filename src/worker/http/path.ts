import type { MiddlewareHandler } from "hono";
import { fail } from "../../domain/errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Refuses a path or query that does not decode: the router would take `%zz` as literal text, and store under it. */
export const requireDecodablePath: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { url } = c.req;
  try {
    if (url.includes("%")) decodeURIComponent(url);
  } catch {
    throw new Refusal(fail("invalid_path"));
  }
  await next();
};
