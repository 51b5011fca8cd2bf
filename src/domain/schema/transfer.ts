import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { FORMAT, type OUTCOMES } from "../transfer/format.ts";
import { cursor, metadata, pageLimit, pageShape, text, userId } from "./bounds.ts";
import { boolean, integer, optional, shape } from "./described.ts";
import { entryKey } from "./entry.ts";
import {
  memoryKind,
  memoryStatus,
  memoryText,
  optionalFields,
  refuseForeignFields,
  tags,
  time,
} from "./memory-fields.ts";
import { version } from "./memory.ts";
import { Retention } from "./retention.ts";
import { provenanceFields, trust } from "./provenance.ts";
import { indexing, message, owners, retention } from "./thread.ts";

/** The lines of an export, version 1 (docs/reference/export.md). A line with a value has its bytes too, see raw-value.ts. */

const name = text(limits.name);
const seq = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);
const threadId = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{22}\.[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    "is no id of a thread",
  );
const anything = z.unknown();

export const ExportHeader = z.strictObject({
  format: z.literal(FORMAT),
  version: z.int().min(1),
  userId,
  userHash: z.string(),
  /** The rules of retention at the time of the export. An import sets none. */
  retention: z.strictObject({ tenant: Retention, own: Retention }).optional(),
});
export type ExportHeader = z.infer<typeof ExportHeader>;

const ThreadLine = z.strictObject({
  type: z.literal("thread"),
  id: threadId,
  title: text(limits.name, 0),
  agent: name.optional(),
  resourceSlug: name.optional(),
  recordId: name.optional(),
  metadata: metadata.optional(),
  indexing: indexing.optional(),
  retention: retention.optional(),
  owners: owners.optional(),
  // Leaves room for as many messages again.
  lastSeq: z
    .int()
    .min(0)
    .max(2 ** 30),
  parent: z.strictObject({ threadId, seq: z.int().min(0) }).optional(),
  forkedFrom: threadId.optional(),
  deleted: z.literal(true).optional(),
  createdAt: time,
  updatedAt: time,
});
const MessageLine = z.strictObject({
  type: z.literal("message"),
  threadId,
  seq,
  createdAt: time,
  standing: z.literal(true).optional(),
  message: message.optional(),
  messageText: z.string().optional(),
});
const HiddenLine = z.strictObject({ type: z.literal("hidden"), threadId, seq });
const CompactionLine = z.strictObject({
  type: z.literal("compaction"),
  threadId,
  id: z.uuid(),
  from: seq,
  to: seq,
  createdAt: time,
  summary: message.optional(),
  summaryText: z.string().optional(),
});
const EntryLine = z.strictObject({
  type: z.literal("entry"),
  key: entryKey,
  version: z.uuid(),
  updatedAt: time,
  expiresAt: time.optional(),
  refreshMs: z.int().min(0).max(limits.ttlMs).optional(),
  value: anything.optional(),
  valueText: z.string().optional(),
});
const { type: episodeType, ...fields } = optionalFields;
/** One version of a memory. Versions count within the memory, from 1: an import assigns new numbers. */
const MemoryLine = z
  .strictObject({
    type: z.literal("memory"),
    id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "is no id of a memory"),
    version,
    kind: memoryKind,
    status: memoryStatus,
    text: memoryText,
    tags: tags.optional(),
    metadata: metadata.optional(),
    ...fields,
    /** `type` of an episode: in a line, `type` names the kind of line. */
    episodeType,
    trust: trust.optional(),
    ...provenanceFields,
    createdAt: time,
    updatedAt: time,
    validFrom: time,
    recordedAt: time,
    correctedAt: time.optional(),
    supersededAt: time.optional(),
    supersededBy: version.optional(),
  })
  .superRefine((line, context) => {
    const refuse = (path: string, error: string) =>
      context.addIssue({ code: "custom", path: [path], message: error });
    refuseForeignFields(line.kind, { ...line, type: line.episodeType }, refuse);
    if (line.updatedAt < line.createdAt) refuse("updatedAt", "is before createdAt");
  });
export type MemoryLine = z.infer<typeof MemoryLine>;
export const EndLine = z.strictObject({ type: z.literal("end"), lines: z.int().min(0) });

export const ExportLine = z.discriminatedUnion("type", [
  ThreadLine,
  MessageLine,
  HiddenLine,
  CompactionLine,
  EntryLine,
  MemoryLine,
  EndLine,
]);
export type ExportLine = z.infer<typeof ExportLine>;
/** A line that the user's object imports. Values come as bytes. */
export type ObjectLine =
  | z.infer<typeof ThreadLine>
  | Omit<z.infer<typeof MessageLine>, "message" | "messageText">
  | z.infer<typeof HiddenLine>
  | Omit<z.infer<typeof CompactionLine>, "summary" | "summaryText">
  | Omit<z.infer<typeof EntryLine>, "value" | "valueText">;

const tally = z
  .object({
    threads: z.int().optional(),
    messages: z.int().optional(),
    compactions: z.int().optional(),
    entries: z.int().optional(),
    memoryVersions: z.int().optional(),
  })
  .openapi({ description: "Number of lines by type." });

export const ImportAnswer = shape("Imported", {
  lines: integer("Number of lines read."),
  complete: boolean("True if the last line of an export was among them: always, except for a part."),
  imported: tally,
  there: tally.openapi({ description: "Lines that were stored already, and stay unchanged." }),
  expired: tally,
  leftOut: tally.openapi({
    description:
      "Lines that were not imported: of threads that existed before, or were deleted since. If there are any, " +
      "the user does not have everything in the export.",
  }),
  threadIds: z.object({ from: z.string(), to: z.string() }).optional().openapi({
    description: "For an import to another user: the part before the `.` in each thread id changes.",
  }),
});
export type ImportAnswer = z.infer<typeof ImportAnswer>;
/** Outcomes of a valid line. */
export type ImportCounts = Pick<ImportAnswer, (typeof OUTCOMES)[number]>;

export const ImportQuery = z.strictObject({
  part: optional(
    z.enum(["true", "false"]),
    "The body is a part of an export, whose last line is missing or counts other lines. Cairn cannot detect a missing " +
      "line: make sure that all parts are complete before you send them.",
  ),
});
export const ListUsersQuery = z.strictObject({ limit: pageLimit(100), cursor });
export const UserList = pageShape(z.object({ userId: z.string(), userHash: z.string() })).openapi("UserList");
