import { z } from "@hono/zod-openapi";
import { ownerKeyOf, PART } from "../entry-parts.ts";
import { isWithin, limits } from "../limits.ts";
import {
  anyJson,
  anyJsonDocument,
  atMost,
  cursor,
  overLimit,
  pageLimit,
  timestamp,
  userPath,
  wholeNumber,
} from "./bounds.ts";
import { boolean, integer, optional, shape, strictShape, string } from "./described.ts";
import { messageTime } from "./message-time.ts";
import { AppendAnswer, message, MessageList } from "./thread.ts";

/** The limit is on the entry's key: the key of a part is longer. */
export const entryKey = z
  .string()
  .min(1)
  .refine((value) => value.isWellFormed(), "holds a lone surrogate")
  .refine(
    (value) => isWithin(ownerKeyOf(value), limits.key),
    overLimit("is longer than 1,024 bytes of UTF-8"),
  )
  .refine(
    (value) => !ownerKeyOf(value).includes(PART),
    "holds U+001F, `part`, U+001F: only keys of parts do",
  );

const key = entryKey.openapi({
  description: "Any string of at most 1,024 bytes of UTF-8, percent-encoded: `/` is `%2F`.",
  example: "settings/theme",
});

export const entryPath = userPath.extend({ key });

/** The body is the JSON value itself. */
export const EntryValue = anyJson.openapi("EntryValue");
export type EntryValue = z.infer<typeof EntryValue>;

const yes = z.enum(["true", "false"]).optional();

export const SetEntryQuery = z
  .strictObject({
    ttlMs: wholeNumber({ min: 0, max: limits.ttlMs })
      .optional()
      .openapi({ description: "Time to live in milliseconds; no end unless set.", example: 60_000 }),
    refreshOnRead: yes.openapi({ description: "`true`: every read restarts the time to live." }),
  })
  .refine(({ ttlMs, refreshOnRead }) => refreshOnRead !== "true" || ttlMs !== undefined, {
    path: ["refreshOnRead"],
    error: "needs a ttlMs",
  });

const prefix = z
  .string()
  .openapi({ description: "Literal prefix, without wildcards.", example: "settings/" });

export const DeleteEntriesQuery = z.strictObject({ prefix });
export const DeletedEntries = z.object({ deleted: z.int() }).openapi("DeletedEntries");

export const ListEntriesQuery = z.strictObject({
  prefix: prefix.optional(),
  values: yes.openapi({ description: "`true` includes the values." }),
  count: yes.describe("`true` counts all live entries under the prefix. The count reads each key."),
  limit: pageLimit(100),
  cursor,
});

export const EntryList = shape("EntryList", {
  items: z.array(
    z.object({
      key: z.string(),
      value: anyJson.optional(),
      version: z.string(),
      updatedAt: timestamp,
      expiresAt: timestamp.optional(),
    }),
  ),
  cursor: z.string().optional(),
  count: z.int().optional(),
});

export const cachePath = z.object({ key });

export const SetCacheQuery = z.strictObject({
  ttlSeconds: wholeNumber({ min: 1, max: limits.ttlMs / 1000 })
    .optional()
    .openapi({ description: "Time to live in seconds; no end unless set.", example: 300 }),
  lease: string("The id of a lease: the value is stored only while that lease is current.").optional(),
});

export const WrittenEntry = shape("WrittenEntry", {
  version: string("The version of this write, as in its ETag."),
  expiresAt: timestamp.optional(),
});
export type WrittenEntry = z.infer<typeof WrittenEntry>;

const ifVersion = optional(
  z.string().nullable(),
  "Only if the entry has this version; null: only if there is no entry.",
);

const threadId = string("The id of a thread of the same user.");

const operation = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("get"), key }),
  z
    .strictObject({
      op: z.literal("set"),
      key,
      value: z.custom<unknown>((value) => value !== undefined, "is required").openapi(anyJsonDocument),
      ttlMs: z
        .int()
        .min(0)
        .refine((ms) => ms <= limits.ttlMs, overLimit("is more than 10 years"))
        .optional(),
      refreshOnRead: z.boolean().optional(),
      ifVersion,
    })
    .refine(({ ttlMs, refreshOnRead }) => refreshOnRead !== true || ttlMs !== undefined, {
      path: ["refreshOnRead"],
      error: "needs a ttlMs",
    }),
  z.strictObject({ op: z.literal("delete"), key, ifVersion }),
  z.strictObject({
    op: z.literal("messages"),
    threadId,
    limit: z.int().min(1).max(limits.page).optional().openapi({ description: "50 unless set." }),
  }),
  z.strictObject({
    op: z.literal("append"),
    threadId,
    messages: z.array(message).min(1),
    ifLastSeq: z.int().min(0).optional().openapi({
      description: "Only if this is the highest seq that the thread has given; 0: only if it has given none.",
    }),
    createdAt: optional(messageTime, "Time of the messages in milliseconds since the epoch; now unless set."),
  }),
]);
export type BatchOperation = z.infer<typeof operation>;

export const BatchBody = strictShape("EntryBatch", {
  operations: z
    .array(operation)
    .min(1)
    .refine(...atMost(limits.operationsPerBatch, "1,000 operations"))
    .refine(
      (list) =>
        list.reduce((sum, one) => sum + (one.op === "append" ? one.messages.length : 0), 0) <=
        limits.messagesPerAppend,
      overLimit("append more than 1,000 messages together"),
    ),
}).openapi({
  example: {
    operations: [
      { op: "get", key: "a" },
      { op: "set", key: "b", value: { n: 1 }, ttlMs: 60_000 },
    ],
  },
});

export const BatchAnswer = shape("EntryBatchAnswer", {
  results: z.array(
    z.object({
      key: z.string().optional(),
      threadId: z.string().optional(),
      found: boolean(
        "For a get: true if there is a live entry. For messages: true if there is a thread.",
      ).optional(),
      value: anyJson.optional(),
      version: z.string().optional(),
      expiresAt: timestamp.optional(),
      deleted: boolean("For a delete: true if there was a live entry.").optional(),
      messages: MessageList.shape.items
        .optional()
        .openapi({ description: "The last messages of the thread, in the order of the conversation." }),
      length: integer("Number of messages in the thread.").optional(),
      firstSeq: integer("Seq of the first appended message.").optional(),
      lastSeq: integer("The highest seq that the thread has given; 0 if none.").optional(),
      notes: AppendAnswer.shape.notes,
    }),
  ),
});
