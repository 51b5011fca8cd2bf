import { newLeaseId } from "../../src/domain/ids.ts";
import { keysUnder } from "../storage/key-range.ts";
import { SqlStore } from "../storage/sql.ts";
import type { Lease } from "../../src/contract/prompt-cache.ts";

/** The leases of an object. SQLite keeps them over an eviction. A lease is current while `now < expiresAt`. */
export class LeaseStore extends SqlStore {
  current(key: string, now: number): Lease | null {
    const [lease] = this.sql.rows<Lease>`
      SELECT id, expires_at AS "expiresAt" FROM leases WHERE key = ${key} AND expires_at > ${now}`;
    return lease ?? null;
  }

  /** The current leases of keys with a prefix that follow `after`, in byte order. */
  list(
    { prefix, after, limit }: { prefix: string; after?: string; limit: number },
    now: number,
  ): { key: string; expiresAt: number }[] {
    return this.sql.rows`
      SELECT key, expires_at AS "expiresAt" FROM leases
      WHERE ${keysUnder(prefix, after)} AND expires_at > ${now} ORDER BY key LIMIT ${limit}`;
  }

  /** Replaces the lease of the key. */
  grant(key: string, leaseMs: number, now: number): Lease {
    const lease = { id: newLeaseId(), expiresAt: now + leaseMs };
    this.sql.run`
      INSERT INTO leases (key, id, expires_at) VALUES (${key}, ${lease.id}, ${lease.expiresAt})
      ON CONFLICT (key) DO UPDATE SET id = excluded.id, expires_at = excluded.expires_at`;
    return lease;
  }

  end(key: string): void {
    this.sql.run`DELETE FROM leases WHERE key = ${key}`;
  }
}
