import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Refuses a path or query that does not decode: the router would take `%zz` for the text it is, and store under it. */
export function demandDecodablePath(c: Context<AppEnv>): void {
  const { url } = c.req;
  if (!url.includes("%")) return;
  try {
    decodeURIComponent(url);
  } catch {
    throw new Refusal(fail("invalid_path"));
  }
}
