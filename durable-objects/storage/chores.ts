import { backOff } from "./back-off.ts";
import type { AlarmScheduler } from "./alarm-scheduler.ts";
import { turn } from "../../src/platform/turn.ts";

/** Idempotent, bounded work of an alarm. `nextDue`: when to run next, or null. */
export interface Chore {
  run(now: number): Promise<void> | void;
  nextDue(now: number): number | null;
}

type ChoresDependencies = { sql: SqlStorage; alarms: AlarmScheduler; now: () => number };

/**
 * Runs the chores of an object's alarm. A chore that throws is logged and retried (after 5 s, doubling to 5 min), and stops
 * no other chore. The platform retries an alarm that throws six times, and then gives it up.
 */
export class Chores {
  readonly #sql: SqlStorage;
  readonly #alarms: AlarmScheduler;
  readonly #now: () => number;
  readonly #chores: [name: string, Chore][];
  /** Failures of each chore since its last success, counted while the object is awake. */
  readonly #failures = new Map<string, number>();

  constructor({ sql, alarms, now }: ChoresDependencies, chores: Readonly<Record<string, Chore>>) {
    this.#sql = sql;
    this.#alarms = alarms;
    this.#now = now;
    this.#chores = Object.entries(chores);
  }

  async run(): Promise<void> {
    this.#alarms.fired();
    const failed = new Set<string>();
    let changed = this.#changed();
    for (const [name, chore] of this.#chores)
      try {
        await chore.run(this.#now());
        // A turn takes two milliseconds. Most chores find nothing to do, and then change no row.
        if (changed === this.#changed()) continue;
        await turn();
        changed = this.#changed();
      } catch (error) {
        this.#failed(name, error);
        failed.add(name);
      }
    // After all have run: one may make work for another.
    for (const [name, chore] of this.#chores)
      this.#alarms.scheduleBy(failed.has(name) ? this.#retry(name) : this.#nextDue(name, chore));
  }

  /** The rows that were changed since the object woke. */
  #changed(): number {
    return this.#sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n;
  }

  #nextDue(name: string, chore: Chore): number | null {
    try {
      const due = chore.nextDue(this.#now());
      this.#failures.delete(name);
      return due;
    } catch (error) {
      this.#failed(name, error);
      return this.#retry(name);
    }
  }

  #failed(name: string, error: unknown): void {
    this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    console.error({ message: "a chore of the alarm failed", chore: name, error: String(error) });
  }

  #retry(name: string): number {
    return this.#now() + backOff(this.#failures.get(name) ?? 1);
  }
}
