import type { Provider } from "../schema/prompt-cache.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * The time for which a provider may keep a cached prompt after its last use, in milliseconds. `ttlMs` is the lifetime that the caller
 * asks the provider for; a value that the provider does not know counts as its next lower one.
 *
 * - anthropic: 5 minutes, or an hour with `"ttl": "1h"`
 *   (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
 * - openai: in memory mostly 5 to 10 minutes, and never longer than an hour, which counts here: a prompt that is changed
 *   earlier may lose a cache. With `prompt_cache_retention: "24h"`, a day
 *   (https://developers.openai.com/api/docs/guides/prompt-caching).
 * - google: explicit caches live as long as they are asked to, an hour by default, however often they are used
 *   (https://ai.google.dev/gemini-api/docs/caching).
 */
export function cacheLifetimeMs(provider: Provider, ttlMs?: number): number {
  if (provider === "google") return ttlMs ?? HOUR_MS;
  const [usual, longer] = provider === "anthropic" ? [5 * MINUTE_MS, HOUR_MS] : [HOUR_MS, DAY_MS];
  return ttlMs !== undefined && ttlMs >= longer ? longer : usual;
}
