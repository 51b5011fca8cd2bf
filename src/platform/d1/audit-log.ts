import { and, desc, eq, gte, inArray, lt, sql, type SQL } from "drizzle-orm";
import type { UserHash } from "../../domain/ids.ts";
import { retryOnReset } from "../retry-on-reset.ts";
import { D1Store } from "./d1-store.ts";
import { audit, type AuditRow } from "./tables.ts";

export type AuditPage = {
  /** Only events about this user's memory. */
  user?: UserHash;
  action?: string;
  /** Inclusive and exclusive bounds, in milliseconds. */
  from?: number;
  to?: number;
  /** The (at, id) after which the page begins. */
  after?: readonly [at: number, id: string];
  limit: number;
};

/**
 * Writes an event, and never rejects: a deletion must not fail because the log is down. An event that D1 refuses four times
 * goes to the Worker's own log.
 */
export async function writeEvent(auditLog: Pick<AuditLog, "add">, event: AuditRow): Promise<void> {
  try {
    await retryOnReset(() => auditLog.add(event));
  } catch (error) {
    console.error({ message: "an audit event could not be stored", event, error: String(error) });
  }
}

/** The audit log. Every method rejects when D1 does not answer. */
export class D1AuditLog extends D1Store {
  /** Writes an event, or raises the count of an existing one. Safe to repeat. */
  async add(event: AuditRow): Promise<void> {
    // Counts may arrive out of order: the greater one is later, and has the last request.
    const later = sql`${event.count} > ${audit.count}`;
    const count = sql`MAX(${audit.count}, ${event.count})`;
    const requestId = sql`CASE WHEN ${later} THEN ${event.requestId} ELSE ${audit.requestId} END`;
    await this.db
      .insert(audit)
      .values(event)
      .onConflictDoUpdate({ target: audit.id, set: { count, requestId } });
  }

  /** Newest first. */
  async list({ user, action, from, to, after, limit }: AuditPage): Promise<AuditRow[]> {
    const filters: SQL[] = [];
    if (user !== undefined) filters.push(eq(audit.userHash, user));
    if (action !== undefined) filters.push(eq(audit.action, action));
    if (from !== undefined) filters.push(gte(audit.at, from));
    if (to !== undefined) filters.push(lt(audit.at, to));
    if (after !== undefined) filters.push(sql`(${audit.at}, ${audit.id}) < (${after[0]}, ${after[1]})`);
    return this.db
      .select()
      .from(audit)
      .where(and(...filters))
      .orderBy(desc(audit.at), desc(audit.id))
      .limit(limit);
  }

  /** Deletes at most `limit` events before `time`, oldest first. Returns the number. */
  async prune(time: number, limit: number): Promise<number> {
    const oldest = this.db
      .select({ id: audit.id })
      .from(audit)
      .where(lt(audit.at, time))
      .orderBy(audit.at)
      .limit(limit);
    const done = await this.db.delete(audit).where(inArray(audit.id, oldest));
    return done.meta.changes;
  }
}

export type AuditLog = Pick<D1AuditLog, keyof D1AuditLog>;
