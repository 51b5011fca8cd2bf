import { fail, ok, type Result } from "../errors.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** The life of stored usage. */
export const LIFE_MS = 90 * DAY_MS;

export const hourOf = (time: number): number => time - (time % HOUR_MS);

/** The hour of a report; refused if it is more than a day ahead, or so old that it would count nowhere. */
export function reportedHour(at: number, now: number): Result<number> {
  if (at > now + DAY_MS) return wrongTime("is more than a day ahead");
  if (at < now - LIFE_MS)
    return wrongTime("is more than 90 days ago (it is in milliseconds since the epoch)");
  return ok(hourOf(at));
}

const wrongTime = (message: string) => fail("invalid_request", { details: [{ path: "body.at", message }] });

type Tokens = { cachedInputTokens: number; uncachedInputTokens: number };

/** The part of the input tokens that came from a cache, 0 to 1; 0 without any. */
export function hitRate({ cachedInputTokens, uncachedInputTokens }: Tokens): number {
  const all = cachedInputTokens + uncachedInputTokens;
  return all === 0 ? 0 : cachedInputTokens / all;
}
