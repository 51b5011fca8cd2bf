import { backOff } from "./back-off.ts";
import type { AlarmScheduler } from "./alarm-scheduler.ts";

/** Something that an alarm does: idempotent, and bounded. `nextDue`: when to go on; null if there is nothing to do. */
export type Chore = { name: string; run: () => Promise<void> | void; nextDue: () => number | null };

/**
 * Runs the chores of an object's alarm. One that throws is logged and tried again later (5 s, doubling to 5 min); it keeps no
 * other from running, nor the next alarm from being set. An alarm that throws is retried six times, and then never again.
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
    // When all have run, as one may have brought work for another.
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
