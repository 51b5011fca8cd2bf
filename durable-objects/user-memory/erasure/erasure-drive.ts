import type { Fence } from "../../../src/platform/d1/erasure-records.ts";
import { type Receipt, receiptOf } from "../../../src/domain/erasure/receipt.ts";
import { threadOwner, type UserHash } from "../../../src/domain/ids.ts";
import type { Erasure, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import { isFull } from "../../../src/platform/storage-failure.ts";
import { backOff } from "../../storage/back-off.ts";
import type { EraserParts } from "./eraser.ts";
import type { Erased, ErasureLog, OpenErasure } from "./erasure-log.ts";
import type { ErasureSteps } from "./erasure-steps.ts";

type Parts = Pick<EraserParts, "records" | "receipts" | "vectors" | "wakeUp" | "now"> & {
  log: ErasureLog;
  steps: ErasureSteps;
};

const IN_D1: ReadonlySet<ErasureStore> = new Set(["memories", "threads", "users"]);

/**
 * Drives the erasures that have begun: tells D1 of each, then takes its steps, store by store and with back-off, until each
 * was read back empty; then a signed receipt in D1, and nothing here.
 */
export class ErasureDrive {
  readonly #parts: Parts;
  /** Whether D1 is known to know of all: every write of memories asks. */
  #fenced = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Says that one more has begun. */
  begun(): void {
    this.#fenced = false;
    this.#parts.wakeUp.by(this.#parts.now());
  }

  /** Whether D1 hides all that was erased. Where it may not, it is told now; false if it does not answer. */
  async fenced(): Promise<boolean> {
    if (this.#fenced) return true;
    for (const open of this.#parts.log.all()) if (!open.fenced && !(await this.fence(open))) return false;
    // Another one may have begun while this one was told of.
    this.#fenced = this.#parts.log.all().every((open) => open.fenced);
    return this.#fenced;
  }

  /** Tells D1 of an erasure, which hides what it still has of it; false if it does not answer. */
  async fence({ erased, state, revision }: OpenErasure): Promise<boolean> {
    const { records } = this.#parts;
    const fence = fenceOf(userOf(state), erased);
    const note = () => records.note(state, { revision, ...(fence && { fence }) });
    try {
      await note().catch(async (error: unknown) => {
        if (fence === null || !isFull(error)) throw error;
        // What is to be erased makes room for the note of it.
        await records.eraseMemories(fence);
        await note();
      });
    } catch (error) {
      console.error({ message: "D1 did not take note of an erasure", error: String(error) });
      this.#change(state.id, (now) => {
        for (const { store } of now.steps) if (IN_D1.has(store)) countFailure(now, store, error);
      });
      return false;
    }
    this.#update(state.id, (open) => ({ ...open, fenced: true }));
    return true;
  }

  nextDue(): number | null {
    return this.#parts.log.nextDue();
  }

  /** Goes on with what is due, for the alarm. */
  async alarm(): Promise<void> {
    for (const { state, dueAt } of this.#parts.log.all())
      if (dueAt <= this.#parts.now()) await this.#goOn(state.id);
  }

  async #goOn(id: string): Promise<void> {
    // The index may have been unbound since.
    if (!this.#parts.vectors.outbox.bound) this.#change(id, withoutVectors);
    const begun = this.#parts.log.get(id);
    if (begun === null) return;
    if (!begun.fenced && !(await this.fence(begun))) return this.#putOff(id);
    let failed = false;
    for (const { store, state } of begun.state.steps) {
      if (state === "done") continue;
      try {
        const done = await this.#parts.steps.take(userOf(begun.state), begun, store);
        this.#change(id, (now) => gotOn(now, store, done));
      } catch (error) {
        failed = true;
        console.error({ message: "an erasure could not go on", store, error: String(error) });
        this.#change(id, (now) => countFailure(now, store, error));
      }
    }
    if (failed) return this.#putOff(id);
    const open = this.#parts.log.get(id);
    if (open === null) return;
    if (open.state.steps.some(({ state }) => state === "open"))
      return this.#update(id, (one) => ({ ...one, attempts: 0, dueAt: this.#parts.steps.next(one) }));
    const emptied = await this.#emptied(open);
    if (emptied === "later") return this.#putOff(id);
    if (emptied === "more")
      return this.#update(id, (one) => ({ ...one, attempts: 0, dueAt: this.#parts.now() }));
    const last = this.#parts.log.get(id);
    if (last !== null && !(await this.#finish(last))) this.#putOff(id);
  }

  /** Whether nothing is left in the object's file either. */
  async #emptied(open: OpenErasure): Promise<"done" | "more" | "later"> {
    try {
      return (await this.#parts.steps.leavesNothing(open)) ? "done" : "more";
    } catch (error) {
      console.error({ message: "the file of an erased user was not emptied", error: String(error) });
      return "later";
    }
  }

  /** Signs what was done, puts it into D1 and reads it back; only then is it gone from here. */
  async #finish({ state, revision }: OpenErasure): Promise<boolean> {
    const { records, receipts, now } = this.#parts;
    const finished = { ...state, status: "done" as const, finishedAt: now() };
    try {
      const payload: Receipt = receiptOf(userOf(state), finished);
      const receipt = await receipts.sign(payload);
      // Before the receipt is to be had, so that nobody has one that nothing verifies.
      await records.addKey(await receipts.publicKey());
      await records.note({ ...finished, receipt }, { revision: revision + 1 });
      if ((await records.get(state.id))?.status !== "done") return false;
    } catch (error) {
      console.error({ message: "a receipt was not stored", error: String(error) });
      return false;
    }
    this.#parts.log.remove(state.id);
    return true;
  }

  #putOff(id: string): void {
    this.#update(id, (one) => ({
      ...one,
      attempts: one.attempts + 1,
      dueAt: this.#parts.now() + backOff(one.attempts + 1),
    }));
  }

  #change(id: string, change: (state: Erasure) => void): void {
    this.#update(id, (open) => {
      change(open.state);
      return open;
    });
  }

  /** Changes what is stored now: another call may have changed it while this one waited. */
  #update(id: string, change: (open: OpenErasure) => OpenErasure): void {
    const open = this.#parts.log.get(id);
    if (open === null) return;
    this.#parts.log.save(change(open));
    this.#parts.wakeUp.by(this.#parts.log.nextDue());
  }
}

/** An erasure's id begins like a thread's with whose it is; there is none without. */
function userOf({ id }: Pick<Erasure, "id">): UserHash {
  const user = threadOwner(id);
  if (user === null) throw new Error("an erasure of nobody");
  return user;
}

const fenceOf = (user: UserHash, erased: Erased): Fence | null =>
  erased.what === "user" ? { user, epoch: erased.epoch, upTo: erased.upTo } : null;

function gotOn({ steps }: Erasure, store: ErasureStore, done: boolean): void {
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

function countFailure({ steps }: Erasure, store: ErasureStore, error: unknown): void {
  for (const step of steps)
    if (step.store === store) {
      step.attempts++;
      step.lastError = error instanceof Error ? error.message : "failed";
    }
}
