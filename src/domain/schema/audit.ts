import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { cursor, pageLimit, pageShape, text, timestamp, userId } from "./bounds.ts";
import { integer, optional, shape, string } from "./described.ts";

const time = z
  .string()
  .regex(/^\d{1,15}$/, "is not a time in milliseconds since the epoch")
  .transform(Number)
  .optional()
  .openapi({ type: "integer" });

export const ListAuditQuery = z.strictObject({
  user: optional(userId, "Only events about this user's memory."),
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

export const AuditedEvent = shape("AuditedEvent", {
  id: z.string(),
  at: timestamp,
  action: z.string().openapi({ example: "DELETE /v1/users/{user}/memories/{id}" }),
  outcome: z.string().openapi({ description: "`ok`, or the code of the error.", example: "ok" }),
  actor: string("Hash of the token's user, or `*`. Absent without a valid token.").optional(),
  tokenId: string("The token's `jti`.").optional(),
  userHash: string(
    "Hash of the memory's owner, the first part of a thread id. Absent for a call about no user.",
  ).optional(),
  requestId: string("The last request, where `count` is more than 1.").optional(),
  about: string(
    "The revoked token, or the time that was set; `dryRun` for a call that changes nothing; the decision of a review.",
  ).optional(),
  count: integer(
    "1; or the number of equal refusals in one minute in one isolate, at least half of the true count; or of memories whose wait in quarantine ended.",
  ),
});
export type AuditedEvent = z.infer<typeof AuditedEvent>;

export const AuditEvents = pageShape(AuditedEvent).openapi("AuditEvents");
export type AuditEvents = z.infer<typeof AuditEvents>;
