import { CairnError } from "./error.ts";
import type { RetryOptions } from "./options.ts";

/** The clock and the random numbers of the client; its tests have their own. */
export type Time = {
  now: () => number;
  /** From 0 up to, not including, 1. */
  random: () => number;
  /** Rejects with the signal's reason if that comes first. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
};

const FIRST_MS = 250;
const LONGEST_MS = 8_000;
const ATTEMPTS = 4;
const WITHIN_MS = 30_000;

/** That Cairn, or what stands before it, is busy or away: it may be there in a moment. */
const PASSING: readonly number[] = [429, 502, 503, 504];

/** True if the same request may fare better later: it got no answer, or one that says so. */
export const isPassing = (error: unknown): error is CairnError =>
  error instanceof CairnError && (error.code === "network" || PASSING.includes(error.status));

/**
 * The wait before a call is repeated, in milliseconds: exponential back-off with full jitter, but not less than the
 * answer's `Retry-After`. Null after the last attempt, or past the deadline.
 */
export function delayOf(
  {
    attempt,
    elapsedMs,
    retryAfter = 0,
  }: { attempt: number; elapsedMs: number; retryAfter?: number | undefined },
  { attempts = ATTEMPTS, withinMs = WITHIN_MS }: RetryOptions,
  random: () => number,
): number | null {
  if (attempt >= attempts) return null;
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  const delay = Math.max(retryAfter * 1000, random() * ceiling);
  return elapsedMs + delay > withinMs ? null : delay;
}

/** The platform's. */
export const realTime: Time = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const aborted = () => {
        clearTimeout(timer);
        reject(reasonOf(signal));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      }, ms);
      signal?.addEventListener("abort", aborted, { once: true });
    }),
};

// A reason is whatever the caller gave to `abort`; a rejection wants an Error.
const reasonOf = (signal: AbortSignal | undefined): Error => signal?.reason as Error;
