import type { Result } from "../../../src/domain/errors.ts";
import type { WakeUp } from "../../storage/wake-up.ts";
import type { Answers } from "../../storage/answers.ts";
import type { Once } from "../../storage/contract.ts";

/** What memory holds of the storage: `changes` counts its writes. */
type Cache = { readonly changes: number; forgetLoaded(): void };
type Parts = {
  storage: DurableObjectStorage;
  answers: Answers;
  index: Cache;
  wakeUp: WakeUp;
  now: () => number;
};

/** Runs writes whole or not at all, and once for each idempotency key. */
export class Transactions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Acts in one transaction, which is undone if the result is a failure. A repeated request gets its first answer. */
  run<T>(once: Once | undefined, act: () => Result<T>): Result<T> {
    const { answers, wakeUp, now } = this.#parts;
    let result: Result<T> | undefined;
    try {
      return this.atomically(() => {
        result = answers.before<T>(once, now()) ?? answers.keep(once, act(), { now: now() });
        if (!result.ok) throw new Error("a failure undoes the transaction");
        if (once !== undefined) wakeUp.by(answers.expired.next(now()));
        return result;
      });
    } catch (error) {
      if (result !== undefined && !result.ok) return result;
      throw error;
    }
  }

  /** Acts in one transaction, which is undone if anything throws. */
  atomically<T>(act: () => T): T {
    const { storage, index, wakeUp } = this.#parts;
    const [alarm, indexed] = [wakeUp.at, index.changes];
    try {
      return storage.transactionSync(act);
    } catch (error) {
      // What memory holds of the storage must not be ahead of it.
      wakeUp.restore(alarm);
      if (index.changes !== indexed) index.forgetLoaded();
      throw error;
    }
  }
}
