import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { cursor, overLimit, timestamp } from "./bounds.ts";
import { integer, mark, optional, shape, strictShape, string } from "./described.ts";
import { memoryKind, name } from "./memory-fields.ts";
import { trust } from "./provenance.ts";

/** A number of days, as `180d`. */
export const age = z
  .string()
  .regex(/^[1-9]\d{0,4}d$/, "is no number of days: `1d`, `180d`")
  .refine((days) => Number.parseInt(days, 10) <= limits.retentionDays, {
    ...overLimit(`is longer than ${limits.retentionDays} days`),
  })
  .openapi({ description: "A number of days: `1d` to `3650d`.", example: "180d" });

export const RetentionRule = strictShape("RetentionRule", {
  keep: age.openapi({ description: "Memories that did not change for so long are deleted." }),
  kind: memoryKind.optional().openapi({ description: "All kinds unless set." }),
  scope: name.optional().openapi({ description: "All memories, with a scope or without, unless set." }),
  trust: trust.optional().openapi({
    description: "Of this trust only. Unless set, the rule leaves out facts of `user` and `operator`.",
  }),
  pinned: mark("Only memories with the tag `pinned`, which a rule leaves out unless this is set."),
}).openapi({ example: { kind: "episode", keep: "90d" } });
export type RetentionRule = z.infer<typeof RetentionRule>;

export const Retention = strictShape("Retention", {
  messages: age.optional().openapi({
    description: "Messages that are older are deleted, and a thread that nobody changed for so long.",
  }),
  memories: optional(
    z.array(RetentionRule).max(limits.retentionRules),
    "A memory goes by each rule that covers it, so the shortest one wins.",
  ),
}).openapi({
  example: { messages: "180d", memories: [{ kind: "episode", keep: "90d" }] },
});
export type Retention = z.infer<typeof Retention>;

/** Something of it: a call that lost its body takes no rule away. */
export const RetentionBody = Retention.refine(
  ({ messages, memories = [] }) => messages !== undefined || memories.length > 0,
  "sets nothing: it has `messages` or `memories`; a DELETE takes all away",
).openapi("RetentionBody");

const counts = {
  threads: integer("Threads that go as a whole."),
  messages: integer("Messages, those of such threads included."),
  memories: z.int(),
};
export const RetentionCounts = z.object(counts).openapi("RetentionCounts");
export type RetentionCounts = z.infer<typeof RetentionCounts>;

export const UserRetention = shape("UserRetention", {
  own: Retention.openapi({ description: "The user's own rules." }),
  tenant: Retention.openapi({ description: "The tenant's rules, as they hold for this user." }),
  due: RetentionCounts.openapi({ description: "What is past its time by all of these now." }),
  nextAt: timestamp.optional().openapi({ description: "When it is deleted, or looked for again." }),
  last: optional(z.object({ at: timestamp, ...counts }), "The last deletion."),
});
export type UserRetention = z.infer<typeof UserRetention>;

export const TenantRetention = shape("TenantRetention", {
  rules: Retention,
  status: z.enum(["none", "running", "done"]).openapi({
    description: "`running`: the cron still tells the users of the rules, 500 at a time.",
  }),
  users: integer("How many users know the rules; or are counted in `due`."),
  due: RetentionCounts.optional().describe("Of a dry run: what these rules would delete of `users` users."),
  cursor: string("Of a dry run: send it with the same rules to count the next users.").optional(),
});
export type TenantRetention = z.infer<typeof TenantRetention>;

const dryRun = z.enum(["true", "false"]).optional().openapi({
  description: "`true`: stores and deletes nothing, and counts what these rules would delete.",
});
export const RetentionQuery = z.strictObject({ dryRun });
export const TenantRetentionQuery = z.strictObject({ dryRun, cursor });
