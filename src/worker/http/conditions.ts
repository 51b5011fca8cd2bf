import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import type { Condition } from "../../domain/conditions.ts";
import { fail } from "../../domain/errors.ts";
import type { AppEnv } from "./context.ts";
import type { conditionHeaders } from "./describe.ts";
import { Refusal } from "./failure.ts";

type Validated = { out: { header: z.infer<typeof conditionHeaders> } };

const ETAGS = /^\s*(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*\s*$/;

/** The headers that make a request conditional (RFC 9110, section 13.1). */
export const PRECONDITIONS = [
  "If-Match",
  "If-None-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
  "If-Range",
] as const;

/**
 * Refuses the conditions that a route does not describe among its headers: a write that ignores its condition would
 * overwrite what the caller wants to keep.
 */
export function refusePreconditions(request?: RouteConfig["request"]): MiddlewareHandler<AppEnv> {
  const described = request?.headers instanceof z.ZodObject ? request.headers.shape : {};
  const unsupported = PRECONDITIONS.filter((header) => !(header.toLowerCase() in described));
  return async (c, next) => {
    const given = unsupported.filter((header) => c.req.header(header) !== undefined);
    if (given.length === 0) return next();
    const details = given.map((header) => ({ path: `header.${header}`, message: "is not supported here" }));
    throw new Refusal(fail("precondition_unsupported", { details }));
  };
}

/**
 * The request's `If-Match` and `If-None-Match`: `*` or a list of quoted versions. A weak one (`W/"v1"`, as a proxy that
 * compresses makes of ours) counts as the strong one. RFC 9110 (section 13.1.1) lets no weak one match for If-Match, as
 * two contents may share it; here each write has a version of its own, and the encoding of an answer does not change it.
 */
export function conditionOf(c: Context<AppEnv, string, Validated>): Condition {
  const given = c.req.valid("header");
  const ifMatch = versions(given["if-match"], "If-Match");
  const ifNoneMatch = versions(given["if-none-match"], "If-None-Match");
  return { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
}

function versions(
  given: string | undefined,
  header: "If-Match" | "If-None-Match",
): "any" | string[] | undefined {
  if (given === undefined) return undefined;
  if (given.trim() === "*") return "any";
  if (!ETAGS.test(given))
    throw new Refusal(
      fail("invalid_request", {
        details: [
          { path: `header.${header}`, message: 'is neither * nor a list of versions in quotes, as "v1"' },
        ],
      }),
    );
  const tags = given.split(",").map((tag) => tag.trim());
  return tags.map((tag) => tag.replace(/^(W\/)?"|"$/g, ""));
}
