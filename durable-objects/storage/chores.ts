import { backOff } from "./back-off.ts";
import type { AlarmScheduler } from "./alarm-scheduler.ts";

/** Idempotent, bounded work of an alarm. `nextDue`: when to run next, or null. */
export type Chore = { name: string; run: () => Promise<void> | void; nextDue: () => number | null };

/**
 * Runs the chores of an object's alarm. A chore that throws is logged and retried (after 5 s, doubling to 5 min), and stops
 * no other chore. The platform retries an alarm that throws six times, and then gives it up.
 */
export class Chores {
  readonly #alarms: AlarmScheduler;
  readonly #now: () => number;
  /** Failures of each chore since its last success, counted while the object is awake. */
  readonly #failures = new Map<string, number>();

  constructor(alarms: AlarmScheduler, now: () => number) {
    this.#alarms = alarms;
    this.#now = now;
  }

  async run(chores: readonly Chore[]): Promise<void> {
    this.#alarms.fired();
    const failed = new Set<Chore>();
    for (const chore of chores)
      try {
        await chore.run();
      } catch (error) {
        this.#failed(chore, error);
        failed.add(chore);
      }
    // After all have run: one may make work for another.
    for (const chore of chores)
      this.#alarms.scheduleBy(failed.has(chore) ? this.#retry(chore) : this.#nextDue(chore));
  }

  #nextDue(chore: Chore): number | null {
    try {
      const due = chore.nextDue();
      this.#failures.delete(chore.name);
      return due;
    } catch (error) {
      this.#failed(chore, error);
      return this.#retry(chore);
    }
  }

  #failed({ name }: Chore, error: unknown): void {
    this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    console.error({ message: "a chore of the alarm failed", chore: name, error: String(error) });
  }

  #retry({ name }: Chore): number {
    return this.#now() + backOff(this.#failures.get(name) ?? 1);
  }
}
