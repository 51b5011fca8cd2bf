import { createMiddleware } from "hono/factory";
import { fail } from "../errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Refuses a path that does not decode: the router would take `%zz` for the text it is, and store under it. */
export const decodablePath = createMiddleware<AppEnv>(async function decodablePath(c, next) {
  try {
    decodeURIComponent(pathOf(c.req.url));
  } catch {
    throw new Refusal(fail("invalid_path"));
  }
  await next();
});

/** The path of an absolute URL, which is as the runtime has normalised it: nothing is left for `new URL` to do. */
function pathOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("//") + 2)).split(/[?#]/, 1)[0] ?? "";
}
