import { z } from "@hono/zod-openapi";
import { pageLimit, timestamp } from "./bounds.ts";
import { boolean, integer, mark, shape, string } from "./described.ts";
import { memoryKind, memoryStatus } from "./memory-fields.ts";

export const ChangesQuery = z.strictObject({
  after: z.string().max(100).optional().openapi({
    description: "The `version` of the last answer; everything that is stored, unless set.",
  }),
  limit: pageLimit(100),
});
export type ChangesQuery = z.infer<typeof ChangesQuery>;

const at = timestamp;
export const Change = z
  .discriminatedUnion("type", [
    z.object({
      type: z.literal("memory"),
      id: z.string(),
      version: z.int(),
      kind: memoryKind,
      status: memoryStatus,
      at,
    }),
    z.object({
      type: z.literal("memoriesForgotten"),
      ids: z.array(z.string()).nullable().openapi({ description: "Null: all memories." }),
      at,
    }),
    z.object({ type: z.literal("thread"), id: z.string(), length: z.int(), at }),
    z.object({ type: z.literal("threadsDeleted"), ids: z.array(z.string()).nullable(), at }),
    z.object({ type: z.literal("erasure"), id: z.string(), at }),
  ])
  .openapi("Change");
export type Change = z.infer<typeof Change>;

export const Changes = shape("Changes", {
  items: z.array(Change),
  version: string("The `after` of the next call."),
  more: boolean("True if more changes are stored already."),
  reset: mark(
    "`after` is of no use any more: the user was erased or set back, or 30 days have passed. Drop what you hold; the items are from the beginning.",
  ),
});
export type Changes = z.infer<typeof Changes>;

export const WebhookResumed = z
  .object({ waiting: integer("Users with changes that wait for the receiver.") })
  .openapi("WebhookResumed");
export type WebhookResumed = z.infer<typeof WebhookResumed>;

/** The body of a webhook's message. */
export type ChangesDelivery = {
  type: "user.changed";
  /** When it was sent, in ISO 8601. */
  timestamp: string;
  /** `userHash`: as in the receipt of an erasure. `user`: null once the user was erased. */
  data: { userHash: string; user: string | null; changes: Changes };
};
