import type { ErasureRecords, Fence } from "../../../src/platform/d1/erasure-records.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { threadOwner } from "../../../src/domain/thread-id.ts";
import type { Erasure, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import { isFull } from "../../../src/platform/storage-failure.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { Erased, ErasureLog, OpenErasure } from "./erasure-log.ts";

type ErasureFenceDependencies = { log: ErasureLog; records: ErasureRecords; alarms: AlarmScheduler };

const IN_D1: ReadonlySet<ErasureStore> = new Set(["memories", "threads", "users"]);

/** Writes the fence of each erasure to D1, which then hides the rows that it still has. */
export class ErasureFence {
  readonly #deps: ErasureFenceDependencies;
  /** True once D1 is known to know of all: every write of memories asks. */
  #holds = false;

  constructor(deps: ErasureFenceDependencies) {
    this.#deps = deps;
  }

  /** Another erasure began: D1 does not know of it yet, and the alarm drives it. */
  begin(): void {
    this.#holds = false;
    this.#deps.alarms.scheduleBy(this.#deps.log.nextDue());
  }

  /** True if D1 hides all that was erased. Where it may not, it is told now; false if it does not answer. */
  async holds(): Promise<boolean> {
    const { log } = this.#deps;
    if (this.#holds) return true;
    for (const open of log.all()) if (!open.fenced && !(await this.raise(open))) return false;
    // Another one may have begun while this one was told of.
    this.#holds = log.all().every((open) => open.fenced);
    return this.#holds;
  }

  /** Tells D1 of an erasure; false if it does not answer. */
  async raise({ erased, state, revision }: OpenErasure): Promise<boolean> {
    const { log, records, alarms } = this.#deps;
    const fence = fenceOf(userOf(state), erased);
    const note = () => records.note(state, { revision, ...(fence && { fence }) });
    try {
      await note().catch(async (error: unknown) => {
        if (fence === null || !isFull(error)) throw error;
        // Erasing some memories makes room for the record.
        await records.erase("memories", fence);
        await note();
      });
    } catch (error) {
      console.error({ message: "D1 did not take note of an erasure", error: String(error) });
      log.update(state.id, (open) => {
        for (const { store } of open.state.steps)
          if (IN_D1.has(store)) countFailure(open.state, store, error);
        return open;
      });
      alarms.scheduleBy(log.nextDue());
      return false;
    }
    log.update(state.id, (open) => ({ ...open, fenced: true }));
    alarms.scheduleBy(log.nextDue());
    return true;
  }
}

/** An erasure's id begins like a thread's with the hash of its user. */
export function userOf({ id }: Pick<Erasure, "id">): UserHash {
  const user = threadOwner(id);
  if (user === null) throw new Error("an erasure of nobody");
  return user;
}

const fenceOf = (user: UserHash, erased: Erased): Fence | null =>
  erased.what === "user" ? { user, epoch: erased.epoch, upTo: erased.upTo } : null;

/** Counts a failed attempt of an erasure's step. */
export function countFailure({ steps }: Erasure, store: ErasureStore, error: unknown): void {
  for (const step of steps)
    if (step.store === store) {
      step.attempts++;
      step.lastError = error instanceof Error ? error.message : "failed";
    }
}
