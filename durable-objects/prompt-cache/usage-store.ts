import { part, raw, SqlStore } from "../storage/sql.ts";
import type { Usage, UsagePage, UsageRange, UsageSums } from "../../src/contract/prompt-cache.ts";

const inRange = ({ from, to, model }: UsageRange) => part`
  hour BETWEEN ${from} AND ${to} ${model === undefined ? raw("") : part`AND model = ${model}`}`;

/** Token counts of the providers, by hour, provider and model. */
export class CacheUsageStore extends SqlStore {
  add(usage: Usage, expiresAt: number): void {
    const { hour, provider, model, calls, cachedInputTokens, uncachedInputTokens } = usage;
    this.sql.run`
      INSERT INTO usage (hour, provider, model, calls, cached_input_tokens, uncached_input_tokens, expires_at)
      VALUES (${hour}, ${provider}, ${model}, ${calls}, ${cachedInputTokens}, ${uncachedInputTokens}, ${expiresAt})
      ON CONFLICT (hour, provider, model) DO UPDATE SET
        calls = calls + excluded.calls,
        cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
        uncached_input_tokens = uncached_input_tokens + excluded.uncached_input_tokens`;
  }

  list({ after: [hour, provider, model] = [-1, "", ""], limit, ...range }: UsagePage): Usage[] {
    return this.sql.rows`
      SELECT provider, model, hour, calls, cached_input_tokens AS "cachedInputTokens",
        uncached_input_tokens AS "uncachedInputTokens"
      FROM usage WHERE ${inRange(range)} AND (hour, provider, model) > (${hour}, ${provider}, ${model})
      ORDER BY hour, provider, model LIMIT ${limit}`;
  }

  sums(range: UsageRange): UsageSums {
    return this.sql.one`
      SELECT COALESCE(SUM(calls), 0) AS calls, COALESCE(SUM(cached_input_tokens), 0) AS "cachedInputTokens",
        COALESCE(SUM(uncached_input_tokens), 0) AS "uncachedInputTokens"
      FROM usage WHERE ${inRange(range)}`;
  }
}
