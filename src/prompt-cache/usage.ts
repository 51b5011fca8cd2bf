import { fail, ok, type Result } from "../errors.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
/** How long usage is kept. */
export const KEPT_MS = 90 * DAY_MS;

export const hourOf = (time: number): number => time - (time % HOUR_MS);

/** The hour of a report, refused if it is more than a day ahead: it would be kept for as long as it is wrong. */
export const reportedHour = (at: number, now: number): Result<number> =>
  at > now + DAY_MS
    ? fail("invalid_request", { details: [{ path: "body.at", message: "is more than a day ahead" }] })
    : ok(hourOf(at));

type Tokens = { cachedInputTokens: number; uncachedInputTokens: number };

/** The part of the input tokens that came from a cache, 0 to 1; 0 without any. */
export function hitRate({ cachedInputTokens, uncachedInputTokens }: Tokens): number {
  const all = cachedInputTokens + uncachedInputTokens;
  return all === 0 ? 0 : cachedInputTokens / all;
}
