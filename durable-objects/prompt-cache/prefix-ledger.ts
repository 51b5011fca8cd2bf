import { SqlStore } from "../storage/sql.ts";
import { type PrefixUse, usedAgain } from "../../src/domain/prompt-cache/anthropic.ts";

/** The last use of each prompt prefix, and its lifetime at the provider. One ledger a (namespace, model). */
export class PrefixLedger extends SqlStore {
  /** Records a use of these prefixes. Returns the previous use of each, or null. */
  use(ledger: string, hashes: readonly string[], use: PrefixUse): (PrefixUse | null)[] {
    return hashes.map((hash) => {
      const [before = null] = this.sql.rows<PrefixUse>`
        SELECT lifetime_ms AS "lifetimeMs", last_used_at AS "usedAt" FROM warm_prefixes
        WHERE ledger = ${ledger} AND hash = ${hash}`;
      const { lifetimeMs, usedAt } = usedAgain(before, use);
      this.sql.run`
        INSERT INTO warm_prefixes (ledger, hash, lifetime_ms, last_used_at, expires_at)
        VALUES (${ledger}, ${hash}, ${lifetimeMs}, ${usedAt}, ${usedAt + lifetimeMs})
        ON CONFLICT (ledger, hash) DO UPDATE SET
          lifetime_ms = excluded.lifetime_ms, last_used_at = excluded.last_used_at, expires_at = excluded.expires_at`;
      return before;
    });
  }
}
