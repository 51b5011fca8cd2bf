import { ExpirySweep } from "../storage/expiry-sweep.ts";
import type { Usage, UsagePage, UsageRange, UsageSums } from "../../src/contract/prompt-cache.ts";

const IN_RANGE = "hour BETWEEN ?1 AND ?2 AND (?3 IS NULL OR model = ?3)";

/** Token counts of the providers, by hour, provider and model. */
export class CacheUsageStore {
  readonly expirySweep: ExpirySweep;
  readonly #sql: SqlStorage;

  constructor(object: DurableObjectState) {
    this.#sql = object.storage.sql;
    this.expirySweep = new ExpirySweep(object, "usage");
  }

  add(usage: Usage, expiresAt: number): void {
    this.#sql.exec(
      `INSERT INTO usage (hour, provider, model, calls, cached_input_tokens, uncached_input_tokens, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (hour, provider, model) DO UPDATE SET
         calls = calls + excluded.calls,
         cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
         uncached_input_tokens = uncached_input_tokens + excluded.uncached_input_tokens`,
      usage.hour,
      usage.provider,
      usage.model,
      usage.calls,
      usage.cachedInputTokens,
      usage.uncachedInputTokens,
      expiresAt,
    );
  }

  list({ from, to, model, after, limit }: UsagePage): Usage[] {
    return this.#sql
      .exec<Usage>(
        `SELECT provider, model, hour, calls, cached_input_tokens AS cachedInputTokens,
           uncached_input_tokens AS uncachedInputTokens
         FROM usage WHERE ${IN_RANGE} AND (hour, provider, model) > (?4, ?5, ?6)
         ORDER BY hour, provider, model LIMIT ?7`,
        from,
        to,
        model ?? null,
        ...(after ?? [-1, "", ""]),
        limit,
      )
      .toArray();
  }

  sums({ from, to, model }: UsageRange): UsageSums {
    return this.#sql
      .exec<UsageSums>(
        `SELECT COALESCE(SUM(calls), 0) AS calls, COALESCE(SUM(cached_input_tokens), 0) AS cachedInputTokens,
           COALESCE(SUM(uncached_input_tokens), 0) AS uncachedInputTokens
         FROM usage WHERE ${IN_RANGE}`,
        from,
        to,
        model ?? null,
      )
      .one();
  }
}
