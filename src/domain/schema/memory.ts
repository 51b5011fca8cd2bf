import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { anyJson, breaks, metadata, nullableMetadata, text, timestamp, userPath } from "./bounds.ts";

export const memoryKind = z.enum(["fact", "episode", "procedure", "reflection"]).openapi("MemoryKind");
export type MemoryKind = z.infer<typeof memoryKind>;

export const memoryStatus = z.enum(["active", "quarantined"]).openapi("MemoryStatus", {
  description: "`quarantined`: kept and listed for review, never recalled.",
});
export type MemoryStatus = z.infer<typeof memoryStatus>;

/** A string of a memory. U+0000 would end it in some of SQLite's functions, so it is refused. */
const plain = (max: number, code: "text_too_long" | "name_too_long" | "tag_too_long") =>
  text(max, code).refine((value) => !value.includes("\0"), "holds U+0000");

export const name = plain(limits.name, "name_too_long");
/** A name by which memories are one: as it is compared without its spaces, something has to be left of it. */
const telling = name.refine((value) => value === "" || value.trim() !== "", "holds only white space");
export const tag = plain(limits.tag, "tag_too_long");
export const tags = z
  .array(tag)
  .refine(
    (list) => list.length <= limits.tags,
    breaks("too_many_tags", `holds more than ${limits.tags} tags`),
  )
  .openapi({ example: ["deploy"] });

/** The number of one version of a memory, as answers and ETags give it. */
export const version = z
  .int()
  .min(1)
  .openapi({ description: "Counts this user's versions of all memories." });

const share = z.number().min(0).max(1);
const signed = z.number().min(-1).max(1);
/** A time that a caller sets: any moment that a Date can hold. */
const time = z.int().min(-8.64e15).max(8.64e15).openapi({
  description: "Milliseconds since the epoch.",
  example: 1_763_760_000_000,
});

export const MemorySource = z
  .strictObject({
    thread: name.optional(),
    message: z.union([name, z.int()]).optional().openapi({ description: "A seq, or an id of yours." }),
    extractor: name
      .optional()
      .openapi({ description: "The model or program that took the memory out of what was said." }),
  })
  .openapi("MemorySource");
export type MemorySource = z.infer<typeof MemorySource>;

const APPRAISAL = [
  "goal_relevance",
  "goal_congruence",
  "expectedness",
  "controllability",
  "agency",
  "norm_compatibility",
  "internal_standards",
  "adjustment_potential",
  "urgency",
] as const;
/** A strict object: a record lets `__proto__` pass unseen. */
export const Appraisal = z.strictObject(
  // The keys are the names.
  Object.fromEntries(APPRAISAL.map((field) => [field, signed.optional()])) as Record<
    (typeof APPRAISAL)[number],
    z.ZodOptional<typeof signed>
  >,
);
export type Appraisal = z.infer<typeof Appraisal>;

export const Emotion = z
  .strictObject({ valence: signed, arousal: signed, dominance: signed })
  .openapi("Emotion", { description: "Valence, arousal and dominance, −1 to 1 each." });

/** What a memory says, whatever its kind; each field with the kinds that have it in `fieldKinds`. */
const content = {
  title: telling.openapi({ description: "Of a procedure, which it names: one procedure a title." }),
  subject: telling.openapi({ description: "Of a fact. With a predicate: one live fact for both." }),
  predicate: telling,
  object: plain(limits.text, "text_too_long").openapi({
    description: "Of a fact with subject and predicate; a new one supersedes the old one.",
  }),
  key: telling.openapi({ description: "Of a fact without a triple: its topic. One live fact a key." }),
  scope: name.openapi({ description: "What the memory belongs to besides its user: a project, an app." }),
  externalId: name.openapi({
    description: "Your own id of the memory: the same id again replaces it.",
  }),
  score: share.openapi({ description: "Your own weight or confidence, 0 to 1." }),
  importance: share,
  source: MemorySource,
  sourceEntity: name.openapi({ description: "Of an episode or reflection: who it came from." }),
  context: plain(limits.text, "text_too_long").openapi({ description: "Of an episode." }),
  type: name.openapi({ description: "Of an episode." }),
  intensity: share.openapi({ description: "Of an episode." }),
  appraisal: Appraisal.openapi({ description: "Of an episode." }),
  emotion: Emotion,
  trigger: plain(limits.text, "text_too_long").openapi({ description: "Of a reflection." }),
  validFrom: time.openapi({ description: "True in the world from then; since its creation unless set." }),
  validTo: time.openapi({ description: "True until before then." }),
  expiresAt: time.openapi({ description: "Alive while now ≤ expiresAt; then deleted, with its history." }),
};

/** The fields that only some kinds have. */
const fieldKinds: Readonly<Record<string, readonly MemoryKind[]>> = {
  title: ["procedure"],
  subject: ["fact"],
  predicate: ["fact"],
  object: ["fact"],
  key: ["fact"],
  trigger: ["reflection"],
  context: ["episode"],
  type: ["episode"],
  intensity: ["episode"],
  appraisal: ["episode"],
  sourceEntity: ["episode", "reflection"],
  emotion: ["episode", "reflection"],
};

/** A memory's text. */
export const memoryText = plain(limits.text, "text_too_long").refine(
  (value) => value === "" || value.trim() !== "",
  "holds only white space",
);

type Context = { addIssue: (issue: { code: "custom"; path: string[]; message: string }) => void };
const refuse = (context: Context, path: string, message: string) =>
  context.addIssue({ code: "custom", path: [path], message });

/** Fields that do not go with the kind. */
export function refuseForeignFields(
  kind: MemoryKind,
  body: object,
  refuseField: (path: string, message: string) => void,
) {
  for (const [field, value] of Object.entries(body)) {
    const kinds = fieldKinds[field];
    if (value !== undefined && kinds !== undefined && !kinds.includes(kind))
      refuseField(field, `goes with the kind ${kinds.join(" or ")}, not with ${kind}`);
  }
}

export const optionalContent = z.object(content).partial().shape;

const UNLESS_TRIPLE = ", unless there are a subject, a predicate and an object";

const remembering = {
  kind: memoryKind.optional().openapi({ description: "`fact` unless set." }),
  text: memoryText
    .optional()
    .openapi({ description: "What to remember. A fact's triple is its text where there is none." }),
  tags: tags.optional(),
  metadata: metadata.optional(),
  ...optionalContent,
  createdAt: time.optional().openapi({ description: "For an import; now unless set." }),
  updatedAt: time.optional().openapi({ description: "For an import; now unless set." }),
  status: memoryStatus.optional(),
  quarantineBelow: share.optional().openapi({
    description:
      "What an extractor found (`source.extractor`) with a lower score is quarantined; 0.7 unless set.",
  }),
  dedupe: z.enum(["exact", "none"]).optional().openapi({
    description:
      "`exact` unless set: the same text, kind and scope is the same memory, whose tags and metadata add up. Goes with memories that have no title, key, externalId or subject and predicate of their own.",
  }),
};
const remembered = z.strictObject(remembering);

/** What the fields of a memory demand of each other. */
function checkFields(body: z.infer<typeof remembered>, context: Context): void {
  const kind = body.kind ?? "fact";
  refuseForeignFields(kind, body, (path, message) => refuse(context, path, message));
  if (kind === "procedure" && body.title === undefined)
    refuse(context, "title", "is required of a procedure");
  const triple = body.subject !== undefined && body.predicate !== undefined;
  if (body.object !== undefined && !triple) refuse(context, "object", "goes with a subject and a predicate");
  if (body.key !== undefined && triple) refuse(context, "key", "goes with a fact that has no triple");
  if (body.text === undefined && triple && body.object === undefined)
    refuse(context, "object", "is required of a subject and a predicate, unless there is a text");
  if (body.text === undefined && !triple)
    refuse(context, "text", `is required${kind === "fact" ? UNLESS_TRIPLE : ""}`);
  if (body.validTo !== undefined && body.validFrom !== undefined && body.validTo <= body.validFrom)
    refuse(context, "validTo", "is not after validFrom");
  if (body.createdAt !== undefined && body.updatedAt !== undefined && body.updatedAt < body.createdAt)
    refuse(context, "updatedAt", "is before createdAt");
}

export const RememberBody = remembered
  .superRefine(checkFields)
  .openapi("Remember", { example: { text: "Project Foo is deployed on fly.io", tags: ["deploy"] } });
export type RememberBody = z.infer<typeof RememberBody>;

export const RememberInBatch = z
  .strictObject({
    ...remembering,
    ifVersion: version.nullable().optional().openapi({
      description:
        "Only if the memory that this one supersedes, replaces or adds to has this version; `null`: only if there is none. Else 412 for the whole batch.",
    }),
  })
  .superRefine(checkFields)
  .openapi("RememberInBatch");

export const RememberManyBody = z
  .strictObject({
    memories: z
      .array(RememberInBatch)
      .min(1)
      .refine(
        (list) => list.length <= limits.memoriesPerBatch,
        breaks("too_many_memories", `holds more than ${limits.memoriesPerBatch} memories`),
      ),
  })
  .openapi("RememberMany");

/** A field of a memory that stays as it was remembered. */
const fixed = (type: "string" | "integer" = "string") =>
  z.never("cannot be changed").optional().openapi({ type, readOnly: true });

/** A change of what a memory says; null takes a field away. What names it, and `validFrom`, stay as they are. */
export const PatchMemoryBody = z
  .strictObject({
    text: memoryText.optional(),
    tags: tags.nullable().optional(),
    metadata: nullableMetadata.optional(),
    object: content.object.nullable().optional(),
    score: content.score.nullable().optional(),
    importance: content.importance.nullable().optional(),
    source: content.source.nullable().optional(),
    sourceEntity: content.sourceEntity.nullable().optional(),
    context: content.context.nullable().optional(),
    type: content.type.nullable().optional(),
    intensity: content.intensity.nullable().optional(),
    appraisal: content.appraisal.nullable().optional(),
    emotion: content.emotion.nullable().optional(),
    trigger: content.trigger.nullable().optional(),
    validTo: content.validTo.nullable().optional(),
    expiresAt: content.expiresAt.nullable().optional(),
    kind: fixed(),
    title: fixed(),
    subject: fixed(),
    predicate: fixed(),
    key: fixed(),
    scope: fixed(),
    externalId: fixed(),
    validFrom: fixed("integer"),
    createdAt: fixed("integer"),
  })
  .refine((body) => Object.keys(body).length > 0, {
    error: "changes nothing",
    // What holds only what is refused has been told so.
    when: ({ issues }) => issues.length === 0,
  })
  .openapi("PatchMemory", { example: { text: "Project Foo is deployed on Cloudflare" } });
export type PatchMemoryBody = z.infer<typeof PatchMemoryBody>;

export const RestoreMemoryBody = z
  .strictObject({ version: version.openapi({ description: "Of the history." }) })
  .openapi("RestoreMemory");

export const Memory = z
  .object({
    id: z.string(),
    userId: z.string(),
    kind: memoryKind,
    status: memoryStatus,
    version,
    text: z.string(),
    tags: z.array(z.string()).optional(),
    metadata: z.record(z.string(), anyJson).optional(),
    ...z.object(content).omit({ validFrom: true }).partial().shape,
    createdAt: timestamp,
    updatedAt: timestamp,
    validFrom: timestamp,
    recordedAt: timestamp.openapi({ description: "Since when this version is held." }),
    indexing: z.enum(["lexical", "full"]).optional().openapi({
      description:
        "`lexical`: found by its words, by its meaning soon. Told when one memory is written or read.",
    }),
  })
  .openapi("Memory");
export type Memory = z.infer<typeof Memory>;

export const PastMemory = Memory.extend({
  correctedAt: timestamp
    .optional()
    .openapi({ description: "Until when it was held: another version took its place." }),
  supersededBy: version.optional().openapi({ description: "The version that is true after this one." }),
}).openapi("PastMemory");
export type PastMemory = z.infer<typeof PastMemory>;

export const memoryPath = userPath.extend({
  id: z
    .string()
    .max(64)
    .openapi({ param: { name: "id", in: "path" } }),
});

export const MemoryList = z
  .object({ items: z.array(Memory), cursor: z.string().optional() })
  .openapi("MemoryList");

export const MemoryHistory = z
  .object({ items: z.array(PastMemory), cursor: z.string().optional() })
  .openapi("MemoryHistory");

export const RememberedMany = z
  .object({ items: z.array(z.object({ memory: Memory, created: z.boolean() })) })
  .openapi("RememberedMany");
