import { v7 as uuidv7 } from "uuid";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { Erasure, ErasureStep, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import type { ErasureRecords } from "../../../src/platform/d1/erasure-records.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { FreePages } from "../core/free-pages.ts";
import type { Transactions } from "../core/transactions.ts";
import type { ThreadStore } from "../threads/thread-store.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import type { ErasureFence } from "./erasure-fence.ts";
import type { Erased, ErasureLog } from "./erasure-log.ts";

type RegisterDependencies = {
  log: ErasureLog;
  fence: ErasureFence;
  records: ErasureRecords;
  erasureEpoch: ErasureEpoch;
  transactions: Transactions;
  vectors: Pick<VectorSync, "outbox">;
  threads: Pick<ThreadStore, "noteErasure">;
  pages: FreePages;
  now: () => number;
};
/** `object`: what the object has removed already. */
type Begun = { erased: Erased; of: Erasure["of"]; object?: Pick<ErasureStep, "erased" | "kept"> };

export const NOT_FENCED =
  "The erasure has begun, and recall no longer finds its data. The database has not confirmed it. Try again: the call continues the same erasure.";
/** The stores that each erasure empties; `vectors` only with Vectorize. */
const STORES: Readonly<Record<Erased["what"], readonly ErasureStore[]>> = {
  user: ["object", "memories", "threads", "users", "signIns", "vectors"],
  thread: ["object", "threads", "vectors"],
  scope: ["object", "memories", "vectors"],
};

/** Notes erasures here and in D1, before anything is answered. */
export class ErasureRegister {
  readonly #deps: RegisterDependencies;

  constructor(deps: RegisterDependencies) {
    this.#deps = deps;
  }

  /** The erasures that are under way, the oldest first. */
  running(): { id: string; erased: Erased }[] {
    return this.#deps.log.all().map(({ erased, state: { id } }) => ({ id, erased }));
  }

  /** One that is under way, or null: D1 knows those that are done. */
  state(id: string): Erasure | null {
    return this.#deps.log.get(id)?.state ?? null;
  }

  /** Removes data from sight and notes its erasure, in one transaction. Returns its id; null if `hide` finds nothing. */
  begin(hash: UserHash, hide: (id: string) => Begun | null): string | null {
    const { transactions, pages, now } = this.#deps;
    const id = `${hash}.${uuidv7({ msecs: now() })}`;
    try {
      return transactions.atomically(() => {
        // The peak includes the rows that are removed next.
        pages.note();
        const begun = hide(id);
        if (begun === null) return null;
        this.#add(id, begun);
        return id;
      });
    } catch (error) {
      // The peak that was noted is undone as well.
      pages.forgetPeak();
      throw error;
    }
  }

  #add(id: string, { erased, of, object }: Begun): void {
    const { log, fence, threads, vectors, pages, now } = this.#deps;
    pages.note();
    // A receipt names only stores that were read.
    const stores = STORES[erased.what].filter((store) => store !== "vectors" || vectors.outbox.bound);
    const steps = stores.map((store): ErasureStep => ({
      store,
      state: "open",
      erased: {},
      attempts: 0,
      ...(store === "object" && object),
    }));
    log.add({ erased, state: { id, status: "running", of, requestedAt: now(), steps }, dueAt: now() });
    // An erasure of the user ends the epoch, which tells the readers of changes.
    if (erased.what !== "user") threads.noteErasure(id);
    fence.begin();
  }

  /** Raises the fence in D1 before the caller gets its answer: from then on nobody reads what D1 still has. */
  async fenced(id: string): Promise<Result<Erasure>> {
    const { log, fence } = this.#deps;
    const open = log.get(id);
    if (open === null) return fail("internal");
    if (!open.fenced && !(await fence.raise(open)))
      return fail("storage_unavailable", { message: NOT_FENCED });
    return ok(this.state(id) ?? open.state);
  }

  /**
   * Resumes an erasure that only D1 knows: the object died while it deleted its storage, and all but the receipt was done.
   */
  async takeOver(id: string): Promise<void> {
    const { log, records, erasureEpoch, transactions, now } = this.#deps;
    const known = () => log.get(id) !== null;
    if (known()) return;
    const state = await records.get(id);
    if (state === undefined || known() || !isEmptied(state)) return;
    // One that was set back to an earlier state has what was erased: only a storage that is new since has nothing.
    if (erasureEpoch.current < state.requestedAt) return;
    transactions.atomically(() => log.takeOver(state, now()));
  }
}

/** True if a user's erasure has no more to do but to overwrite what is left in the object's file. */
const isEmptied = ({ status, of, steps }: Erasure): boolean =>
  status === "running" && of.what === "user" && steps.every(({ state }) => state === "done");
