import { z } from "@hono/zod-openapi";
import { time } from "./memory-fields.ts";
import { boolean, integer, shape, strictShape } from "./described.ts";

export const RestoreBody = strictShape("RestoreBody", {
  at: time.describe("The time to set the user back to: one of the last 30 days, in milliseconds."),
  dryRun: boolean("Only lists what is lost and what comes back; `true` unless set.").optional(),
}).openapi({ example: { at: 1_763_760_000_000 } });

const counts = {
  threads: z.int(),
  memories: z.int(),
};
export const Restore = shape("Restore", {
  at: time,
  status: z.enum(["dryRun", "running", "done"]).openapi({
    description:
      "`running`: the user is set back, and the database follows. The cron goes on; the same call, too.",
  }),
  lost: z
    .object({
      threads: integer("Threads that began since."),
      messages: integer("Messages with a text since."),
      memoryVersions: integer("Memories that were stored, and corrections, since."),
      entries: integer("Entries that were set since, and are there."),
    })
    .openapi({ description: "What goes." }),
  back: z.object(counts).openapi({ description: "What was deleted since, and comes back." }),
});
export type Restore = z.infer<typeof Restore>;
