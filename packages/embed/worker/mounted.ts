import { type Context, type Env, Hono } from "hono";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { createApp } from "../../../src/worker/app.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import type { AppEnv } from "../../../src/worker/http/context.ts";

/**
 * Cairn as a Hono app to be routed under a path of another, as in `app.route("/memory", mounted())`. That one may be of
 * another copy of Hono: it hands over the request, and all else is done in an app of our own, whose paths begin at `/`.
 */
export function mounted(
  makePorts?: (env: AppEnv["Bindings"]) => Ports,
): Hono<{ Bindings: AppEnv["Bindings"] }> {
  // By request, since one app may be mounted in several places, and below parameters.
  const bases = new WeakMap<Request, string>();
  const app: OpenAPIHono<AppEnv> = createApp(makePorts, {
    basePathOf: (request) => bases.get(request) ?? "",
    sharesOrigin: true,
  });
  return new Hono<{ Bindings: AppEnv["Bindings"] }>().all("*", (c) => {
    const base = baseOf(c);
    const url = new URL(c.req.url);
    url.pathname = url.pathname.slice(base.length) || "/";
    const request = new Request(url, c.req.raw);
    bases.set(request, base);
    return app.fetch(request, c.env, executionOf(c));
  });
}

/** The part of the path that the other app has matched: as many segments as come before the `*` of its pattern. */
function baseOf(c: Context): string {
  const depth = c.req.routePath.replace(/\/?\*$/, "").split("/").length;
  return new URL(c.req.url).pathname.split("/").slice(0, depth).join("/");
}

/** A test that calls an app without a runtime gives none. */
function executionOf<E extends Env>(c: Context<E>): Context<E>["executionCtx"] | undefined {
  try {
    return c.executionCtx;
  } catch {
    return undefined;
  }
}
