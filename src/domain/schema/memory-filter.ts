import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { hasInexactNumber, INEXACT } from "../raw-values.ts";
import { cursor, type Json, pageLimit, plainObject, several } from "./bounds.ts";
import { memoryKind, memoryStatus, name, tag } from "./memory.ts";
import { metadataCondition } from "./metadata-filter.ts";

/** Which memories are meant: every field that is given must fit. Ranges include both ends. */
export type MemoryFilter = {
  kinds?: z.infer<typeof memoryKind>[];
  status?: z.infer<typeof memoryStatus>[];
  tags?: string[];
  anyTags?: string[];
  scope?: string[];
  /** Only those of no scope. Not asked for over HTTP. */
  unscoped?: true;
  subject?: string;
  predicate?: string;
  key?: string;
  title?: string;
  externalId?: string[];
  type?: string[];
  sourceEntity?: string;
  context?: string;
  sourceThread?: string;
  sourceMessage?: string;
  extractor?: string;
  metadata?: Record<string, Json>;
} & { [Range in RangeName as `${Range}Min` | `${Range}Max`]?: number };

/** What can be asked for by range: `scoreMin`, `scoreMax` and so on. */
export const rangeNames = [
  "score",
  "importance",
  "intensity",
  "valence",
  "createdAt",
  "updatedAt",
  "validFrom",
] as const;
export type RangeName = (typeof rangeNames)[number];

const wantedMetadata = plainObject<Record<string, Json>>().superRefine((wanted, context) => {
  metadataCondition(wanted, (path, message, code) =>
    context.addIssue({ code: "custom", path, message, input: wanted, ...(code && { params: { code } }) }),
  );
});
const described = {
  kinds: "Any of these kinds.",
  tags: "Every one of these tags.",
  anyTags: "At least one of these tags.",
  status: "`active` unless set.",
  scope: "Any of these scopes.",
  subject: "Upper and lower case are the same here, as in what makes a fact one; so in predicate and key.",
  title: "The exact title.",
  context: "Memories whose context holds this text; upper and lower case of A to Z are the same.",
  sourceMessage: "A seq, or an id of yours.",
  metadata:
    "Each of these fields is there with this value (of objects in it, the order of fields counts), or fits these comparisons: `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `nin`, `exists`. `and`, `or` (lists of such filters) and `not` combine them.",
};

const scalars = {
  subject: name,
  predicate: name,
  key: name,
  title: name,
  sourceEntity: name,
  context: name,
  sourceThread: name,
  sourceMessage: name,
  extractor: name,
};
type ScalarName = keyof typeof scalars;
const scalarNames = Object.keys(scalars) as ScalarName[];

/** Optional fields of one schema, with their descriptions. */
const each = <Name extends string, T extends z.ZodType>(names: readonly Name[], schema: (name: Name) => T) =>
  // The keys are the names.
  Object.fromEntries(
    names.map((one) => [
      one,
      schema(one)
        .optional()
        .openapi(one in described ? { description: described[one as keyof typeof described] } : {}),
    ]),
  ) as { [Key in Name]: z.ZodOptional<T> };

const listOf = <T extends z.ZodType>(one: T, max: number = limits.filterValues) =>
  z.array(one).min(1).max(max);
const ends = rangeNames.flatMap((range) => [`${range}Min`, `${range}Max`] as const);

/** A filter in a body. */
export const memoryFilter = z
  .strictObject({
    kinds: listOf(memoryKind).optional().openapi({ description: described.kinds }),
    status: listOf(memoryStatus).optional().openapi({ description: described.status }),
    tags: listOf(tag, limits.tags).optional().openapi({ description: described.tags }),
    anyTags: listOf(tag).optional().openapi({ description: described.anyTags }),
    scope: listOf(name).optional().openapi({ description: described.scope }),
    externalId: listOf(name).optional(),
    type: listOf(name).optional(),
    ...each(scalarNames, (one) => scalars[one]),
    ...each(ends, () => z.number()),
    metadata: wantedMetadata
      .optional()
      .openapi({ type: "object", additionalProperties: true, description: described.metadata }),
  })
  .openapi("MemoryFilter");

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
  .pipe(wantedMetadata)
  .openapi({ type: "string", example: '{"project":"foo"}' });

/** A moment: its milliseconds since the epoch. */
const moment = z
  .string()
  .regex(/^-?\d{1,16}$/, "is not a whole number of milliseconds")
  .transform(Number)
  .pipe(z.number().min(-8.64e15).max(8.64e15))
  .openapi({ type: "integer" });

const asOf = "What was held true then: as if asked at that time.";
const validAt = "What was true then, as is held now (or at `asOf`).";

/** When a caller wants to have asked, in a query string. */
export const atQuery = {
  asOf: moment.optional().openapi({ description: asOf }),
  validAt: moment.optional().openapi({ description: validAt }),
};

/** The same in a body. */
export const atBody = {
  asOf: z.int().min(-8.64e15).max(8.64e15).optional().openapi({ description: asOf }),
  validAt: z.int().min(-8.64e15).max(8.64e15).optional().openapi({ description: validAt }),
};

export const sortKeys = ["createdAt", "updatedAt", "validFrom", "score", "importance"] as const;
export type SortKey = (typeof sortKeys)[number];

/** The same filter in a query string, whose repeated fields have names in the singular. */
export const ListMemoriesQuery = z.strictObject({
  kind: several(memoryKind, 4).openapi({ description: described.kinds }),
  status: several(memoryStatus, 2).openapi({ description: described.status }),
  tag: several(tag, limits.tags).openapi({ description: described.tags }),
  anyTag: several(tag, limits.filterValues).openapi({ description: described.anyTags }),
  scope: several(name, limits.filterValues).openapi({ description: described.scope }),
  externalId: several(name, limits.filterValues),
  type: several(name, limits.filterValues),
  ...each(scalarNames, (one) => scalars[one]),
  ...each(ends, () => number),
  metadata: json.optional().openapi({ description: `${described.metadata} JSON.` }),
  ...atQuery,
  sort: z.enum(sortKeys).optional().openapi({ description: "`createdAt` unless set." }),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .openapi({ description: "`desc` (newest or greatest first) unless set." }),
  limit: pageLimit(50),
  cursor,
});
export type ListMemoriesQuery = z.infer<typeof ListMemoriesQuery>;

/** A query string's filter as a body has it. */
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

export const ForgetMemoriesBody = z
  .strictObject({
    filter: memoryFilter.refine(
      (filter) => Object.keys(filter).length > 0,
      "names no field: DELETE …/memories forgets all",
    ),
    dryRun: z.boolean().optional().openapi({ description: "Only answers what would go." }),
    keepEntries: z.boolean().optional().openapi({
      description:
        "Keeps the entries that the memories name in `metadata.cairnEntry`; else they are deleted too.",
    }),
  })
  .openapi("ForgetMemories", { example: { filter: { subject: "user", predicate: "lives in" } } });
export type ForgetMemoriesBody = z.infer<typeof ForgetMemoriesBody>;

export const Forgotten = z
  .object({
    count: z.int().openapi({ description: "How many memories are gone, each with its history." }),
    ids: z.array(z.string()).openapi({ description: `Their ids, the first ${limits.page} of them.` }),
  })
  .openapi("Forgotten");
export type Forgotten = z.infer<typeof Forgotten>;
