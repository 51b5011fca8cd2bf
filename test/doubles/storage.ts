import { control } from "./control.ts";

/** Ends the object right after its storage was deleted, before anything else is committed: `control.diesAfterDeleteAll`. */
export function dieAfterDeleteAll(ctx: DurableObjectState): void {
  const { storage } = ctx;
  const real = storage.deleteAll.bind(storage);
  Object.defineProperty(storage, "deleteAll", {
    value: (): Promise<void> => {
      const deleted = real();
      if (!control.diesAfterDeleteAll) return deleted;
      control.diesAfterDeleteAll = false;
      ctx.abort("died");
      throw new Error("died");
    },
  });
}

/**
 * Makes transactions throw at their end, as a full or broken disk does: `control.failingTransactions` says how many. One within
 * another ends with that.
 */
export function failTransactions(storage: DurableObjectStorage): void {
  const real = storage.transactionSync.bind(storage);
  let depth = 0;
  const fails = (): void => {
    if (depth > 1) return;
    if (control.goodTransactions > 0) control.goodTransactions--;
    else if (control.failingTransactions > 0) {
      control.failingTransactions--;
      throw new Error(control.transactionFailure);
    }
  };
  Object.defineProperty(storage, "transactionSync", {
    value: <T>(act: () => T): T => {
      depth++;
      try {
        return real(() => {
          const done = act();
          fails();
          return done;
        });
      } finally {
        depth--;
      }
    },
  });
}
