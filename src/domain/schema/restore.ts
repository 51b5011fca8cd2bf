import { z } from "@hono/zod-openapi";
import { time } from "./memory-fields.ts";

export const RestoreBody = z
  .strictObject({
    at: time.openapi({
      description: "The time to set the user back to: one of the last 30 days, in milliseconds.",
    }),
    dryRun: z.boolean().optional().openapi({
      description: "Only lists what is lost and what comes back; `true` unless set.",
    }),
  })
  .openapi("RestoreBody", { example: { at: 1_763_760_000_000 } });

const counts = {
  threads: z.int(),
  memories: z.int(),
};
export const Restore = z
  .object({
    at: time,
    status: z.enum(["dryRun", "running", "done"]).openapi({
      description:
        "`running`: the user is set back, and the database follows. The cron goes on; the same call, too.",
    }),
    lost: z
      .object({
        threads: z.int().openapi({ description: "Threads that began since." }),
        messages: z.int().openapi({ description: "Messages with a text since." }),
        memoryVersions: z
          .int()
          .openapi({ description: "Memories that were stored, and corrections, since." }),
        entries: z.int().openapi({ description: "Entries that were set since, and are there." }),
      })
      .openapi({ description: "What goes." }),
    back: z.object(counts).openapi({ description: "What was deleted since, and comes back." }),
  })
  .openapi("Restore");
export type Restore = z.infer<typeof Restore>;
