import { type Receipt, receiptOf } from "../../../src/domain/erasure/receipt.ts";
import type { Erasure, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import { backOff } from "../../storage/back-off.ts";
import { countFailure, type ErasureFence, userOf } from "./erasure-fence.ts";
import type { ErasureLog, OpenErasure } from "./erasure-log.ts";
import type { ErasureRecords } from "../../../src/platform/d1/erasure-records.ts";
import type { ReceiptKey } from "../../../src/platform/receipt-key.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import type { ErasureSteps } from "./erasure-steps.ts";

type ErasureDriveDependencies = {
  steps: ErasureSteps;
  log: ErasureLog;
  fence: ErasureFence;
  records: ErasureRecords;
  receipts: ReceiptKey;
  vectors: Pick<VectorSync, "outbox">;
  alarms: AlarmScheduler;
  now: () => number;
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
    for (const { state, dueAt } of this.#deps.log.all())
      if (dueAt <= this.#deps.now()) await this.#resume(state.id);
  }

  async #resume(id: string): Promise<void> {
    // The index may have been unbound since.
    if (!this.#deps.vectors.outbox.bound) this.#change(id, withoutVectors);
    const open = this.#deps.log.get(id);
    if (open === null) return;
    if (!open.fenced && !(await this.#deps.fence.raise(open))) return this.#retryLater(id);
    let failed = false;
    for (const { store, state } of open.state.steps) {
      if (state === "done") continue;
      try {
        const done = await this.#deps.steps.take(userOf(open.state), open, store);
        this.#change(id, (now) => recordProgress(now, store, done));
      } catch (error) {
        failed = true;
        console.error({ message: "an erasure could not go on", store, error: String(error) });
        this.#change(id, (now) => countFailure(now, store, error));
      }
    }
    if (failed) return this.#retryLater(id);
    const taken = this.#deps.log.get(id);
    if (taken === null) return;
    if (taken.state.steps.some(({ state }) => state === "open"))
      return this.#update(id, (one) => ({ ...one, attempts: 0, dueAt: this.#deps.steps.next(one) }));
    try {
      if (!(await this.#deps.steps.clearFile(taken)))
        return this.#update(id, (one) => ({ ...one, attempts: 0, dueAt: this.#deps.now() }));
    } catch (error) {
      console.error({ message: "the file of an erased user was not emptied", error: String(error) });
      return this.#retryLater(id);
    }
    const last = this.#deps.log.get(id);
    if (last !== null && !(await this.#finish(last))) this.#retryLater(id);
  }

  /** Stores the signed receipt in D1 and reads it back, then removes the erasure here. False if D1 does not confirm it. */
  async #finish({ state, revision }: OpenErasure): Promise<boolean> {
    const { records, receipts, now } = this.#deps;
    const finished = { ...state, status: "done" as const, finishedAt: now() };
    try {
      const payload: Receipt = receiptOf(userOf(state), finished);
      const receipt = await receipts.sign(payload);
      // Before the receipt, which nobody could verify without it.
      await records.addKey(await receipts.publicKey());
      await records.note({ ...finished, receipt }, { revision: revision + 1 });
      if ((await records.get(state.id))?.status !== "done") return false;
    } catch (error) {
      console.error({ message: "a receipt was not stored", error: String(error) });
      return false;
    }
    this.#deps.log.remove(state.id);
    return true;
  }

  #retryLater(id: string): void {
    this.#update(id, (one) => ({
      ...one,
      attempts: one.attempts + 1,
      dueAt: this.#deps.now() + backOff(one.attempts + 1),
    }));
  }

  #change(id: string, change: (state: Erasure) => void): void {
    this.#update(id, (open) => {
      change(open.state);
      return open;
    });
  }

  #update(id: string, change: (open: OpenErasure) => OpenErasure): void {
    this.#deps.log.update(id, change);
    this.#deps.alarms.scheduleBy(this.#deps.log.nextDue());
  }
}

function recordProgress({ steps }: Erasure, store: ErasureStore, done: boolean): void {
  for (const step of steps) {
    if (step.store !== store) continue;
    step.attempts = 0;
    delete step.lastError;
    if (done) step.state = "done";
  }
}

function withoutVectors(erasure: Erasure): void {
  erasure.steps = erasure.steps.filter(({ store, state }) => store !== "vectors" || state === "done");
}
