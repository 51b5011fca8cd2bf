import type { Result } from "../../../src/domain/errors.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IdempotencyStore } from "../../storage/idempotency-store.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";

/** A cache of the storage. `changes`: number of writes so far. */
type Cache = { readonly changes: number; forgetLoaded(): void };
type TransactionDependencies = {
  storage: DurableObjectStorage;
  answers: IdempotencyStore;
  index: Cache;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Calls at the end of a transaction, as a part of it, and after it is undone. */
export type Joined = { end: () => void; undone?: () => void };

/** Runs writes in transactions, and once for each idempotency key. */
export class Transactions {
  readonly #deps: TransactionDependencies;
  readonly #joining: (() => Joined | null)[] = [];
  #depth = 0;

  constructor(deps: TransactionDependencies) {
    this.#deps = deps;
  }

  /** Adds what is called at the beginning of each transaction that is within no other. */
  onBegin(joins: () => Joined | null): void {
    this.#joining.push(joins);
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

  /** Runs a write of one statement: in a transaction only if something joins it. */
  single<T>(act: () => T): T {
    return this.#joining.some((joins) => joins() !== null) ? this.atomically(act) : act();
  }

  /** Rolls back if anything throws. */
  atomically<T>(act: () => T): T {
    const { storage, index, alarms } = this.#deps;
    const [alarm, indexed] = [alarms.at, index.changes];
    let joined: (Joined | null)[] = [];
    this.#depth++;
    try {
      return storage.transactionSync(() => {
        joined = this.#depth > 1 ? [] : this.#joining.map((joins) => joins());
        const result = act();
        for (const one of joined) one?.end();
        return result;
      });
    } catch (error) {
      // The caches must not be ahead of the storage.
      alarms.restore(alarm);
      if (index.changes !== indexed) index.forgetLoaded();
      for (const one of joined) one?.undone?.();
      throw error;
    } finally {
      this.#depth--;
    }
  }
}
