import { CairnError } from "./error.ts";
import type { AttemptOptions, RetryOptions } from "./options.ts";

/** The clock and the random numbers of the client; its tests have their own. */
export type Time = {
  now: () => number;
  /** From 0 up to, not including, 1. */
  random: () => number;
  /** Rejects with the signal's reason if that comes first. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Runs something after a time, unless it is cancelled by the function that this returns. */
  after: (ms: number, run: () => void) => () => void;
};

/** Limits of an attempt in milliseconds: a silence of the server, and the whole attempt. */
export type AttemptLimits = { silenceMs: number; wholeMs: number };

const FIRST_MS = 250;
const LONGEST_MS = 8_000;
const ATTEMPTS = 4;
const WITHIN_MS = 30_000;
const ATTEMPT_MS = 10_000;
const LONG_ATTEMPT_MS = 120_000;
/** The longest answer to an ordinary call. */
const ANSWER_MS = 120_000;
/** As a line of 2 Mbit/s sends in a second. */
const BYTES_PER_SECOND = 256_000;

/** That Cairn, or what stands before it, is busy or away: it may be there in a moment. */
const PASSING: readonly number[] = [429, 502, 503, 504];

/** True if the same request may fare better later: it got no answer, or one that says so. */
export const isPassing = (error: unknown): error is CairnError =>
  error instanceof CairnError &&
  (error.code === "network" || error.code === "timeout" || PASSING.includes(error.status));

/** A call whose answer takes long by design: a wait of so many milliseconds, or as much as an import. */
export type Long = number | true | undefined;

/**
 * The limits of an attempt. A retry begins within `withinMs` of the first attempt and waits no longer than that, unless the
 * call takes long. A large body has the time that a slow line needs to send it, and an answer that keeps coming has two
 * minutes. Nothing goes on for longer than `endsMs` from the first attempt.
 */
export function limitsOf(
  { attemptMs = ATTEMPT_MS, longAttemptMs = LONG_ATTEMPT_MS, retry }: AttemptOptions,
  {
    attempt,
    elapsedMs,
    endsMs = Infinity,
    long,
    bytes,
  }: { attempt: number; elapsedMs: number; endsMs?: number; long: Long; bytes: number },
): AttemptLimits {
  const endMs = endsMs - elapsedMs;
  const sendingMs = Math.floor(bytes / BYTES_PER_SECOND) * 1_000;
  if (long === true) return { silenceMs: Math.max(attemptMs, longAttemptMs) + sendingMs, wholeMs: endMs };
  const { withinMs = WITHIN_MS } = retry || {};
  const left = attempt === 1 ? Infinity : withinMs - elapsedMs;
  const silenceMs = Math.min(attemptMs + (long ?? 0), left) + sendingMs;
  return { silenceMs, wholeMs: Math.min(Math.max(silenceMs, ANSWER_MS), endMs) };
}

/**
 * The wait before a call is repeated, in milliseconds: exponential back-off with full jitter, but not less than the
 * answer's `Retry-After`. Null after the last attempt, or past the deadline.
 */
export function delayOf(
  {
    attempt,
    elapsedMs,
    endsMs = Infinity,
    retryAfter = 0,
  }: { attempt: number; elapsedMs: number; endsMs?: number; retryAfter?: number | undefined },
  { attempts = ATTEMPTS, withinMs = WITHIN_MS }: RetryOptions,
  random: () => number,
): number | null {
  if (attempt >= attempts) return null;
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  const delay = Math.max(retryAfter * 1000, random() * ceiling);
  return elapsedMs + delay > Math.min(withinMs, endsMs) ? null : delay;
}

/** The platform's. */
export const realTime: Time = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(reasonOf(signal));
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
  after: (ms, run) => {
    // The longest delay of a timer; a longer one would end at once.
    const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

// A reason is whatever the caller gave to `abort`; a rejection wants an Error.
const reasonOf = (signal: AbortSignal | undefined): Error => signal?.reason as Error;
