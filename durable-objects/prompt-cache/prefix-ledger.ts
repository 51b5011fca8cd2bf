import { ExpirySweep } from "../storage/expiry-sweep.ts";
import { type PrefixUse, usedAgain } from "../../src/domain/prompt-cache/anthropic.ts";

/** The last use of each prompt prefix, and its lifetime at the provider. One ledger a (namespace, model). */
export class PrefixLedger {
  readonly expirySweep: ExpirySweep;
  readonly #sql: SqlStorage;

  constructor(object: DurableObjectState) {
    this.#sql = object.storage.sql;
    this.expirySweep = new ExpirySweep(object, "warm_prefixes");
  }

  /** Records a use of these prefixes. Returns the previous use of each, or null. */
  use(ledger: string, hashes: readonly string[], use: PrefixUse): (PrefixUse | null)[] {
    return hashes.map((hash) => {
      const before = this.#find(ledger, hash);
      const after = usedAgain(before, use);
      this.#sql.exec(
        `INSERT INTO warm_prefixes (ledger, hash, lifetime_ms, last_used_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (ledger, hash) DO UPDATE SET lifetime_ms = ?3, last_used_at = ?4, expires_at = ?5`,
        ledger,
        hash,
        after.lifetimeMs,
        after.usedAt,
        after.usedAt + after.lifetimeMs,
      );
      return before;
    });
  }

  #find(ledger: string, hash: string): PrefixUse | null {
    const [row] = this.#sql
      .exec<{
        lifetime_ms: number;
        last_used_at: number;
      }>("SELECT lifetime_ms, last_used_at FROM warm_prefixes WHERE ledger = ? AND hash = ?", ledger, hash)
      .toArray();
    return row === undefined ? null : { lifetimeMs: row.lifetime_ms, usedAt: row.last_used_at };
  }
}
