import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { hasInexactNumber, INEXACT } from "../raw-values.ts";
import { cursor, type Json, OVER_LIMIT, pageLimit, plainObject, several } from "./bounds.ts";
import { boolean, integer, shape, strictShape } from "./described.ts";
import {
  byName,
  fieldsFilteredBy,
  memoryKind,
  type MemoryKind,
  memoryStatus,
  type MemoryStatus,
  name,
  tag,
} from "./memory-fields.ts";
import { type Trust, trust } from "./provenance.ts";
import { metadataCondition } from "./metadata-filter.ts";

const listNames = fieldsFilteredBy("any");
const scalarNames = [
  ...fieldsFilteredBy("exact"),
  ...fieldsFilteredBy("normalised"),
  ...fieldsFilteredBy("contains"),
  "sourceThread",
  "sourceMessage",
  "extractor",
] as const;
export const rangeNames = [
  ...fieldsFilteredBy("range"),
  "valence",
  "createdAt",
  "updatedAt",
  "validFrom",
] as const;
export type RangeName = (typeof rangeNames)[number];

/** A memory matches if every condition holds. Ranges include both ends. */
export type MemoryFilter = {
  kinds?: MemoryKind[];
  status?: MemoryStatus[];
  trust?: Trust[];
  tags?: string[];
  anyTags?: string[];
  /** Only memories without a scope. The API does not have this condition. */
  unscoped?: true;
  metadata?: Record<string, Json>;
} & { [Name in (typeof listNames)[number]]?: string[] } & {
  [Name in (typeof scalarNames)[number]]?: string;
} & { [Range in RangeName as `${Range}Min` | `${Range}Max`]?: number };

const metadataFilter = plainObject<Record<string, Json>>().superRefine((fields, context) => {
  metadataCondition(fields, (path, message, isOverLimit = false) =>
    context.addIssue({
      code: "custom",
      path,
      message,
      input: fields,
      ...(isOverLimit && { params: OVER_LIMIT }),
    }),
  );
});
const described: Readonly<Record<string, string>> = {
  kinds: "Any of these kinds.",
  tags: "Every one of these tags.",
  anyTags: "At least one of these tags.",
  status: "`active` unless set.",
  trust: "Any of these.",
  scope: "Any of these scopes.",
  subject: "Compared without case and extra spaces, as are predicate and key.",
  title: "The exact title.",
  context: "Memories whose context holds this text. Upper and lower case of A to Z are the same.",
  sourceMessage: "A seq, or an id of yours.",
  metadata:
    "Each field has this value (in an object, the order of fields counts), or fits these comparisons: `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `nin`, `exists`. `and`, `or` (lists of such filters) and `not` combine them.",
};
const description = (field: string) => ({
  ...(described[field] !== undefined && { description: described[field] }),
});

/** Optional fields of one schema, with their descriptions. */
const each = <Name extends string, T extends z.ZodType>(
  names: readonly Name[],
  schema: T,
): { [Key in Name]: z.ZodOptional<T> } => byName(names, (one) => schema.optional().openapi(description(one)));

const listOf = <T extends z.ZodType>(one: T, max: number = limits.filterValues) =>
  z.array(one).min(1).max(max);
const ends = rangeNames.flatMap((range) => [`${range}Min`, `${range}Max`] as const);

/** A filter in a body. */
export const memoryFilter = strictShape("MemoryFilter", {
  kinds: listOf(memoryKind).optional().openapi(description("kinds")),
  status: listOf(memoryStatus).optional().openapi(description("status")),
  trust: listOf(trust).optional().openapi(description("trust")),
  tags: listOf(tag, limits.tags).optional().openapi(description("tags")),
  anyTags: listOf(tag).optional().openapi(description("anyTags")),
  ...each(listNames, listOf(name)),
  ...each(scalarNames, name),
  ...each(ends, z.number()),
  metadata: metadataFilter
    .optional()
    .openapi({ type: "object", additionalProperties: true, ...description("metadata") }),
});

const number = z
  .string()
  .refine((given) => given.trim() !== "" && Number.isFinite(Number(given)), "is not a number")
  .transform(Number)
  .openapi({ type: "number" });

const json = z
  .string()
  .transform((given, context) => {
    try {
      const parsed = JSON.parse(given) as unknown;
      if (!hasInexactNumber(given)) return parsed;
      context.addIssue({ code: "custom", message: INEXACT });
      return z.NEVER;
    } catch {
      context.addIssue({ code: "custom", message: "is not JSON" });
      return z.NEVER;
    }
  })
  .pipe(metadataFilter)
  .openapi({ type: "string", example: '{"project":"foo"}' });

/** A time in milliseconds since the epoch. */
const moment = z
  .string()
  .regex(/^-?\d{1,16}$/, "is not a whole number of milliseconds")
  .transform(Number)
  .pipe(z.number().min(-8.64e15).max(8.64e15))
  .openapi({ type: "integer" });

const asOf = "Answers as if asked at this time.";
const validAt = "Answers with the memories that were true at this time, as known now (or at `asOf`).";

/** The times of a question, in a query string. */
export const atQuery = {
  asOf: moment.optional().openapi({ description: asOf }),
  validAt: moment.optional().openapi({ description: validAt }),
};

/** The same, in a body. */
export const atBody = {
  asOf: z.int().min(-8.64e15).max(8.64e15).optional().openapi({ description: asOf }),
  validAt: z.int().min(-8.64e15).max(8.64e15).optional().openapi({ description: validAt }),
};

export const sortKeys = ["createdAt", "updatedAt", "validFrom", "score", "importance"] as const;
export type SortKey = (typeof sortKeys)[number];

/** The same filter in a query string. A list is a repeated parameter, with a name in the singular. */
export const ListMemoriesQuery = z.strictObject({
  kind: several(memoryKind, 4).openapi(description("kinds")),
  status: several(memoryStatus, 3).openapi(description("status")),
  trust: several(trust, 5).openapi(description("trust")),
  tag: several(tag, limits.tags).openapi(description("tags")),
  anyTag: several(tag, limits.filterValues).openapi(description("anyTags")),
  ...byName(listNames, (one) => several(name, limits.filterValues).openapi(description(one))),
  ...each(scalarNames, name),
  ...each(ends, number),
  metadata: json.optional().openapi({ description: `${described["metadata"]} As JSON.` }),
  ...atQuery,
  sort: z.enum(sortKeys).optional().openapi({ description: "`createdAt` unless set." }),
  order: z.enum(["asc", "desc"]).optional().describe("`desc` (newest or greatest first) unless set."),
  limit: pageLimit(50),
  cursor,
});
export type ListMemoriesQuery = z.infer<typeof ListMemoriesQuery>;

/** The filter of a query string, as in a body. */
export function filterOf(query: ListMemoriesQuery): MemoryFilter {
  const {
    kind,
    tag: all,
    anyTag,
    asOf: _a,
    validAt: _v,
    sort: _s,
    order: _o,
    limit: _l,
    cursor: _c,
    ...same
  } = query;
  return {
    ...same,
    ...(kind && { kinds: kind }),
    ...(all && { tags: all }),
    ...(anyTag && { anyTags: anyTag }),
  };
}

export const HistoryQuery = z.strictObject({ limit: pageLimit(50), cursor });

export const ForgetMemoriesBody = strictShape("ForgetMemories", {
  filter: memoryFilter.refine(
    (filter) => Object.keys(filter).length > 0,
    "names no field: DELETE …/memories forgets all",
  ),
  dryRun: boolean("Deletes nothing; answers the memories that match.").optional(),
  keepEntries: boolean(
    "Keeps the entries that the memories name in `metadata.cairnEntry`. Otherwise they are deleted too.",
  ).optional(),
}).openapi({ example: { filter: { subject: "user", predicate: "lives in" } } });
export type ForgetMemoriesBody = z.infer<typeof ForgetMemoriesBody>;

export const Forgotten = shape("Forgotten", {
  count: integer("Number of deleted memories; with `dryRun`, of matching ones."),
  ids: z.array(z.string()).openapi({ description: `The ids of the first ${limits.page} of them.` }),
});
export type Forgotten = z.infer<typeof Forgotten>;
