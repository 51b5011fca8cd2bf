import { v7 as uuidv7 } from "uuid";
import type { AuditRow } from "../../platform/d1/tables.ts";
import { type UserHash, userHash } from "../../domain/ids.ts";
import type { Caller } from "../auth/claims.ts";

/** What happened: never what it was about. */
export type AuditEvent = {
  /** An operation as the API describes it (`DELETE /v1/threads/{id}`), or `token.refused`. */
  action: string;
  /** `ok`, or the code of the error. */
  outcome: string;
  /** Absent where nobody was known. */
  caller?: Caller;
  /** Whose memory; absent where it was no one user's. */
  user?: UserHash;
  requestId?: string;
  /** Which token or time of the tenant's was set; `dryRun`, where nothing was to be done. */
  about?: string;
};

/** The event as it is kept, at `now`: users by their hashes only. */
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
