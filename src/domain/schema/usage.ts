import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { cursor, pageLimit, pageShape, text, timestamp, wholeNumber } from "./bounds.ts";
import { integer, optional, shape, string, strictShape } from "./described.ts";

/** The id of a recall or of a context. */
export const recallId = string(
  "Names this answer for its outcome (`POST /v1/recalls/{id}/outcome`); absent without memories of the user.",
).optional();

export const OutcomeBody = strictShape("RecallOutcome", {
  used: optional(z.array(z.string()).max(limits.k), "The ids of the memories that the answer used."),
  answer: text(limits.query).optional().openapi({
    description:
      "The model's answer. Without `used`, it tells which memories were likely used. It is not stored.",
  }),
})
  .refine(({ used, answer }) => (used ?? answer) !== undefined, {
    path: ["used"],
    error: "must be set, or `answer`",
  })
  .openapi({ example: { answer: "You live in Porto." } });
export type OutcomeBody = z.infer<typeof OutcomeBody>;

export const Outcome = shape("CountedOutcome", {
  used: z.array(z.string()),
  usedLikely: z.array(z.string()).openapi({ description: "Memories whose words the answer has." }),
});
export type Outcome = z.infer<typeof Outcome>;

export const recallPath = z.object({
  id: string("The `recallId` of a recall or a context: up to 4,000 characters, which only Cairn reads."),
});

const unusedDays = wholeNumber({ min: 0, max: 3650 });
export const UsageQuery = z.strictObject({
  unusedDays: unusedDays.optional().openapi({
    description:
      "Only memories that are at least this many days old, and were not used since. Without it, those that were ever recalled.",
  }),
  limit: pageLimit(50),
  cursor,
});
export type UsageQuery = z.infer<typeof UsageQuery>;

export const MemoryUsage = shape("MemoryUsage", {
  memoryId: z.string(),
  recalled: integer("Number of recalls that returned it."),
  injected: integer("Number of contexts that showed it."),
  used: z.int(),
  usedLikely: z.int(),
  lastRecalledAt: timestamp.optional().openapi({ description: "The last recall or context." }),
  lastUsedAt: timestamp.optional().describe("The last time that it was, or was likely, used."),
});
export type MemoryUsage = z.infer<typeof MemoryUsage>;
export const MemoryUsageList = pageShape(MemoryUsage).openapi("MemoryUsageList");
