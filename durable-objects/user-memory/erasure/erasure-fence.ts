import type { ErasureRecords } from "../../../src/platform/d1/erasure-records.ts";
import type { ErasureStore } from "../../../src/domain/schema/erasure.ts";
import { isFull } from "../../../src/platform/storage-failure.ts";
import type { ErasureLog, OpenErasure } from "./erasure-log.ts";

const IN_D1: readonly ErasureStore[] = ["memories", "threads", "users"];

/** Writes the fence of each erasure to D1, which then hides the rows that it still has. */
export class ErasureFence {
  readonly #log: ErasureLog;
  readonly #records: ErasureRecords;
  /** True once D1 is known to know of all: every write of memories asks. */
  #holds = false;

  constructor(log: ErasureLog, records: ErasureRecords) {
    this.#log = log;
    this.#records = records;
  }

  /** Another erasure began: D1 does not know of it yet, and the alarm drives it. */
  begin(): void {
    this.#holds = false;
    this.#log.schedule();
  }

  /** True if D1 hides all that was erased. Where it may not, it is told now; false if it does not answer. */
  async holds(): Promise<boolean> {
    if (this.#holds) return true;
    for (const open of this.#log.all()) if (!open.fenced && !(await this.raise(open))) return false;
    // Another one may have begun while this one was told of.
    this.#holds = this.#log.all().every((open) => open.fenced);
    return this.#holds;
  }

  /** Tells D1 of an erasure; false if it does not answer. */
  async raise(open: OpenErasure): Promise<boolean> {
    const { id, state, revision } = open;
    const fence = open.what === "user" ? open : null;
    const note = () => this.#records.note(state, { revision, ...(fence && { fence }) });
    try {
      await note().catch(async (error: unknown) => {
        if (fence === null || !isFull(error)) throw error;
        // Erasing some memories makes room for the record.
        await this.#records.erase("memories", fence);
        await note();
      });
    } catch (error) {
      console.error({ message: "D1 did not take note of an erasure", error: String(error) });
      this.#log.failed(id, IN_D1, error);
      return false;
    }
    this.#log.update(id, () => ({ fenced: true }));
    return true;
  }
}
