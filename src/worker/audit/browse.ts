import { decodeCursor, pageOf } from "../../domain/cursor.ts";
import type { AuditLog } from "../../platform/d1/audit-log.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { AuditRow } from "../../platform/d1/tables.ts";
import { ok, type Result } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import type { AuditedEvent, AuditEvents, ListAuditQuery } from "../../domain/schema/audit.ts";

/** Its name in cursors. */
const LIST = "audit";

/** A page of events, newest first. */
export async function listAudit(
  auditLog: AuditLog,
  { user, action, from, to, limit = 100, cursor }: ListAuditQuery,
): Promise<Result<AuditEvents>> {
  const after = decodeCursor(LIST, cursor, ["number", "string"]);
  if (!after.ok) return after;
  const filter = {
    ...(user !== undefined && { user: await userHash(user) }),
    ...(action !== undefined && { action }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(after.value && { after: after.value }),
  };
  const rows = await d1Result(() => auditLog.list({ ...filter, limit: limit + 1 }));
  if (!rows.ok) return rows;
  return ok(pageOf(rows.value, limit, { list: LIST, show: viewOf, keyOf: ({ at, id }) => [at, id] }));
}

const viewOf = (row: AuditRow): AuditedEvent => ({
  id: row.id,
  at: row.at,
  action: row.action,
  outcome: row.outcome,
  ...(row.actor !== null && { actor: row.actor }),
  ...(row.tokenId !== null && { tokenId: row.tokenId }),
  ...(row.userHash !== null && { userHash: row.userHash }),
  ...(row.requestId !== null && { requestId: row.requestId }),
  count: row.count,
});
