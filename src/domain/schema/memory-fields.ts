import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { atMost, text } from "./bounds.ts";
import { optional, strictShape } from "./described.ts";

export const memoryKind = z.enum(["fact", "episode", "procedure", "reflection"]).openapi("MemoryKind");
export type MemoryKind = z.infer<typeof memoryKind>;

export const memoryStatus = z.enum(["active", "quarantined", "expired"]).openapi("MemoryStatus", {
  description:
    "`quarantined`: kept and listed for review, never recalled. `expired`: it has waited too long, and is deleted after a day.",
});
export type MemoryStatus = z.infer<typeof memoryStatus>;

/** A string of a memory. Some functions of SQLite end a string at U+0000. */
const plain = (max: number) => text(max).refine((value) => !value.includes("\0"), "holds U+0000");

export const name = plain(limits.name);
const longText = plain(limits.text);
const notBlank = (value: string) => value === "" || value.trim() !== "";
/** A name that identifies a memory. White space alone is no name. */
const identifying = name.refine(notBlank, "holds only white space");
export const memoryText = longText.refine(notBlank, "holds only white space");
export const tag = plain(limits.tag);
export const tags = z
  .array(tag)
  .refine(...atMost(limits.tags, `${limits.tags} tags`))
  .openapi({ example: ["deploy"] });

export const share = z.number().min(0).max(1);
const signed = z.number().min(-1).max(1);
/** A time that a caller sets, within the bounds of a `Date`. */
export const time = z.int().min(-8.64e15).max(8.64e15).openapi({
  description: "Milliseconds since the epoch.",
  example: 1_763_760_000_000,
});

export const MemorySource = strictShape("MemorySource", {
  thread: name.optional(),
  message: z.union([name, z.int()]).optional().openapi({ description: "A seq, or an id of yours." }),
  speaker: name.optional().describe("Who says it in the message, if it is not the owner of the memory."),
  extractor: optional(name, "The model or program that extracted the memory from a conversation."),
});
export type MemorySource = z.infer<typeof MemorySource>;

/** A strict object: a record accepts `__proto__` silently. */
const Appraisal = z.strictObject({
  goal_relevance: signed.optional(),
  goal_congruence: signed.optional(),
  expectedness: signed.optional(),
  controllability: signed.optional(),
  agency: signed.optional(),
  norm_compatibility: signed.optional(),
  internal_standards: signed.optional(),
  adjustment_potential: signed.optional(),
  urgency: signed.optional(),
});

const Emotion = z
  .strictObject({ valence: signed, arousal: signed, dominance: signed })
  .openapi("Emotion", { description: "Valence, arousal and dominance, −1 to 1 each." });

type Field = {
  shape: z.ZodType;
  /** The kinds that have the field; all unless set. */
  kinds?: readonly MemoryKind[];
  /** The field has a column of its own in `memory/table.ts`. Else it is a member of the JSON column `attributes`. */
  column?: true;
  /** The field identifies the memory, so a change of it is refused. */
  fixed?: true;
  /** The comparison of the filter with this name. `normalised`: by a column `…Norm`, which `normalise` makes. */
  filter?: "any" | "exact" | "normalised" | "contains" | "range";
};

/**
 * The optional fields of a memory, one line each. Bodies, answers, filters, exports, rows and the column `attributes`
 * follow from this table.
 */
export const memoryFields = {
  title: {
    shape: identifying.openapi({ description: "Name of a procedure: one procedure per title." }),
    kinds: ["procedure"],
    column: true,
    fixed: true,
    filter: "exact",
  },
  subject: {
    shape: identifying.describe(
      "Of a fact. Subject and predicate identify one live fact, or one for each object if the predicate has many.",
    ),
    kinds: ["fact"],
    column: true,
    fixed: true,
    filter: "normalised",
  },
  predicate: { shape: identifying, kinds: ["fact"], column: true, fixed: true, filter: "normalised" },
  object: {
    shape: longText.describe(
      "Of a fact with subject and predicate. A new object supersedes the old one where the predicate has one.",
    ),
    kinds: ["fact"],
    column: true,
  },
  cardinality: {
    shape: z.enum(["one", "many"]).openapi({
      description:
        "Of a fact with subject and predicate. `many`: several objects are true at a time, as of `likes`. `one`: a new object supersedes the old one, as of `lives in`. As the predicate's rule says unless set.",
    }),
    kinds: ["fact"],
    fixed: true,
  },
  key: {
    shape: identifying.describe("Topic of a fact without subject and predicate. One live fact per key."),
    kinds: ["fact"],
    column: true,
    fixed: true,
    filter: "normalised",
  },
  scope: {
    shape: name.openapi({ description: "A project or an app that the memory belongs to, besides its user." }),
    column: true,
    fixed: true,
    filter: "any",
  },
  externalId: {
    shape: name.describe("Your own id of the memory. A memory with the same id replaces this one."),
    column: true,
    fixed: true,
    filter: "any",
  },
  score: {
    shape: share.openapi({ description: "Your own weight or confidence, 0 to 1." }),
    column: true,
    filter: "range",
  },
  importance: { shape: share, column: true, filter: "range" },
  source: { shape: MemorySource, column: true },
  sourceEntity: {
    shape: name.openapi({ description: "Of an episode or reflection: the person or agent it came from." }),
    kinds: ["episode", "reflection"],
    filter: "exact",
  },
  context: {
    shape: longText.openapi({ description: "Of an episode." }),
    kinds: ["episode"],
    filter: "contains",
  },
  type: { shape: name.openapi({ description: "Of an episode." }), kinds: ["episode"], filter: "any" },
  intensity: {
    shape: share.openapi({ description: "Of an episode." }),
    kinds: ["episode"],
    filter: "range",
  },
  appraisal: { shape: Appraisal.openapi({ description: "Of an episode." }), kinds: ["episode"] },
  emotion: { shape: Emotion, kinds: ["episode", "reflection"] },
  trigger: { shape: longText.openapi({ description: "Of a reflection." }), kinds: ["reflection"] },
  validTo: {
    shape: time.openapi({ description: "The memory stops being true at this time." }),
    column: true,
  },
  expiresAt: {
    shape: time.describe("The memory lives while now ≤ expiresAt. Then it is deleted with its history."),
    column: true,
  },
} as const satisfies Record<string, Field>;

type Fields = typeof memoryFields;
export type FieldName = keyof Fields;
/** The names of the fields whose entry has this member, with this value. */
export type FieldWith<Member extends keyof Field, Value = unknown> = {
  [Name in FieldName]: Fields[Name] extends Record<Member, Value> ? Name : never;
}[FieldName];
export type Attribute = Exclude<FieldName, FieldWith<"column">>;
/** The value of the column `attributes`. */
export type Attributes = { [Name in Attribute]?: z.infer<Fields[Name]["shape"]> };
/** Values of fields; null is unset. */
export type FieldValues = { [Name in FieldName]?: z.infer<Fields[Name]["shape"]> | null };

// The keys are those of the table.
export const fieldNames = Object.keys(memoryFields) as FieldName[];
export const entryOf = (field: FieldName): Field => memoryFields[field];
export const isFixed = (field: FieldName): field is FieldWith<"fixed"> => entryOf(field).fixed === true;
const hasColumn = (field: FieldName): field is FieldWith<"column"> => entryOf(field).column === true;
export const columnFields = fieldNames.filter(hasColumn);
export const attributeNames = fieldNames.filter((field): field is Attribute => !hasColumn(field));
export const fieldsFilteredBy = <Filter extends NonNullable<Field["filter"]>>(filter: Filter) =>
  fieldNames.filter((field): field is FieldWith<"filter", Filter> => entryOf(field).filter === filter);

/** One value per name. The cast keeps the names, which `Object.fromEntries` forgets. */
export const byName = <Name extends string, Value>(names: readonly Name[], value: (name: Name) => Value) =>
  Object.fromEntries(names.map((one) => [one, value(one)])) as { [Key in Name]: Value };

/** The shape of each field, optional. */
export const optionalFields = byName(fieldNames, (field) => memoryFields[field].shape.optional()) as {
  [Name in FieldName]: z.ZodOptional<Fields[Name]["shape"]>;
};

/** Refuses the fields that memories of this kind do not have. */
export function refuseForeignFields(
  kind: MemoryKind,
  body: { readonly [Name in FieldName]?: unknown },
  refuse: (field: FieldName, message: string) => void,
): void {
  for (const field of fieldNames) {
    const { kinds } = entryOf(field);
    if (body[field] !== undefined && kinds !== undefined && !kinds.includes(kind))
      refuse(field, `goes with the kind ${kinds.join(" or ")}, not with ${kind}`);
  }
}
