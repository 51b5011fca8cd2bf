import { v7 as uuidv7 } from "uuid";
import { type UserHash, userHash } from "../../domain/ids.ts";
import type { AuditRow } from "../../platform/d1/tables.ts";
import type { Caller } from "../auth/claims.ts";

/** An event: who did what to whose memory, without contents. */
type AuditEvent = {
  /** An operation as the API describes it (`DELETE /v1/threads/{id}`), or `POST /mcp <tool>`. */
  action: string;
  /** `ok`, or the code of the error. */
  outcome: string;
  /** Absent where no token was accepted. */
  caller?: Caller;
  /** The owner of the memory; absent where the call concerns the tenant. */
  user?: UserHash;
  requestId?: string;
  /** The revoked token or the time that was set; or `dryRun`. */
  about?: string;
};

/** The row of an event at `now`. Users appear as hashes only. */
export async function auditRow({ caller, ...event }: AuditEvent, now: number): Promise<AuditRow> {
  return {
    id: uuidv7({ msecs: now }),
    at: now,
    action: event.action,
    outcome: event.outcome,
    actor: caller === undefined || caller.user === "*" ? (caller?.user ?? null) : await userHash(caller.user),
    tokenId: caller?.tokenId ?? null,
    userHash: event.user ?? null,
    requestId: event.requestId ?? null,
    about: event.about ?? null,
    count: 1,
  };
}
