import { entrySchema } from "../storage/entry-store.ts";
import { failuresSchema } from "../storage/failures.ts";
import type { Migration } from "../storage/migrate.ts";
import { idempotencySchema } from "../storage/idempotency-store.ts";

export const migrations: readonly Migration[] = [
  { id: 1, description: "cache entries", sql: entrySchema },
  {
    id: 2,
    description:
      "leases of single flight, the ledger of warm prefixes, usage by the hour, answers of reports",
    sql: `
      ${idempotencySchema}
      ${failuresSchema}

      CREATE TABLE leases (
        key TEXT PRIMARY KEY,
        id TEXT NOT NULL,
        expires_at INTEGER NOT NULL
      );
      CREATE INDEX leases_by_expiry ON leases (expires_at);

      CREATE TABLE warm_prefixes (
        ledger TEXT NOT NULL,
        hash TEXT NOT NULL,
        lifetime_ms INTEGER NOT NULL,
        last_used_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (ledger, hash)
      );
      CREATE INDEX warm_prefixes_by_expiry ON warm_prefixes (expires_at);

      CREATE TABLE usage (
        hour INTEGER NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        calls INTEGER NOT NULL,
        cached_input_tokens INTEGER NOT NULL,
        uncached_input_tokens INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (hour, provider, model)
      );
      CREATE INDEX usage_by_expiry ON usage (expires_at);

      -- times: a JSON array, how many recalls took how long (src/domain/usage/recall-hours.ts).
      CREATE TABLE recall_hours (
        hour INTEGER PRIMARY KEY,
        calls INTEGER NOT NULL,
        abstained INTEGER NOT NULL,
        degraded INTEGER NOT NULL,
        times TEXT NOT NULL,
        expires_at INTEGER NOT NULL
      );
      CREATE INDEX recall_hours_by_expiry ON recall_hours (expires_at);
    `,
  },
];
