import { z } from "@hono/zod-openapi";
import { speakerOf } from "../conversation/speakers.ts";
import { isWithin, limits } from "../limits.ts";
import {
  anyJson,
  atMost,
  cursor,
  metadata,
  nullableMetadata,
  OVER_LIMIT,
  overLimit,
  pageLimit,
  pageShape,
  plainObject,
  text,
  timestamp,
  wholeNumber,
} from "./bounds.ts";
import { integer, optional, shape, strictShape, string } from "./described.ts";
import { messageTime } from "./message-time.ts";
import { age } from "./retention.ts";

const name = text(limits.name);
export const indexing = z.enum(["lexical", "full"]).openapi({
  description:
    "`lexical`: messages are found by their words only. `full`: by their meaning too. `full` unless set, or unless `MESSAGE_INDEXING` of the deployment differs. For a fork: the messages appended to it.",
});

export const retention = age.describe(
  "The thread's messages are deleted at this age, or earlier by a rule of the user or the tenant.",
);

const speaker = text(limits.speaker);
/** Names of users of a thread that are those of its owner. */
export const owners = z
  .array(speaker.refine((one) => one.trim() !== "", "is blank"))
  .min(1)
  .max(limits.ownerNames);

/** May be empty: a user may delete the whole title. */
const title = text(limits.name, 0);

export const CreateThreadBody = strictShape("CreateThread", {
  title: title.optional().openapi({ description: "`New conversation` unless set." }),
  agent: name.optional(),
  resourceSlug: name.optional(),
  recordId: name.optional(),
  metadata: metadata.optional(),
  indexing: indexing.optional(),
  retention: retention.optional(),
}).openapi({ example: { title: "Planning the move", agent: "planner" } });
export type CreateThreadBody = z.infer<typeof CreateThreadBody>;

export const PatchThreadBody = z
  .strictObject({
    title: title.nullable().optional(),
    agent: name.nullable().optional(),
    resourceSlug: name.nullable().optional(),
    recordId: name.nullable().optional(),
    metadata: nullableMetadata.optional(),
    indexing: indexing.nullable().optional(),
    retention: retention.nullable().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, "changes nothing")
  .openapi("PatchThread", {
    description: "Changes the given fields. Null clears a field; a title becomes `New conversation`.",
    example: { title: "Moved", metadata: null },
  });
export type PatchThreadBody = z.infer<typeof PatchThreadBody>;

/** Repeats the fields: an OpenAPI `allOf` of strict objects refuses every body. */
export const ForkBody = strictShape("Fork", {
  ...CreateThreadBody.shape,
  at: z.int().min(1).optional().openapi({
    description: "The seq of the last message that the fork shares; the thread's last unless set.",
  }),
}).openapi({ description: "Fields that are not set come from the origin.", example: { at: 4 } });
export type ForkBody = z.infer<typeof ForkBody>;

export const Thread = shape("Thread", {
  id: z.string(),
  userId: string("Absent for a thread without a user.").optional(),
  title: z.string(),
  agent: z.string().optional(),
  resourceSlug: z.string().optional(),
  recordId: z.string().optional(),
  metadata: z.record(z.string(), anyJson).optional(),
  indexing: indexing.optional(),
  retention: retention.optional(),
  owners: optional(owners, "The names that are the owner's, as the last ingest with `owners` gave them."),
  forkedFrom: z.object({ threadId: z.string(), seq: z.int() }).optional(),
  length: integer("Number of messages in the thread."),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type Thread = z.infer<typeof Thread>;

export const threadPath = z.object({
  id: string("`<userHash>.<uuid v7>`, as answered at creation."),
});

export const ListThreadsQuery = z.strictObject({
  agent: name.optional(),
  order: z.enum(["updated", "created"]).optional().openapi({
    description:
      "`updated` (unless set): last updated first. `created`: last created first. No update disturbs the second order, so its pages are complete.",
  }),
  limit: pageLimit(50),
  cursor,
});

export const ThreadList = pageShape(Thread).openapi("ThreadList");

/** A caller's message: a role, and a content or parts. It comes back unchanged, with unknown fields. */
export type Message = { role: string; content?: unknown; parts?: unknown; [field: string]: unknown };

/** Why the name of a user's message names nobody; null if it may. Stored messages have any. */
export function speakerFault(one: Message) {
  if (one.role !== "user") return null;
  const field = (["name", "speaker"] as const).find((which) => (one[which] ?? null) !== null);
  if (field === undefined) return null;
  const value = one[field];
  if (typeof value === "string" && !isWithin(value, limits.speaker))
    return { field, message: `is longer than ${limits.speaker} bytes of UTF-8`, params: OVER_LIMIT };
  return speakerOf(one) === null ? { field, message: "is no name: leave it out, or name who speaks" } : null;
}

const INSTEAD = ["tool_calls", "toolCalls", "function_call", "refusal", "audio"];

export const message = plainObject<Message>()
  .superRefine((value, context) => {
    const wrong = (path: string, error: string, params = {}) =>
      context.addIssue({ code: "custom", path: [path], message: error, input: value, params });
    if (typeof value.role !== "string" || value.role === "")
      wrong("role", `is required: a string of 1 to ${limits.role} characters`);
    else if (value.role.length > limits.role)
      wrong("role", `is longer than ${limits.role} characters`, OVER_LIMIT);
    const content = value.content === undefined ? value.parts : value.content;
    // OpenAI omits the content beside calls, a refusal or audio.
    if (content === undefined && INSTEAD.some((field) => value[field] !== undefined)) return;
    if (typeof content !== "string" && content !== null && !Array.isArray(content))
      wrong("content", "is required: a string, an array of parts or null (or `parts`, an array)");
  })
  .openapi("Message", {
    type: "object",
    description: "A message of any SDK: a role, a content (or `parts`), and any other fields.",
    properties: {
      role: { type: "string" },
      name: {
        type: "string",
        description: "Who speaks, in a chat of several people; `speaker` is the same.",
      },
      content: { oneOf: [{ type: "string" }, { type: "array", items: {} }, { type: "null" }] },
    },
    required: ["role"],
    additionalProperties: true,
    example: { role: "user", content: "I have moved to Lisbon." },
  });

const toolCallIds = z
  .array(text(limits.toolCallId, 0))
  .refine(...atMost(limits.toolCallIds, "1,000 ids"))
  .optional();

export const AppendBody = z
  .strictObject({
    messages: z.array(message),
    expectedLength: optional(z.int().min(0), "Appends only if the thread has this many messages; else 409."),
    validate: z.enum(["loose", "strict"]).optional().openapi({
      description:
        "`messages` is then the whole conversation. If it continues the stored one (see /validate), its new messages are appended; else 409.",
    }),
    approvedToolCallIds: toolCallIds,
    rejectedToolCallIds: toolCallIds,
    createdAt: messageTime.optional().openapi({
      description:
        "Time of the messages in milliseconds since the epoch, for an import; now unless set. At most a day ahead.",
    }),
  })
  .refine(({ messages, validate }) => validate !== undefined || messages.length <= limits.messagesPerAppend, {
    path: ["messages"],
    ...overLimit("holds more than 1,000 messages"),
  })
  .refine(
    ({ validate, approvedToolCallIds, rejectedToolCallIds }) =>
      validate !== undefined || (approvedToolCallIds ?? rejectedToolCallIds) === undefined,
    { path: ["validate"], error: "is required with approvedToolCallIds or rejectedToolCallIds" },
  )
  .openapi("Append", { example: { messages: [{ role: "user", content: "I have moved to Lisbon." }] } });
export type AppendBody = z.infer<typeof AppendBody>;

/** A remark on a message that was stored as it came. */
export const MessageNote = shape("MessageNote", {
  index: integer("Index in `messages`."),
  code: z.literal("unknown_role"),
  message: z.string(),
});
export type MessageNote = z.infer<typeof MessageNote>;

/** Absent if there is nothing to note. */
export const notes = z
  .array(MessageNote)
  .optional()
  .openapi({ description: "Messages whose `role` no rule knows; absent if there is none." });

export const AppendAnswer = shape("Appended", {
  length: integer("Number of messages in the thread now."),
  firstSeq: integer("Seq of the first appended message; absent if there is none.").optional(),
  lastSeq: z.int().optional(),
  notes,
});

const seqBound = (description: string) =>
  wholeNumber({ min: 0, max: 2 ** 31 })
    .optional()
    .openapi({ description });

export const ReadMessagesQuery = z.strictObject({
  order: z.enum(["newest", "oldest"]).optional().openapi({
    description:
      "`newest` (unless set): the last `limit` messages; the cursor leads to earlier ones. `oldest`: from the first message on. A page always has the order of the conversation.",
  }),
  before: seqBound("Only messages before this seq; goes with `newest`."),
  after: seqBound("Only messages after this seq; goes with `oldest`."),
  view: z.enum(["raw", "sanitized", "compacted", "prompted"]).optional().openapi({
    description:
      "`raw` unless set. `sanitized`: without what model providers refuse, such as incomplete tool turns and empty messages. `compacted`: summaries replace the messages they cover. `prompted`: compacted and sanitized, each message of the user with the block of memory that it was sent with.",
  }),
  limit: pageLimit(50),
  cursor,
});

export type ReadMessagesQuery = z.infer<typeof ReadMessagesQuery>;

export const MessageList = pageShape(
  z.object({
    seq: integer("Grows within the thread, from 1. No seq is used twice."),
    message: z.record(z.string(), anyJson).openapi({ type: "object", additionalProperties: true }),
    createdAt: timestamp,
    compaction: z
      .object({ id: z.string(), from: z.int(), to: z.int() })
      .optional()
      .openapi({ description: "For a summary: the messages that it replaces." }),
  }),
).openapi("MessageList");

export const messagePath = threadPath.extend({
  seq: wholeNumber({ min: 1, max: 2 ** 31 }),
});

export const CompactBody = strictShape("Compact", {
  summary: z
    .union([z.string().min(1), message])
    .openapi({ description: "A string, which becomes a system message, or a message." }),
  to: z.int().min(1).openapi({ description: "Seq of the last message that the summary replaces." }),
  from: z.int().min(1).optional().openapi({ description: "Seq of the first one; 1 unless set." }),
}).openapi({ example: { summary: "They planned the move to Lisbon.", to: 40 } });

export type CompactBody = z.infer<typeof CompactBody>;

export const Compaction = shape("Compaction", {
  id: z.string(),
  from: z.int(),
  to: z.int(),
  summary: z.record(z.string(), anyJson),
  createdAt: timestamp,
});

export const compactionPath = threadPath.extend({
  compaction: z.string(),
});

export const ListCompactionsQuery = z.strictObject({ limit: pageLimit(50), cursor });

export const CompactionList = pageShape(Compaction).openapi("CompactionList");

export const ValidateBody = strictShape("Validate", {
  messages: z.array(message).openapi({ description: "The whole conversation." }),
  mode: z.enum(["loose", "strict"]).optional().openapi({ description: "`strict` unless set." }),
  approvedToolCallIds: toolCallIds,
  rejectedToolCallIds: toolCallIds,
});

export type ValidateBody = z.infer<typeof ValidateBody>;

export const Verdict = shape("Verdict", {
  ok: z.boolean(),
  code: z.string().optional().openapi({ example: "forged-tool-result" }),
  reason: z.string().optional(),
  index: integer("Index of the first wrong message in the request.").optional(),
});

export const ListAllThreadsQuery = ListThreadsQuery.omit({ order: true });

export const CataloguedThread = Thread.omit({ length: true, forkedFrom: true, indexing: true }).openapi(
  "CataloguedThread",
  {
    description:
      "`updatedAt` may be an hour behind while messages are appended: `GET /v1/threads/{id}`, and the list of one user, have the current one.",
  },
);
export type CataloguedThread = z.infer<typeof CataloguedThread>;

export const CataloguedThreadList = pageShape(CataloguedThread).openapi("CataloguedThreadList");
