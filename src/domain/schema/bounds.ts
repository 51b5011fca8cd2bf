import { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../errors.ts";
import { byteLength, isWithin, limits } from "../limits.ts";
import { depth } from "../raw-values.ts";

/** What `refine` needs so that breaking this rule answers with a code of its own (see `invalid` in http/failure.ts). */
export const breaks = (code: ErrorCode, error: string) => ({ error, params: { code } });

const count = (n: number): string => n.toLocaleString("en-US");

/** A string of `min` to `max` bytes of UTF-8, without lone surrogates (they would be changed by the encoding). */
export const text = (max: number, code: ErrorCode, min: 0 | 1 = 1) =>
  z
    .string()
    .min(min, { abort: true })
    .refine((value) => value.isWellFormed(), "holds a lone surrogate")
    .refine((value) => isWithin(value, max), breaks(code, `is longer than ${count(max)} bytes of UTF-8`));

/** A whole number of a query string, `min` to `max`, which answers with `code` when it is larger. */
export const wholeNumber = ({ min, max, code }: { min: number; max: number; code: ErrorCode }) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, "is not a whole number")
    .transform(Number)
    .pipe(
      z
        .number()
        .min(min)
        .refine((n) => n <= max, breaks(code, `is larger than ${count(max)}`)),
    )
    .openapi({ type: "integer", minimum: min, maximum: max });

/** The same, as a number in a body. */
export const boundedInt = ({ min, max, code }: { min: number; max: number; code: ErrorCode }) =>
  z
    .int()
    .min(min)
    .refine((n) => n <= max, breaks(code, `is larger than ${count(max)}`))
    .openapi({ minimum: min, maximum: max });

/** A query parameter that may be given several times. */
export const several = <T extends z.ZodType>(one: T, max: number) =>
  z
    .preprocess(
      (given) => (Array.isArray(given) || given === undefined ? given : [given]),
      z.array(one).max(max).optional(),
    )
    .openapi({ type: "array", items: { type: "string" } });

export const timestamp = z
  .int()
  .openapi({ description: "Milliseconds since the epoch.", example: 1_763_760_000_000 });

type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

/** How any JSON value is documented: by its types, since a recursive schema has no end as a document. */
export const anyJsonDocument: { type: JsonType[]; description: string } = {
  type: ["object", "array", "string", "number", "boolean", "null"],
  description: "Any JSON value.",
};

/** Any JSON value of an answer. */
export const anyJson = z.json().openapi(anyJsonDocument);

/** What `anyJson` lets pass, as a type. */
export type Json = z.infer<typeof anyJson>;

/** An object of the caller's that is kept as it is. A parsed copy would lose `__proto__`, and recursion has an end. */
export const plainObject = <T extends Record<string, unknown>>() =>
  z.custom<T>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "is no object",
  );

/** Any JSON object, to 10 KiB. */
export const metadata = plainObject<Record<string, Json>>()
  .refine(
    (value) => byteLength(JSON.stringify(value)) <= limits.metadata,
    breaks("metadata_too_large", `is larger than ${count(limits.metadata)} bytes of JSON`),
  )
  .refine(
    (value) => depth(JSON.stringify(value)) <= limits.metadataDepth,
    `is nested more than ${limits.metadataDepth} levels deep`,
  )
  .openapi({ type: "object", additionalProperties: true, description: "Free JSON, to 10 KiB." });

/** Of a change: null takes them away. */
export const nullableMetadata = metadata.nullable().openapi({ type: ["object", "null"] });

export const pageLimit = (otherwise: number) =>
  wholeNumber({ min: 1, max: limits.page, code: "page_too_large" })
    .optional()
    .openapi({ description: `Items a page, ${otherwise} unless set.`, example: otherwise });

export const cursor = z
  .string()
  .optional()
  .openapi({ description: "From the answer before; absent on the last page." });

export const userId = text(limits.userId, "user_id_too_long")
  .refine((id) => id !== "*" && id !== "." && id !== "..", "is reserved: `*`, `.` and `..` are no user ids")
  .openapi({
    param: { name: "user", in: "path" },
    description: "The owner of the memory: any string of yours, to 256 bytes of UTF-8.",
    example: "alice",
  });

export const userPath = z.object({ user: userId });

/** For routes that take no query: an unknown parameter is a mistake, and is named. */
export const noQuery = z.strictObject({});
