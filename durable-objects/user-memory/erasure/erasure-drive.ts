import { receiptOf } from "../../../src/domain/erasure/receipt.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import { backOff } from "../../storage/back-off.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import type { ErasureFence } from "./erasure-fence.ts";
import type { ErasureLog, OpenErasure } from "./erasure-log.ts";
import type { ErasureSteps } from "./erasure-steps.ts";

type ErasureDriveDependencies = Pick<Ports, "erasures" | "receipts" | "now"> & {
  steps: ErasureSteps;
  log: ErasureLog;
  fence: ErasureFence;
  vectors: Pick<VectorSync, "outbox">;
};

/**
 * Drives the erasures that have begun. Raises the fence of each, then empties one store after another, with back-off, until each
 * reads back empty. Then it stores a signed receipt in D1, and forgets the erasure here.
 */
export class ErasureDrive {
  readonly #deps: ErasureDriveDependencies;

  constructor(deps: ErasureDriveDependencies) {
    this.#deps = deps;
  }

  nextDue(): number | null {
    return this.#deps.log.nextDue();
  }

  /** Resumes the erasures that are due. */
  async run(): Promise<void> {
    for (const { id, dueAt } of this.#deps.log.all()) if (dueAt <= this.#deps.now()) await this.#resume(id);
  }

  async #resume(id: string): Promise<void> {
    const { fence, log, now, steps, vectors } = this.#deps;
    // The index may have been unbound since.
    if (!vectors.outbox.bound) log.update(id, withoutVectors);
    const open = log.get(id);
    if (open === null) return;
    if (!open.fenced && !(await fence.raise(open))) return this.#retryLater(id);
    if (!(await this.#takeSteps(open))) return this.#retryLater(id);
    const progress = log.get(id);
    if (progress === null) return;
    if (progress.state.steps.some(({ state }) => state === "open"))
      return log.update(id, (one) => ({ attempts: 0, dueAt: steps.next(one) }));
    try {
      if (!(await steps.clearFile(progress))) return log.update(id, () => ({ attempts: 0, dueAt: now() }));
    } catch (error) {
      console.error({ message: "the file of an erased user was not emptied", error: String(error) });
      return this.#retryLater(id);
    }
    const last = log.get(id);
    if (last !== null && !(await this.#finish(last))) this.#retryLater(id);
  }

  /** Takes each open step once. Returns false if one failed. */
  async #takeSteps(open: OpenErasure): Promise<boolean> {
    const { log, steps } = this.#deps;
    let isFine = true;
    for (const { store, state } of open.state.steps) {
      if (state === "done") continue;
      try {
        const done = await steps.take(open, store);
        log.updateSteps(open.id, [store], (step) => {
          step.attempts = 0;
          delete step.lastError;
          if (done) step.state = "done";
        });
      } catch (error) {
        isFine = false;
        console.error({ message: "an erasure could not go on", store, error: String(error) });
        log.failed(open.id, [store], error);
      }
    }
    return isFine;
  }

  /** Stores the signed receipt in D1 and reads it back, then removes the erasure here. False if D1 does not confirm it. */
  async #finish({ id, user, state, revision }: OpenErasure): Promise<boolean> {
    const { erasures, receipts, now } = this.#deps;
    const finished = { ...state, status: "done" as const, finishedAt: now() };
    try {
      const receipt = await receipts.sign(receiptOf(user, finished));
      // Before the receipt, which nobody could verify without it.
      await erasures.addKey(await receipts.publicKey());
      await erasures.note({ ...finished, receipt }, { revision: revision + 1 });
      if ((await erasures.get(id))?.status !== "done") return false;
    } catch (error) {
      console.error({ message: "a receipt was not stored", error: String(error) });
      return false;
    }
    this.#deps.log.remove(id);
    return true;
  }

  #retryLater(id: string): void {
    const { log, now } = this.#deps;
    log.update(id, ({ attempts }) => ({ attempts: attempts + 1, dueAt: now() + backOff(attempts + 1) }));
  }
}

const withoutVectors = ({ state }: OpenErasure): Pick<OpenErasure, "state"> => ({
  state: {
    ...state,
    steps: state.steps.filter((step) => step.store !== "vectors" || step.state === "done"),
  },
});
