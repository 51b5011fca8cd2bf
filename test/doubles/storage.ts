import { control } from "./control.ts";

/** Makes transactions throw at their end, as a full or broken disk does: `control.failingTransactions` says how many. */
export function failTransactions(storage: DurableObjectStorage): void {
  const real = storage.transactionSync.bind(storage);
  Object.defineProperty(storage, "transactionSync", {
    value: <T>(act: () => T): T =>
      real(() => {
        const done = act();
        if (control.goodTransactions > 0) control.goodTransactions--;
        else if (control.failingTransactions > 0) {
          control.failingTransactions--;
          throw new Error("the disk failed");
        }
        return done;
      }),
  });
}
