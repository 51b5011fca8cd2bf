/** The recalls of an hour: how many, and how long they took. `times`: how many are in each step of `boundOf`. */
export type RecallHour = {
  hour: number;
  calls: number;
  abstained: number;
  degraded: number;
  times: readonly number[];
};

/** Steps of a time, each longer than the one before by a fifth: from 1 ms to 30 s. */
const STEPS = 58;
const GROWTH = 1.2;

const stepOf = (ms: number): number =>
  Math.min(STEPS - 1, Math.max(0, Math.ceil(Math.log(Math.max(1, ms)) / Math.log(GROWTH))));
/** The longest time of a step, in milliseconds. */
const boundOf = (step: number): number => Math.round(GROWTH ** step);

/** One recall, as an hour of one. */
export const oneRecall = (
  hour: number,
  { ms, abstained, degraded }: { ms: number; abstained: boolean; degraded: boolean },
): RecallHour => ({
  hour,
  calls: 1,
  abstained: Number(abstained),
  degraded: Number(degraded),
  times: Array.from({ length: STEPS }, (_, step) => Number(step === stepOf(ms))),
});

/** Two counts of one hour, together. */
export const bothHours = (a: RecallHour, b: RecallHour): RecallHour => ({
  hour: a.hour,
  calls: a.calls + b.calls,
  abstained: a.abstained + b.abstained,
  degraded: a.degraded + b.degraded,
  times: a.times.map((n, step) => n + (b.times[step] ?? 0)),
});

/** The time, in milliseconds, within which this share of the recalls was answered: at most a fifth too long. */
export function percentile({ calls, times }: RecallHour, share: number): number {
  let left = calls * share;
  const step = times.findIndex((n) => (left -= n) <= 0);
  return boundOf(step === -1 ? STEPS - 1 : step);
}
