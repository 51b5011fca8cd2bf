import type { AlarmScheduler } from "./alarm-scheduler.ts";
import type { TracedAlarm, TracedChore } from "../../src/platform/traces/traces.ts";
import { Failures } from "./failures.ts";
import { turn } from "../../src/platform/turn.ts";

/** Idempotent, bounded work of an alarm. `nextDue`: when to run next, or null. */
export interface Chore {
  run(now: number): Promise<void> | void;
  nextDue(now: number): number | null;
}

/** The first of some times at which work is due; null if none is. */
export const earliest = (...times: readonly (number | null)[]): number | null =>
  times.reduce(
    (first, time) => (first === null || time === null ? (first ?? time) : Math.min(first, time)),
    null,
  );

/** A chore that fails for good still rings an alarm, which costs a row and a request. */
const LAST_RETRY_MS = 60 * 60_000;

type ChoresDependencies = {
  sql: SqlStorage;
  alarms: AlarmScheduler;
  now: () => number;
  /** Hears of each chore that failed. */
  onFailure?: (chore: string) => void;
  /** Hears of each alarm in which a chore changed a row or failed. */
  onRun?: (alarm: TracedAlarm) => void;
};

/**
 * Runs the chores of an object's alarm. A chore that throws is logged and retried (after 5 s at most, doubling to 1 h), and stops
 * no other chore. The platform retries an alarm that throws six times, and then gives it up.
 */
export class Chores {
  readonly #deps: ChoresDependencies;
  readonly #chores: [name: string, Chore][];
  readonly #failures: Failures;

  constructor(deps: ChoresDependencies, chores: Readonly<Record<string, Chore>>) {
    this.#deps = deps;
    this.#chores = Object.entries(chores);
    this.#failures = new Failures(deps.sql);
  }

  async run(): Promise<void> {
    const { alarms, now, onRun } = this.#deps;
    alarms.fired();
    const began = now();
    const failed = new Set<string>();
    const done: TracedChore[] = [];
    let changed = this.#changed();
    for (const [name, chore] of this.#chores) {
      const from = now();
      try {
        await chore.run(from);
        // A turn takes two milliseconds. Most chores find nothing to do, and then change no row.
        if (changed === this.#changed()) continue;
        done.push({ name, from, to: now(), isFailed: false });
        await turn();
        changed = this.#changed();
      } catch (error) {
        this.#log(name, error);
        failed.add(name);
        done.push({ name, from, to: now(), isFailed: true });
      }
    }
    if (done.length > 0) onRun?.({ from: began, to: now(), chores: done });
    // After all have run: one may make work for another.
    for (const [name, chore] of this.#chores)
      alarms.scheduleBy(failed.has(name) ? this.#retry(name) : this.#nextDue(name, chore));
  }

  /** The rows that were changed since the object woke. */
  #changed(): number {
    return this.#deps.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
  }

  #nextDue(name: string, chore: Chore): number | null {
    try {
      const due = chore.nextDue(this.#deps.now());
      this.#failures.succeeded(nameOf(name));
      return due;
    } catch (error) {
      this.#log(name, error);
      return this.#retry(name);
    }
  }

  #log(chore: string, error: unknown): void {
    console.error({ message: "a chore of the alarm failed", chore, error: String(error) });
    this.#deps.onFailure?.(chore);
  }

  #retry(name: string): number {
    return this.#failures.failed(nameOf(name), { now: this.#deps.now(), last: LAST_RETRY_MS });
  }
}

const nameOf = (chore: string): string => `chore ${chore}`;
