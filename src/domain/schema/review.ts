import { z } from "@hono/zod-openapi";
import { errors } from "../errors.ts";
import { limits } from "../limits.ts";
import { atMost, cursor } from "./bounds.ts";
import { shape, string } from "./described.ts";
import { memoryFilter } from "./memory-filter.ts";
import { superseded, version } from "./memory.ts";

const id = z.string().min(1).max(64);

export const ReviewQuery = z.strictObject({ cursor });

export const ReviewMemoriesBody = z
  .strictObject({
    decision: z
      .enum(["release", "reject"])
      .describe("`release`: the memories become live, as by a release of each. `reject`: they are deleted."),
    memories: z
      .array(
        z.strictObject({
          id,
          ifVersion: version.optional().openapi({ description: "The version that was looked at." }),
        }),
      )
      .min(1)
      .refine(...atMost(limits.memoriesPerBatch, `${limits.memoriesPerBatch} memories`))
      .optional(),
    filter: memoryFilter.omit({ status: true }).optional().openapi({
      description:
        "In place of `memories`: all that wait in quarantine and match, those that wait longest first. `{}`: all that wait.",
    }),
  })
  .superRefine(({ memories, filter }, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message });
    if (memories === undefined && filter === undefined) refuse("memories", "is required without a filter");
    if (memories !== undefined && filter !== undefined) refuse("filter", "stands in place of memories");
  })
  .openapi("ReviewMemories", { example: { decision: "release", memories: [{ id: "0197…" }] } });
export type ReviewMemoriesBody = z.infer<typeof ReviewMemoriesBody>;

export const ReviewedMemory = shape("ReviewedMemory", {
  id: string("The id under which it waited."),
  outcome: z.enum(["released", "rejected", "gone", "failed"]).openapi({
    description: "`gone`: nothing waited under this id that could be rejected. `failed`: it is as it was.",
  }),
  memoryId: string("The memory that a released one is now.").optional(),
  version: version.optional(),
  superseded,
  error: z
    .object({
      // The codes are the keys of the table.
      code: z.enum(Object.keys(errors) as [keyof typeof errors]),
      message: z.string(),
    })
    .optional(),
});
export type ReviewedMemory = z.infer<typeof ReviewedMemory>;

export const ReviewedMemories = shape("ReviewedMemories", {
  items: z.array(ReviewedMemory).openapi({ description: "In the order of the request, each id once." }),
  cursor: string(
    "More of what waited when the first call came matches. The next call takes it, with the same body.",
  ).optional(),
});
export type ReviewedMemories = z.infer<typeof ReviewedMemories>;
