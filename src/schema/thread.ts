import { z } from "@hono/zod-openapi";
import { byteLength, limits } from "../limits.ts";
import { anyJson, breaks, cursor, metadata, pageLimit, plainObject, text, timestamp } from "./bounds.ts";

const name = text(limits.title, "invalid_request");

export const CreateThreadBody = z
  .strictObject({
    title: name.optional().openapi({ description: "`New conversation` unless set." }),
    agent: name.optional(),
    resourceSlug: name.optional(),
    recordId: name.optional(),
    metadata: metadata.optional(),
  })
  .openapi("CreateThread", { example: { title: "Planning the move", agent: "planner" } });
export type CreateThreadBody = z.infer<typeof CreateThreadBody>;

export const Thread = z
  .object({
    id: z.string(),
    userId: z.string(),
    title: z.string(),
    agent: z.string().optional(),
    resourceSlug: z.string().optional(),
    recordId: z.string().optional(),
    metadata: z.record(z.string(), anyJson).optional(),
    length: z.int().openapi({ description: "How many messages the thread holds." }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi("Thread");
export type Thread = z.infer<typeof Thread>;

export const threadPath = z.object({
  id: z.string().openapi({
    param: { name: "id", in: "path" },
    description: "`<userHash>.<uuid v7>`, as it was handed out.",
  }),
});

export const ListThreadsQuery = z.strictObject({
  agent: name.optional(),
  limit: pageLimit(50),
  cursor,
});

export const ThreadList = z
  .object({ items: z.array(Thread), cursor: z.string().optional() })
  .openapi("ThreadList");

/** A message is the caller's: a role, and a content or parts. It comes back as it went in, unknown fields included. */
export type Message = { role: string; content?: unknown; parts?: unknown; [field: string]: unknown };

const message = plainObject<Message>()
  .superRefine((value, context) => {
    const wrong = (path: string, error: string) =>
      context.addIssue({ code: "custom", path: [path], message: error, input: value });
    if (typeof value.role !== "string" || value.role === "" || value.role.length > 64)
      wrong("role", "is required: a string of 1 to 64 characters");
    const content = value.content === undefined ? value.parts : value.content;
    if (typeof content !== "string" && content !== null && !Array.isArray(content))
      wrong("content", "is required: a string, an array of parts or null (or `parts`, an array)");
  })
  .refine(
    (value) => byteLength(JSON.stringify(value)) <= limits.message,
    breaks("message_too_large", "is larger than 8 MiB of JSON"),
  )
  .openapi("Message", {
    type: "object",
    description: "Any SDK's message: a role, a content (or `parts`), and whatever else it carries.",
    properties: {
      role: { type: "string" },
      content: { oneOf: [{ type: "string" }, { type: "array", items: {} }, { type: "null" }] },
    },
    required: ["role"],
    additionalProperties: true,
    example: { role: "user", content: "I have moved to Lisbon." },
  });

export const AppendBody = z
  .strictObject({
    messages: z
      .array(message)
      .refine(
        (list) => list.length <= limits.messagesPerAppend,
        breaks("too_many_messages", "holds more than 1,000 messages"),
      ),
  })
  .openapi("Append");

export const AppendAnswer = z
  .object({
    length: z.int().openapi({ description: "How many messages the thread holds now." }),
    firstSeq: z
      .int()
      .optional()
      .openapi({ description: "Of the first message appended; absent if there was none." }),
    lastSeq: z.int().optional(),
  })
  .openapi("Appended");

export const ReadMessagesQuery = z.strictObject({
  order: z.enum(["newest", "oldest"]).optional().openapi({
    description:
      "`newest` (unless set): the last `limit` messages, and with the cursor the ones before them. `oldest`: from the first message on. Within a page, messages are always in the order of the conversation.",
  }),
  limit: pageLimit(50),
  cursor,
});

export const MessageList = z
  .object({
    items: z.array(
      z.object({
        seq: z.int().openapi({ description: "Grows within the thread, from 1; never used twice." }),
        message: z.record(z.string(), anyJson).openapi({ type: "object", additionalProperties: true }),
        createdAt: timestamp,
      }),
    ),
    cursor: z.string().optional(),
  })
  .openapi("MessageList");
