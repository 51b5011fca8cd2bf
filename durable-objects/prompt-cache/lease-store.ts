import { newLeaseId } from "../../src/domain/ids.ts";
import { BEHIND_CURSOR, prefixRange, UNDER_PREFIX } from "../storage/entry-store.ts";
import { ExpirySweep } from "../storage/expiry-sweep.ts";
import type { Lease } from "../../src/contract/prompt-cache.ts";

/** The leases of an object. SQLite keeps them over an eviction. A lease is current while `now < expiresAt`. */
export class LeaseStore {
  readonly expirySweep: ExpirySweep;
  readonly #sql: SqlStorage;

  constructor(object: DurableObjectState) {
    this.#sql = object.storage.sql;
    this.expirySweep = new ExpirySweep(object, "leases");
  }

  current(key: string, now: number): Lease | null {
    const [row] = this.#sql
      .exec<{
        id: string;
        expires_at: number;
      }>("SELECT id, expires_at FROM leases WHERE key = ? AND expires_at > ?", key, now)
      .toArray();
    return row === undefined ? null : { id: row.id, expiresAt: row.expires_at };
  }

  /** The current leases of keys with a prefix that follow `after`, in byte order. */
  list(
    { prefix, after, limit }: { prefix: string; after?: string; limit: number },
    now: number,
  ): { key: string; expiresAt: number }[] {
    return this.#sql
      .exec<{ key: string; expiresAt: number }>(
        `SELECT key, expires_at AS expiresAt FROM leases
         WHERE ${after === undefined ? UNDER_PREFIX : BEHIND_CURSOR} AND expires_at > ? ORDER BY key LIMIT ?`,
        after ?? prefix,
        prefixRange(prefix)[1],
        now,
        limit,
      )
      .toArray();
  }

  /** Replaces the lease of the key. */
  grant(key: string, leaseMs: number, now: number): Lease {
    const lease = { id: newLeaseId(), expiresAt: now + leaseMs };
    this.#sql.exec(
      `INSERT INTO leases (key, id, expires_at) VALUES (?1, ?2, ?3)
       ON CONFLICT (key) DO UPDATE SET id = ?2, expires_at = ?3`,
      key,
      lease.id,
      lease.expiresAt,
    );
    return lease;
  }

  end(key: string): void {
    this.#sql.exec("DELETE FROM leases WHERE key = ?", key);
  }
}
