import { hourOf } from "../domain/prompt-cache/usage.ts";
import { bothHours, oneRecall, type RecallHour } from "../domain/usage/recall-hours.ts";

/** `hits`: that it answered, for the trace of the call. */
export type MeteredRecall = { ms: number; hits: number; abstained: boolean; degraded: boolean };

const MINUTE_MS = 60_000;

/**
 * Counts the recalls of this isolate by the hour. What is counted is handed over at most once a minute, with a later call: an isolate
 * that ends, or gets no call any more, keeps the last ones to itself.
 */
export class RecallMeter {
  #hours = new Map<number, RecallHour>();
  #handedOver = -Infinity;

  count(now: number, one: MeteredRecall): void {
    const hour = hourOf(now);
    const counted = oneRecall(hour, one);
    const known = this.#hours.get(hour);
    this.#hours.set(hour, known === undefined ? counted : bothHours(known, counted));
  }

  /** The counts since the last hand-over; nothing within a minute of that. */
  handOver(now: number): RecallHour[] {
    if (this.#hours.size === 0 || now < this.#handedOver + MINUTE_MS) return [];
    this.#handedOver = now;
    const hours = [...this.#hours.values()];
    this.#hours = new Map();
    return hours;
  }
}
