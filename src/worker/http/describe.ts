import { z } from "@hono/zod-openapi";
import { ErrorBody } from "../../domain/schema/error.ts";

/** The parts that route descriptions share. */

export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});

/** A request body that must be there. */
export const body = <T extends z.ZodType>(schema: T) => ({
  required: true,
  content: { "application/json": { schema } },
});

/** A request body that can be left out: it is `{}` then. */
export const optionalBody = <T extends z.ZodType>(schema: T) => ({
  required: false,
  content: { "application/json": { schema } },
});

/** A body that is any JSON value: documented here and parsed by the route, which keeps its bytes as they are. */
export const anyJson = {
  required: true,
  content: { "application/json": { schema: { description: "Any JSON value, to 1 MiB." } } },
};

/** For a POST that says all in its path: it may carry an empty object, and a field is a mistake that is named. */
export const noBody = optionalBody(z.strictObject({}));

export const nothing = (description: string) => ({ description });

/** Writes each call into the audit log, for a route that neither deletes nor needs the scope `admin`. */
export const alwaysAudited = { "x-audited": true } as const;

/** Headers are documented here and read where they are used: their errors have codes of their own. */
const header = (description: string) => z.string().optional().openapi({ description });

export const conditionHeaders = z.object({
  "if-match": header('`*` or a list of versions, as `"v1"`: else 412.'),
  "if-none-match": header("`*` to create only, or a list of versions: else 412 (304 for a GET)."),
});

export const idempotencyHeader = z.object({
  "idempotency-key": header(
    "The same key with the same request is done once and answered alike, for 24 hours.",
  ),
});

const failure = (description: string) => ({
  description,
  content: { "application/json": { schema: ErrorBody } },
});

/** Whatever else can come: the one envelope of errors. */
export const failures = {
  "4XX": failure("The request is refused; `error.code` says why."),
  default: failure("A failure."),
} as const;
