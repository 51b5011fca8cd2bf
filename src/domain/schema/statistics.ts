import { z } from "@hono/zod-openapi";
import { timestamp, wholeNumber } from "./bounds.ts";
import { integer, optional, shape } from "./described.ts";
import { Ingest } from "./ingest.ts";

export const StatisticsQuery = z.strictObject({
  days: optional(wholeNumber({ min: 1, max: 366 }), "How many days back, today included; 30 unless set."),
});

const days = z.array(
  z.object({
    day: timestamp.openapi({ description: "Start of the day (UTC)." }),
    count: z.int(),
    users: integer("Of so many users."),
  }),
);

export const TenantStatistics = shape("TenantStatistics", {
  users: integer("Users with data."),
  countedAt: timestamp.describe(
    "When users, memories and threads were counted: now, or, of more than 5,000 memories and threads, up to six hours ago: the cron counts. Where it does not run, a call renews a count that is a day old, for the next one.",
  ),
  memories: days.describe("Memories that there are, in quarantine too, by the day of their creation."),
  threads: days.openapi({ description: "Threads that there are, by the day of their creation." }),
  recalls: z
    .array(
      z.object({
        hour: timestamp.openapi({ description: "Start of the hour." }),
        calls: z.int(),
        abstained: integer("Answers that said: nothing fits."),
        degraded: integer("Answers of which an arm failed or was late."),
        p50: integer("Half of the calls took at most so many milliseconds."),
        p95: z.int(),
      }),
    )
    .describe(
      "By the hour, for 90 days. Times are rounded up by a fifth at most. The last calls before an isolate ends may be missing.",
    ),
});
export type TenantStatistics = z.infer<typeof TenantStatistics>;

export const UserSummary = shape("UserSummary", {
  bytes: integer("Bytes of the user's object."),
  memories: z.int(),
  threads: z.int(),
  entries: z.int(),
  documents: z.object({ indexed: z.int(), pending: z.int() }).openapi({
    description: "Messages with text and versions of memories; `pending` ones have no vector yet.",
  }),
  ingests: z
    .array(Ingest.pick({ id: true, threadId: true, status: true, why: true, createdAt: true }))
    .openapi({ description: "Those under way, and those of a week that ended as `partial`; 50 at most." }),
  quarantine: z
    .object({
      waiting: integer("Memories that wait for somebody to release or reject them."),
      expired: integer("Memories that have waited too long. Each is listed for a day, and then deleted."),
      nextExpiry: timestamp.optional().openapi({ description: "When the next one that waits expires." }),
    })
    .openapi({ description: "Reads a row of an index for each of these memories." }),
  webhook: optional(
    z.object({ behind: z.boolean(), failures: z.int(), nextAt: timestamp.optional() }),
    "If the tenant has a webhook. `behind`: its receiver lacks changes of this user. `failures`: since the last success. `nextAt`: the next attempt; absent while the user waits for a receiver that is away.",
  ),
});
export type UserSummary = z.infer<typeof UserSummary>;
