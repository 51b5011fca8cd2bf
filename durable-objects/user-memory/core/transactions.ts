import type { Result } from "../../../src/domain/errors.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IdempotencyStore } from "../../storage/idempotency-store.ts";
import type { IdempotencyKey } from "../../storage/contract.ts";

/** A cache of the storage. `changes`: number of writes so far. */
type Cache = { readonly changes: number; forgetLoaded(): void };
type TransactionDependencies = {
  storage: DurableObjectStorage;
  answers: IdempotencyStore;
  index: Cache;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Runs writes in transactions, and once for each idempotency key. */
export class Transactions {
  readonly #deps: TransactionDependencies;
  #afterWrite: () => void = () => {};

  constructor(deps: TransactionDependencies) {
    this.#deps = deps;
  }

  /** Sets what is called at the end of each transaction, as a part of it. */
  onWrite(afterWrite: () => void): void {
    this.#afterWrite = afterWrite;
  }

  /** Rolls back if the result is a failure. A repeated request with the same key returns the first answer. */
  run<T>(once: IdempotencyKey | undefined, act: () => Result<T>): Result<T> {
    const { answers, alarms, now } = this.#deps;
    let result: Result<T> | undefined;
    try {
      return this.atomically(() => {
        result = answers.replay<T>(once, now()) ?? answers.save(once, act(), { now: now() });
        if (!result.ok) throw new Error("a failure undoes the transaction");
        if (once !== undefined) alarms.scheduleBy(answers.nextDue(now()));
        return result;
      });
    } catch (error) {
      if (result !== undefined && !result.ok) return result;
      throw error;
    }
  }

  /** Rolls back if anything throws. */
  atomically<T>(act: () => T): T {
    const { storage, index, alarms } = this.#deps;
    const [alarm, indexed] = [alarms.at, index.changes];
    try {
      return storage.transactionSync(() => {
        const result = act();
        this.#afterWrite();
        return result;
      });
    } catch (error) {
      // The caches must not be ahead of the storage.
      alarms.restore(alarm);
      if (index.changes !== indexed) index.forgetLoaded();
      throw error;
    }
  }
}
