import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { cursor, pageLimit, pageShape, text, timestamp, userId } from "./bounds.ts";

const time = z
  .string()
  .regex(/^\d{1,15}$/, "is not a time in milliseconds since the epoch")
  .transform(Number)
  .optional()
  .openapi({ type: "integer" });

export const ListAuditQuery = z.strictObject({
  user: userId.optional().openapi({
    param: { name: "user", in: "query" },
    description: "Only events about this user's memory.",
  }),
  action: text(limits.name).optional().openapi({
    example: "DELETE /v1/threads/{id}",
    description:
      "Only this operation, as events name it, or `token.refused`, `access.refused` or `quarantine.expired`. An unknown operation of the API is 400.",
  }),
  from: time.openapi({ description: "Only from this time on, in milliseconds since the epoch." }),
  to: time.openapi({ description: "Only before this time." }),
  limit: pageLimit(100),
  cursor,
});
export type ListAuditQuery = z.infer<typeof ListAuditQuery>;

export const AuditedEvent = z
  .object({
    id: z.string(),
    at: timestamp,
    action: z.string().openapi({ example: "DELETE /v1/users/{user}/memories/{id}" }),
    outcome: z.string().openapi({ description: "`ok`, or the code of the error.", example: "ok" }),
    actor: z
      .string()
      .optional()
      .openapi({ description: "Hash of the token's user, or `*`. Absent without a valid token." }),
    tokenId: z.string().optional().openapi({ description: "The token's `jti`." }),
    userHash: z.string().optional().openapi({
      description:
        "Hash of the memory's owner, the first part of a thread id. Absent for a call about no user.",
    }),
    requestId: z
      .string()
      .optional()
      .openapi({ description: "The last request, where `count` is more than 1." }),
    about: z.string().optional().openapi({
      description:
        "The revoked token, or the time that was set; `dryRun` for a call that changes nothing; the decision of a review.",
    }),
    count: z.int().openapi({
      description:
        "1; or the number of equal refusals in one minute in one isolate, at least half of the true count; or of memories whose wait in quarantine ended.",
    }),
  })
  .openapi("AuditedEvent");
export type AuditedEvent = z.infer<typeof AuditedEvent>;

export const AuditEvents = pageShape(AuditedEvent).openapi("AuditEvents");
export type AuditEvents = z.infer<typeof AuditEvents>;
