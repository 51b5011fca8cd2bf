import { createRoute, type RouteConfig, z } from "@hono/zod-openapi";
import { ErrorBody } from "../../domain/schema/error.ts";
import type { RouteAccess } from "./guard.ts";

/**
 * The definition of a route: who may call it, and how. `newRouter` guards it, adds the `failures`, and refuses any query where
 * none is described.
 */
export const route = <
  Method extends RouteConfig["method"],
  Path extends string,
  Rest extends Omit<RouteConfig, "method" | "path" | "security"> & RouteAccess,
>(
  method: Method,
  path: Path,
  rest: Rest,
) => createRoute({ method, path, ...rest });

export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

export const body = <T extends z.ZodType>(schema: T) => ({
  required: true,
  content: { "application/json": { schema } },
});

/** A request body that counts as `{}` where it is absent. */
export const optionalBody = <T extends z.ZodType>(schema: T) => ({
  required: false,
  content: { "application/json": { schema } },
});

/** A body that is any JSON value. The route reads it, and keeps its bytes. */
export const rawJsonBody = {
  required: true,
  content: { "application/json": { schema: { description: "Any JSON value, to 1 MiB." } } },
};

/** For a POST without parameters: an empty object, or nothing. */
export const noBody = optionalBody(z.strictObject({}));

export const nothing = (description: string) => ({ description });

/** Writes each call into the audit log, for a route that neither deletes nor needs the scope `admin`. */
export const alwaysAudited = { "x-audited": true } as const;

/** A header that its reader checks, with an error code of its own. */
const header = (description: string) => z.string().optional().openapi({ description });

export const conditionHeaders = z.object({
  "if-match": header('`*` or a list of versions, as `"v1"`: else 412.'),
  "if-none-match": header("`*` to create only, or a list of versions: else 412 (304 for a GET)."),
});

export const idempotencyHeader = z.object({
  "idempotency-key": header("A repeated request with the same key returns the first answer, for 24 hours."),
});

const failure = (description: string) => ({
  description,
  content: { "application/json": { schema: ErrorBody } },
});

/** Every other answer: the envelope of errors. */
export const failures = {
  "4XX": failure("The request is refused; `error.code` says why."),
  default: failure("A failure."),
} as const;
