import type { AuditLog } from "../../platform/d1/audit-log.ts";
import type { AuditRow } from "../../platform/d1/tables.ts";
import { retryOnReset } from "../../platform/retry-on-reset.ts";

/**
 * Writes an event behind the answer, and never rejects. A call is not refused because the log is down, not even one that
 * deletes: to be forgotten is a person's right, and the deletion is done when its event is written. What D1 does not take
 * in four tries goes to the Worker's own log, whole.
 */
export async function writeEvent(auditLog: AuditLog, event: AuditRow): Promise<void> {
  try {
    await retryOnReset(() => auditLog.add(event));
  } catch (error) {
    console.error({ message: "an audit event could not be stored", event, error: String(error) });
  }
}
