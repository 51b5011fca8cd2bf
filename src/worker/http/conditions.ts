import { type RouteConfig, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { type Precondition, holds } from "../../domain/conditions.ts";
import { present } from "../../domain/present.ts";
import { fail, invalidField } from "../../domain/errors.ts";
import type { AppEnv } from "./context.ts";
import type { conditionHeaders } from "./describe.ts";
import { Refusal } from "./failure.ts";

type Validated = { out: { header: z.infer<typeof conditionHeaders> } };

const ETAGS = /^\s*(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*\s*$/;

/** RFC 9110, section 13.1. */
export const PRECONDITIONS = [
  "If-Match",
  "If-None-Match",
  "If-Modified-Since",
  "If-Unmodified-Since",
  "If-Range",
] as const;

/** Refuses conditions that the route does not describe: a write that ignored one would overwrite what its caller protects. */
export function refusePreconditions(request?: RouteConfig["request"]): MiddlewareHandler<AppEnv> {
  const described = request?.headers instanceof z.ZodObject ? request.headers.shape : {};
  const unsupported = PRECONDITIONS.filter((header) => !(header.toLowerCase() in described));
  return (c, next) => {
    const headers = unsupported.filter((header) => c.req.header(header) !== undefined);
    if (headers.length === 0) return next();
    const details = headers.map((header) => ({ path: `header.${header}`, message: "is not supported here" }));
    throw new Refusal(fail("precondition_unsupported", { details }));
  };
}

/**
 * The request's `If-Match` and `If-None-Match`: `*` or a list of quoted versions. A weak version (`W/"v1"`, as a compressing
 * proxy writes it) counts as strong, against RFC 9110 (section 13.1.1): here each write has its own version.
 */
export function conditionOf(c: Context<AppEnv, string, Validated>): Precondition {
  const headers = c.req.valid("header");
  const ifMatch = versions(headers["if-match"], "If-Match");
  const ifNoneMatch = versions(headers["if-none-match"], "If-None-Match");
  return present({ ifMatch, ifNoneMatch });
}

/** Checks a GET's condition against the current version (null: none). Throws 412; true means 304. */
export function isNotModified({ ifMatch, ifNoneMatch }: Precondition, version: string | null): boolean {
  if (ifMatch && !holds({ ifMatch }, version)) throw new Refusal(fail("precondition_failed"));
  return version !== null && ifNoneMatch !== undefined && !holds({ ifNoneMatch }, version);
}

function versions(value: string | undefined, header: string): "any" | string[] | undefined {
  if (value === undefined) return undefined;
  if (value.trim() === "*") return "any";
  if (!ETAGS.test(value))
    throw new Refusal(invalidField(`header.${header}`, 'must be * or a list of versions in quotes, as "v1"'));
  const tags = value.split(",").map((tag) => tag.trim());
  return tags.map((tag) => tag.replace(/^(W\/)?"|"$/g, ""));
}
