import type { Context } from "hono";
import { authenticate } from "./authenticate.ts";
import type { AppEnv } from "./context.ts";
import { answerFailure } from "./failure.ts";
import { limitCaller } from "./rates.ts";
import { editsBetween } from "../../domain/nearest-name.ts";

/** A message for a path that is probably a mistake. */
function hint(pathname: string): { message?: string } {
  if (/\/v1\/v1\//.test(pathname))
    return { message: "There is no such route. The `url` of a client has no /v1 at its end." };
  if (/^\/v1\/(users\/[^/]+\/kv|cache)\/./.test(pathname))
    return { message: "There is no such route. In a key, `/` is written as %2F." };
  return {};
}

/** Segments of the longest path that is compared, and characters of it. */
const [MOST_SEGMENTS, MOST_CHARACTERS] = [10, 500];
/** Edits of all segments together: `memory` is three from `memories`. */
const MOST_EDITS = 4;

/** Names the route that is probably meant: the one with the fewest edits, and of these one with the method. */
function nearestTo(pathname: string, method: string, routes: readonly Route[]): { message?: string } {
  if (pathname.length > MOST_CHARACTERS) return {};
  const candidates = [pathname, `/v1${pathname}`].flatMap((path) =>
    routes.map((route) => ({
      route,
      edits: editsOf(path.replace(/\/$/, ""), route.path) + (route.method === method ? 0 : 0.5),
    })),
  );
  const [nearest] = candidates.toSorted((a, b) => a.edits - b.edits);
  if (nearest === undefined || nearest.edits > MOST_EDITS) return {};
  const path = nearest.route.path.replaceAll(/:([^/{]+)(?:\{[^}]*\})?/g, "{$1}");
  return { message: `There is no such route. Did you mean ${nearest.route.method} ${path}?` };
}

/** The edits of the fixed segments; infinite for a path of another form. */
function editsOf(pathname: string, path: string): number {
  const [segments, known] = [pathname.split("/"), path.split("/")];
  if (segments.length !== known.length || segments.length > MOST_SEGMENTS) return Infinity;
  let edits = 0;
  for (const [i, segment] of known.entries()) {
    const one = segments[i] ?? "";
    if (segment.startsWith(":") ? one !== "" : one === segment) continue;
    const here = segment.startsWith(":") ? Infinity : editsBetween(one, segment);
    // Half of a word is another word.
    edits += here * 2 > segment.length ? Infinity : here;
  }
  return edits;
}

const goOn = async (): Promise<void> => {};

type Route = { method: string; path: string };

/** Paths of which nothing is told without a token. */
const GUARDED = /^\/(?:v1|mcp)(?:\/|$)/;

/** Answers a call that no route takes: 405 with the methods of its path, or 404. Under `/v1` and `/mcp`, only to the holder of a token. */
export function unknownRoute(routes: readonly Route[]): (c: Context<AppEnv>) => Promise<Response> {
  // Middleware is registered for ALL methods.
  const known = routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/:[^/]+/g, "[^/]+")}$`) }));
  const paths = routes.filter(({ method, path }) => method !== "ALL" && path.startsWith("/v1/"));
  return async (c) => {
    const { path: pathname } = c.req;
    if (GUARDED.test(pathname)) {
      await authenticate(c, goOn);
      await limitCaller(c, goOn);
    }
    const methods = new Set(
      known.filter(({ pattern }) => pattern.test(pathname)).map(({ method }) => method),
    );
    if (methods.size === 0)
      return answerFailure(c, {
        code: "route_not_found",
        ...nearestTo(pathname, c.req.method, paths),
        ...hint(pathname),
      });
    c.header("Allow", [...methods].join(", "));
    return answerFailure(c, { code: "method_not_allowed" });
  };
}
