import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { anyJson, atMost, metadata, nullableMetadata, pageShape, timestamp, userPath } from "./bounds.ts";
import { shape, strictShape, string } from "./described.ts";
import {
  byName,
  type FieldName,
  fieldNames,
  type FieldWith,
  isFixed,
  memoryFields,
  memoryKind,
  type MemoryKind,
  memoryStatus,
  memoryText,
  optionalFields,
  refuseForeignFields,
  share,
  tags,
  time,
} from "./memory-fields.ts";
import { provenanceFields, trust } from "./provenance.ts";

/** The number of one version of a memory, as answers and ETags give it. */
export const version = z.int().min(1).describe("Counts this user's versions of all memories.");

const remembering = {
  kind: memoryKind.optional().openapi({ description: "`fact` unless set." }),
  text: memoryText.optional().openapi({
    description: "The text to remember. A fact without it has its subject, predicate and object as its text.",
  }),
  tags: tags.optional(),
  metadata: metadata.optional(),
  ...optionalFields,
  validFrom: time.optional().describe("The memory is true from this time on; from its creation unless set."),
  createdAt: time.optional().openapi({ description: "For an import; now unless set." }),
  updatedAt: time.optional().openapi({ description: "For an import; now unless set." }),
  status: memoryStatus.exclude(["expired"]).optional(),
  quarantineBelow: share.optional().openapi({
    description:
      "A memory of an extractor (`source.extractor`) with a lower score is quarantined; 0.7 unless set.",
  }),
  dedupe: z.enum(["exact", "suggest", "merge", "none"]).optional().openapi({
    description:
      "`exact` unless set: a memory with the same text, kind and scope is the same memory. Their tags and metadata add up. `suggest`: the same, and the answer has `similar` memories. `merge`: a memory that says the same in other words is the same memory too, and keeps its text. `none`: it is stored again. Applies to memories without a title, key, externalId, or subject and predicate, and to facts of a predicate with many; `suggest` to all.",
  }),
};
const remembered = z.strictObject(remembering);

type Context = { addIssue: (issue: { code: "custom"; path: string[]; message: string }) => void };

/** The rules between the fields of one memory. */
function checkFields(body: z.infer<typeof remembered>, context: Context): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
  const kind = body.kind ?? "fact";
  refuseForeignFields(kind, body, refuse);
  if (kind === "procedure" && body.title === undefined) refuse("title", "is required of a procedure");
  checkContent(kind, body, refuse);
  if (body.validTo !== undefined && body.validFrom !== undefined && body.validTo <= body.validFrom)
    refuse("validTo", "is not after validFrom");
  if (body.createdAt !== undefined && body.updatedAt !== undefined && body.updatedAt < body.createdAt)
    refuse("updatedAt", "is before createdAt");
}

/** A memory has a text or a whole triple, and a fact with a triple has no key. */
function checkContent(
  kind: MemoryKind,
  body: z.infer<typeof remembered>,
  refuse: (field: string, message: string) => void,
): void {
  const triple = body.subject !== undefined && body.predicate !== undefined;
  if (body.object !== undefined && !triple) refuse("object", "goes with a subject and a predicate");
  if (body.key !== undefined && triple) refuse("key", "goes with a fact that has no triple");
  if (body.text === undefined && triple && body.object === undefined)
    refuse("object", "is required of a subject and a predicate, unless there is a text");
  if (body.text === undefined && !triple)
    refuse(
      "text",
      kind === "fact" ? "is required, unless there are a subject, a predicate and an object" : "is required",
    );
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
        "The version of the memory that this one supersedes, replaces or adds to; `null`: there must be none. Otherwise the whole batch fails with 412.",
    }),
  })
  .superRefine(checkFields)
  .openapi("RememberInBatch");

export const RememberManyBody = strictShape("RememberMany", {
  memories: z
    .array(RememberInBatch)
    .min(1)
    .refine(...atMost(limits.memoriesPerBatch, `${limits.memoriesPerBatch} memories`)),
});

const fixed = (type: "string" | "integer" = "string") =>
  z.never("cannot be changed").optional().openapi({ type, readOnly: true });

// The keys are those of the table; which of both shapes each has is said by `isFixed`.
const changes = byName(fieldNames, (field) =>
  isFixed(field) ? fixed() : memoryFields[field].shape.nullable().optional(),
) as {
  [Name in FieldName]: Name extends FieldWith<"fixed">
    ? ReturnType<typeof fixed>
    : z.ZodOptional<z.ZodNullable<(typeof memoryFields)[Name]["shape"]>>;
};

/** A change of a memory; null removes a field. Fields that identify the memory, and `validFrom`, do not change. */
export const PatchMemoryBody = strictShape("PatchMemory", {
  text: memoryText.optional(),
  tags: tags.nullable().optional(),
  metadata: nullableMetadata.optional(),
  ...changes,
  kind: fixed(),
  validFrom: fixed("integer"),
  createdAt: fixed("integer"),
})
  .refine((body) => Object.keys(body).length > 0, {
    error: "changes nothing",
    // A body that holds only refused fields has its issues already.
    when: ({ issues }) => issues.length === 0,
  })
  .openapi({ example: { text: "Project Foo is deployed on Cloudflare" } });
export type PatchMemoryBody = z.infer<typeof PatchMemoryBody>;

export const RestoreMemoryBody = z
  .strictObject({ version: version.openapi({ description: "A version of the history." }) })
  .openapi("RestoreMemory");

export const Memory = shape("Memory", {
  id: z.string(),
  userId: z.string(),
  kind: memoryKind,
  status: memoryStatus,
  version,
  text: z.string(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), anyJson).optional(),
  ...optionalFields,
  trust,
  ...provenanceFields,
  createdAt: timestamp,
  updatedAt: timestamp,
  validFrom: timestamp,
  recordedAt: timestamp.openapi({ description: "When this version was recorded." }),
  indexing: z.enum(["lexical", "full"]).optional().openapi({
    description:
      "`lexical`: found by its words now, by its meaning soon. Only answers about one memory have this field.",
  }),
});
export type Memory = z.infer<typeof Memory>;

export const Similar = shape("SimilarMemory", {
  id: z.string(),
  text: z.string(),
  score: z.number().openapi({ description: "Cosine of the vectors of both texts." }),
});
export type Similar = z.infer<typeof Similar>;

const similar = z.array(Similar).optional().openapi({
  description: "With `dedupe: suggest`: live memories of the same kind and scope, most similar first.",
});

export const Superseded = z
  .object({ id: z.string(), text: string("As it was true until now.") })
  .openapi("SupersededMemory");
export type Superseded = z.infer<typeof Superseded>;

export const superseded = z.array(Superseded).optional().openapi({
  description:
    "The facts that this one ended: the object before it, which has the same id, and opposites. A memory that waits in quarantine ends none.",
});

/** A memory as remember answers it. */
export const RememberedMemory = Memory.extend({ similar, superseded }).openapi("RememberedMemory");

export const PastMemory = Memory.extend({
  correctedAt: timestamp.optional().openapi({ description: "When another version replaced it." }),
  supersededBy: version.optional().openapi({ description: "The version that is true after this one." }),
}).openapi("PastMemory");
export type PastMemory = z.infer<typeof PastMemory>;

export const memoryPath = userPath.extend({
  id: z.string().max(64),
});

export const MemoryList = pageShape(Memory).openapi("MemoryList");

export const MemoryHistory = pageShape(PastMemory).openapi("MemoryHistory");

export const RememberedMany = z
  .object({ items: z.array(z.object({ memory: Memory, created: z.boolean(), similar, superseded })) })
  .openapi("RememberedMany");
