import { z } from "@hono/zod-openapi";
import { byteLength, isWithin, limits } from "../limits.ts";
import { depth } from "../raw-values.ts";
import { string } from "./described.ts";

/** Marks an issue that is answered with `limit_exceeded`. */
export const OVER_LIMIT = { isOverLimit: true } as const;
/** Options of `refine` for a limit. */
export const overLimit = (error: string) => ({ error, params: OVER_LIMIT });
/** Arguments of `refine` for the length of a list. `what` completes the message: "holds more than 32 tags". */
export const atMost = (max: number, what = String(max)) =>
  [(list: readonly unknown[]) => list.length <= max, overLimit(`holds more than ${what}`)] as const;

type Refinement = [
  isGood: (fields: Readonly<Record<string, unknown>>) => boolean,
  { path: string[]; error: string },
];
/** Arguments of `refine` for a field that goes only with another one. */
export const goesWith = (field: string, other: string, error: string): Refinement => [
  (fields) => fields[field] === undefined || fields[other] !== undefined,
  { path: [field], error },
];
/** The same for a field that does not go with another one. */
export const excludes = (field: string, other: string, error: string): Refinement => [
  (fields) => fields[field] === undefined || fields[other] === undefined,
  { path: [field], error },
];

const count = (n: number): string => n.toLocaleString("en-US");

/** A string of `min` to `max` bytes of UTF-8. The encoding would change lone surrogates. */
export const text = (max: number, min: 0 | 1 = 1) =>
  z
    .string()
    .min(min, { abort: true })
    .refine((value) => value.isWellFormed(), "holds a lone surrogate")
    .refine((value) => isWithin(value, max), overLimit(`is longer than ${count(max)} bytes of UTF-8`));

/** An integer in a query string. */
export const wholeNumber = ({ min, max }: { min: number; max: number }) =>
  z
    .string()
    .regex(/^-?\d{1,15}$/, "is not a whole number")
    .transform(Number)
    .pipe(
      z
        .number()
        .min(min)
        .refine((n) => n <= max, overLimit(`is larger than ${count(max)}`)),
    )
    .openapi({ type: "integer", minimum: min, maximum: max });

/** The same, in a body. */
export const boundedInt = ({ min, max }: { min: number; max: number }) =>
  z
    .int()
    .min(min)
    .refine((n) => n <= max, overLimit(`is larger than ${count(max)}`))
    .openapi({ minimum: min, maximum: max });

/** A query parameter that may be repeated. */
export const several = <T extends z.ZodType>(one: T, max: number) =>
  z
    .preprocess(
      (value) => (Array.isArray(value) || value === undefined ? value : [value]),
      z.array(one).max(max).optional(),
    )
    .openapi({ type: "array", items: { type: "string" } });

export const timestamp = z
  .int()
  .openapi({ description: "Milliseconds since the epoch.", example: 1_763_760_000_000 });

type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

/** Any JSON value in the OpenAPI document, by its types: a recursive schema never ends. */
export const anyJsonDocument: { type: JsonType[]; description: string } = {
  type: ["object", "array", "string", "number", "boolean", "null"],
  description: "Any JSON value.",
};

/** Any JSON value of an answer. */
export const anyJson = z.json().openapi(anyJsonDocument);

export type Json = z.infer<typeof anyJson>;

/** A caller's object, stored unchanged. A parsed copy would lose `__proto__`, and recursion has a limit. */
export const plainObject = <T extends Record<string, unknown>>() =>
  z.custom<T>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "is no object",
  );

/** Any JSON object, at most 10 KiB. */
export const metadata = plainObject<Record<string, Json>>()
  .refine(
    (value) => byteLength(JSON.stringify(value)) <= limits.metadata,
    overLimit(`is larger than ${count(limits.metadata)} bytes of JSON`),
  )
  .refine(
    (value) => depth(JSON.stringify(value)) <= limits.metadataDepth,
    `is nested more than ${limits.metadataDepth} levels deep`,
  )
  .openapi({ type: "object", additionalProperties: true, description: "Free JSON, at most 10 KiB." });

/** For a change: null removes the metadata. */
export const nullableMetadata = metadata.nullable().openapi({ type: ["object", "null"] });

export const pageLimit = (otherwise: number) =>
  wholeNumber({ min: 1, max: limits.page })
    .optional()
    .openapi({ description: `Items per page; ${otherwise} unless set.`, example: otherwise });

export const cursor = string("From the previous answer. The last page has none.").optional();

/** The answer with one page of a list. */
export const pageShape = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), cursor: z.string().optional() });

export const userId = text(limits.userId)
  .refine((id) => id !== "*" && id !== "." && id !== "..", "is reserved: `*`, `.` and `..` are no user ids")
  .openapi({
    description: "The user whose memory it is: any string of yours, at most 256 bytes of UTF-8.",
    example: "alice",
  });

export const userPath = z.object({ user: userId });

/** For routes without a query: unknown parameters are refused by name. */
export const noQuery = z.strictObject({});
