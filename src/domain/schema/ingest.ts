import { z } from "@hono/zod-openapi";
import { isWithin, limits } from "../limits.ts";
import { atMost, overLimit, text, timestamp } from "./bounds.ts";
import { integer, optional, shape, string } from "./described.ts";
import { memoryKind, memoryText, name, time } from "./memory-fields.ts";
import { messageTime } from "./message-time.ts";
import { message, notes, owners, speakerFault } from "./thread.ts";

export const extractKind = z.enum(["facts", "episodes", "procedures"]).openapi("ExtractKind");
export type ExtractKind = z.infer<typeof extractKind>;

const sources = z.array(z.int().min(0)).min(1).max(limits.sources).openapi({
  description: "The messages that say it: their indexes in `messages` from 0, or with `threadId` their seqs.",
});

const Extracted = z
  .strictObject({
    facts: z
      .array(
        z.strictObject({
          subject: name,
          predicate: name,
          object: memoryText,
          text: memoryText.optional(),
          validFrom: time.optional(),
          sources,
        }),
      )
      .optional(),
    episodes: z.array(z.strictObject({ text: memoryText, sources })).optional(),
    procedures: z.array(z.strictObject({ title: name, text: memoryText, sources })).optional(),
  })
  .refine(
    ({ facts = [], episodes = [], procedures = [] }) =>
      facts.length + episodes.length + procedures.length <= limits.memoriesPerBatch,
    overLimit(`holds more than ${limits.memoriesPerBatch} memories`),
  )
  .refine(
    (lists) => isWithin(JSON.stringify(lists), limits.extractedBytes),
    "is longer than 1 MiB as JSON: send less per call",
  )
  .refine(
    (lists) => Object.keys(lists).length > 0,
    "holds no list: set `facts`, `episodes` or `procedures`; an empty list says that your model found none",
  )
  .openapi("Extracted", {
    description:
      "Memories that your own model found. They pass the same checks as those of the deployment's, and its second look if it has a model. At most 1 MiB as JSON.",
  });
export type Extracted = z.infer<typeof Extracted>;

const ingesting = z.strictObject({
  threadId: text(limits.name).optional().describe("A thread whose messages are stored already."),
  messages: optional(
    z
      .array(message)
      .min(1)
      .refine(...atMost(limits.messagesPerAppend, "1,000 messages")),
    "A conversation, or the part of it that follows what was sent before. Messages that are stored already are not stored again. The `role` says who speaks, in small letters: `user`, `assistant`, `system` or `developer`; any other role counts as a tool. Only what a `user` says becomes a live fact.",
  ),
  sessionId: name.optional().openapi({
    description:
      "Your own id of the conversation that `messages` belong to. Without it, a conversation continues the stored one that it begins with.",
  }),
  createdAt: optional(
    z.union([messageTime, z.array(messageTime)], {
      error: "must be a time in milliseconds since the epoch, or a list with the time of each message",
    }),
    "The time of the messages, or a list with the time of each; now unless set. At most a day ahead.",
  ),
  scope: name.optional().openapi({ description: "The scope of the extracted memories." }),
  owners: owners.optional().openapi({
    description:
      "The names of the memory's owner, as the messages of users have them in `name` or `speaker`; compared without case and width. The thread keeps the list until another one comes. Without a list, the only name in a thread is the owner's if each message of a user has it. A message of a user without a name is the owner's.",
  }),
  extract: optional(
    z.array(extractKind).min(1),
    "`facts` and `episodes` unless set; nothing if `extracted` is set.",
  ),
  extracted: Extracted.optional(),
  mode: z.enum(["background", "wait"]).optional().openapi({
    description:
      "`background` unless set: answers once the messages are stored. `wait`: answers after the extraction, or after 25 seconds.",
  }),
});

/** The paths of the sources that are no index of so many messages. */
const unknownSources = (extracted: z.infer<typeof Extracted>, messages: number): PropertyKey[][] =>
  Object.entries(extracted).flatMap(([kind, list]) =>
    list.flatMap((one, i) =>
      one.sources.flatMap((source, j) => (source < messages ? [] : [["extracted", kind, i, "sources", j]])),
    ),
  );

export const IngestBody = ingesting
  .superRefine(({ threadId, messages, sessionId, createdAt, extracted = {} }, context) => {
    const refuse = (path: PropertyKey[], error: string) =>
      context.addIssue({ code: "custom", path: [...path], message: error });
    if (threadId === undefined && messages === undefined)
      return refuse(["messages"], "is required, or `threadId` in its place");
    if (threadId !== undefined && messages !== undefined)
      return refuse(["threadId"], "does not go with `messages`: send one of them");
    if (messages === undefined) {
      if (sessionId !== undefined) refuse(["sessionId"], "goes with `messages`");
      if (createdAt !== undefined) refuse(["createdAt"], "goes with `messages`");
      return;
    }
    for (const [i, one] of messages.entries()) {
      const { field, ...fault } = speakerFault(one) ?? {};
      if (field !== undefined) context.addIssue({ code: "custom", path: ["messages", i, field], ...fault });
    }
    if (Array.isArray(createdAt) && createdAt.length !== messages.length)
      refuse(["createdAt"], `has ${createdAt.length} times for ${messages.length} messages`);
    for (const path of unknownSources(extracted, messages.length)) refuse(path, "is no index of `messages`");
  })
  .openapi("Ingest", {
    example: {
      sessionId: "monday",
      messages: [
        { role: "user", content: "I have moved to Lisbon." },
        { role: "assistant", content: "How do you like it?" },
      ],
    },
  });
export type IngestBody = z.infer<typeof IngestBody>;

export const ingestStatus = z.enum(["queued", "running", "done", "partial"]).openapi({
  description:
    "`queued`: waits for its turn, another attempt or the quota. `running`: the extraction is under way. `partial`: all messages are stored, and the extraction of some failed.",
});

const IngestResult = shape("IngestResult", {
  kind: memoryKind,
  memoryId: z.string().optional(),
  outcome: z.enum(["created", "updated", "known", "quarantined", "failed"]).openapi({
    description:
      "`updated`: a stored memory says it now in place of something else, which its history has. `known`: a stored memory says it already. `quarantined`: kept for review. `failed`: not stored.",
  }),
  reasons: z.array(z.string()).optional().openapi({ description: "Why it is quarantined, or failed." }),
  superseded: z
    .array(z.string())
    .optional()
    .openapi({ description: "Ids of the facts that it ended. Its own id: the object before it." }),
  sources: z.array(z.int()).openapi({ description: "The seqs of the messages that say it." }),
});
export type IngestResult = z.infer<typeof IngestResult>;

export const Ingest = shape("Ingested", {
  id: string("`<userHash>.<uuid v7>`"),
  status: ingestStatus,
  followUp: string(
    "The ingest that makes the episode of the session that goes on. It is gone once a later ingest of the thread has taken it over.",
  ).optional(),
  why: string(
    "The reason of `partial`, or of waiting: `model_failed`, `model_late`, `model_misconfigured`, `model_refused` (it does not take some of the messages), `invalid_answer` (twice), `changed` (a message, each time that the model had looked at it), `quota`, `tenant_quota`, `model_daily_limit`, `storage`, `thread_deleted`, `internal_error`, `session` (it goes on).",
  ).optional(),
  failed: optional(
    z.array(z.object({ kinds: z.array(extractKind), from: z.int(), to: z.int(), why: z.string() })),
    "Messages of which these kinds could not be extracted, from a seq to another. A retry tries them again.",
  ),
  threadId: z.string(),
  extract: z.array(extractKind),
  model: z.string().nullable().openapi({ description: "The model that extracts; null: none is bound." }),
  messages: z.object({
    stored: integer("Number of messages that this call stored."),
    known: integer("Number of messages that were stored before."),
    extracted: integer(
      "The extraction has come up to this seq, with the messages of `failed`. The episode of a session that goes on is made by itself later.",
    ),
    last: integer("The last seq to extract."),
  }),
  results: z.array(IngestResult).openapi({ description: `The first ${limits.ingestResults} memories.` }),
  counts: z.record(z.string(), z.int()).openapi({ description: "Number of results by outcome." }),
  usage: z.object({ calls: z.int(), inputTokens: z.int(), outputTokens: z.int() }),
  createdAt: timestamp,
  finishedAt: timestamp.optional(),
});
export type Ingest = z.infer<typeof Ingest>;

export const Ingested = shape("IngestStarted", {
  ingestId: z.string(),
  threadId: z.string(),
  stored: integer("Number of messages that this call stored."),
  known: integer("Number of messages that were stored before."),
  status: ingestStatus,
  why: string("As of the ingest, after the mode `wait`.").optional(),
  notes,
});
export type Ingested = z.infer<typeof Ingested>;

export const ingestPath = z.object({
  id: string("`<userHash>.<uuid v7>`, as answered by ingest."),
});
