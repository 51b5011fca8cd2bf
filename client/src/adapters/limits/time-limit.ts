import { unlessAborted } from "../../attempt.ts";
import type { Cairn } from "../../cairn.ts";
import { timeoutError } from "../../error.ts";
import { realTime } from "../../retry.ts";

/** The limit of an adapter's memory work, which each adapter takes. */
export type TimeLimit = {
  /** The longest time for the memory work before a model's call, or for a call of a store, in milliseconds; 3,000 unless set. */
  timeoutMs?: number | undefined;
};

export const TIMEOUT_MS = 3_000;
/** The longest delay of a timer. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The outcome of work, whatever number of calls it makes; rejects with `timeout` at the limit, and with the reason of
 * `ended` if that aborts first. The signal ends the calls, and nobody waits for what ignores it.
 */
export function withinLimit<T>(
  { timeoutMs = TIMEOUT_MS }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
  ended?: AbortSignal,
): Promise<T> {
  const limit = new AbortController();
  // A runtime without `AbortSignal.any` throws here, and no caller takes that for an outage.
  const signal = ended === undefined ? limit.signal : AbortSignal.any([limit.signal, ended]);
  const cancel = realTime.after(timeoutMs, () => limit.abort(timeoutError(timeoutMs)));
  const begun = async () => work(signal);
  return unlessAborted(signal, begun()).finally(cancel);
}

/**
 * The client of a store: each of its calls ends within the limit, with its retries. A store that gives up on a call makes
 * no later one, so nothing is written behind the caller's back.
 */
export function limited<M extends object>(memory: M, { timeoutMs = TIMEOUT_MS }: TimeLimit): M {
  // A double may have some of the client's methods only; of a client, its own limited one has them all.
  return "within" in memory ? ((memory as unknown as Cairn).within(timeoutMs) as unknown as M) : memory;
}
