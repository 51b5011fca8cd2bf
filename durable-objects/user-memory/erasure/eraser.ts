import { v7 as uuidv7 } from "uuid";
import { fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { Erasure, ErasureStep, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { FreePages } from "../core/free-pages.ts";
import type { Transactions } from "../core/transactions.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { ThreadListing } from "../threads/thread-listing.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import type { ErasedTables } from "./erased-tables.ts";
import type { ErasureFence } from "./erasure-fence.ts";
import { type Erased, type ErasureLog, hulls, rangesOf } from "./erasure-log.ts";
import type { ErasureSteps } from "./erasure-steps.ts";

type EraserDependencies = Pick<Ports, "erasures" | "now"> & {
  log: ErasureLog;
  fence: ErasureFence;
  erasureEpoch: ErasureEpoch;
  transactions: Transactions;
  vectors: Pick<VectorSync, "outbox">;
  pages: FreePages;
  stores: Pick<ThreadStores, "threads">;
  /** The parts that hold data outside of the tables, in the order in which an erasure takes it from them. */
  erasable: readonly Erasable[];
  tables: ErasedTables;
  table: MemoryTable;
  listing: ThreadListing;
  conversations: Conversations;
  steps: ErasureSteps;
  /** A restore that is armed holds back an erasure. */
  restorer: { readonly isArmed: boolean };
};
/** `object`: what the object has removed already. */
type Beginning = { erased: Erased; of: Erasure["of"]; object?: Pick<ErasureStep, "erased" | "kept"> };

const NOT_FENCED =
  "The erasure has begun, and recall no longer finds its data. The database has not confirmed it. Try again: the call continues the same erasure.";
const RESTORING =
  "A restore of this user is under way, and nothing was erased. Try again: the call ends the restore first.";
/** The stores that each erasure empties; `vectors` only with Vectorize. */
const STORES: Readonly<Record<Erased["what"], readonly ErasureStore[]>> = {
  user: ["object", "memories", "threads", "users", "signIns", "vectors"],
  thread: ["object", "threads", "vectors"],
  scope: ["object", "memories", "vectors"],
};

/**
 * Begins erasures, and notes them here and in D1: what is erased is out of sight at once, and the alarm does the rest
 * (erasure-drive.ts). What is written after that is of the next epoch, or a later version, and no step reaches it.
 */
export class Eraser {
  readonly #deps: EraserDependencies;

  constructor(deps: EraserDependencies) {
    this.#deps = deps;
  }

  /** One that is under way, or null: D1 knows those that are done. */
  state(id: string): Erasure | null {
    return this.#deps.log.get(id)?.state ?? null;
  }

  /** Erases all data of the user. If an erasure is running and nothing was written since, returns that one. */
  async eraseUser({ hash }: Pick<Owner, "hash">): Promise<Result<Erasure>> {
    const { log, table, tables } = this.#deps;
    if (this.#refusal !== null) return this.#refusal;
    const running = log.all().findLast(({ what }) => what === "user");
    if (running !== undefined && tables.empty) return this.#fenced(running.id);
    const id = this.#begin(hash, () => {
      const upTo = table.clock.lastVersion();
      const erased = { what: "user" as const, upTo, ...tables.hide(upTo) };
      this.#erase({ what: "user", ranges: rangesOf(erased) });
      return { erased, of: { what: "user" } };
    });
    return this.#fenced(id);
  }

  /** One thread, but for messages that a fork of it shows; the failure `not_found` if there is none. */
  async eraseThread({ hash }: Pick<Owner, "hash">, threadId: string): Promise<Result<Erasure>> {
    const { log, listing, conversations } = this.#deps;
    if (this.#refusal !== null) return this.#refusal;
    const running = log.all().findLast((open) => open.what === "thread" && open.threadId === threadId);
    // An import may have brought it back since: that is to be erased too.
    const isRunning = running !== undefined && !conversations.get(threadId).ok;
    const id = isRunning ? running.id : this.#begin(hash, (erasure) => this.#removeThread(threadId, erasure));
    if (id === null)
      return fail("not_found", { details: [{ path: "body.threadId", message: "is no thread" }] });
    const fenced = await this.#fenced(id);
    // Removes the thread from the list before the caller gets its answer.
    if (!fenced.ok || (await listing.removeFromCatalogue(threadId))) return fenced;
    return fail("storage_unavailable", { message: NOT_FENCED });
  }

  #removeThread(threadId: string, erasure: string): Beginning | null {
    const removed = this.#deps.conversations.remove(threadId, erasure);
    if (removed === null) return null;
    const { erased, kept, gone } = removed;
    const of = { what: "thread" as const, threadId };
    return { erased: { ...of, gone: hulls(gone) }, of, object: { erased, kept: { messages: kept } } };
  }

  /** All memories of a scope, with their history. */
  async eraseScope({ hash }: Pick<Owner, "hash">, scope: string): Promise<Result<Erasure>> {
    const { log, table, steps } = this.#deps;
    const scopeHash = await hash16(`cairn:scope:${scope}`);
    if (this.#refusal !== null) return this.#refusal;
    const upTo = table.clock.lastVersion();
    this.#erase({ what: "scope", scope });
    const running = log.all().findLast((open) => open.what === "scope" && open.scope === scope);
    const isRunning = running !== undefined && table.inScope(scope, upTo).length === 0;
    const id = isRunning
      ? running.id
      : this.#begin(hash, () => ({
          erased: { what: "scope", scope, upTo },
          of: { what: "scope", scopeHash },
        }));
    const open = id === null ? null : log.get(id);
    if (open?.what !== "scope") return fail("internal");
    // Forgets the scope's memories before the caller gets its answer.
    const forgotten = await steps.forgetScope(open);
    return forgotten.ok ? this.#fenced(id) : fail(forgotten.code, { message: NOT_FENCED });
  }

  /**
   * Resumes an erasure that only D1 knows: the object died while it deleted its storage, and all but the receipt was done.
   */
  async takeOver(id: string): Promise<void> {
    const { log, erasures, erasureEpoch, transactions, now } = this.#deps;
    if (log.get(id) !== null) return;
    const state = await erasures.get(id);
    if (state === undefined || log.get(id) !== null || !isEmptied(state)) return;
    // One that was set back to an earlier state has what was erased: only a storage that is new since has nothing.
    if (erasureEpoch.current < state.requestedAt) return;
    transactions.atomically(() => log.takeOver(state, now()));
  }

  /** No `await` may follow it before the erasure is noted. */
  get #refusal(): Failure | null {
    const { isArmed } = this.#deps.restorer;
    return isArmed ? fail("storage_unavailable", { message: RESTORING }) : null;
  }

  #erase(data: ErasedData): void {
    for (const part of this.#deps.erasable) part.erase(data);
  }

  /** Removes data from sight and notes its erasure, in one transaction. Returns its id; null if `hide` finds nothing. */
  #begin(hash: UserHash, hide: (id: string) => Beginning | null): string | null {
    const { transactions, pages, now } = this.#deps;
    const id = `${hash}.${uuidv7({ msecs: now() })}`;
    try {
      return transactions.atomically(() => {
        // The peak includes the rows that are removed next.
        pages.note();
        const beginning = hide(id);
        if (beginning === null) return null;
        this.#note(id, beginning);
        return id;
      });
    } catch (error) {
      // The peak that was noted is undone as well.
      pages.forgetPeak();
      throw error;
    }
  }

  #note(id: string, { erased, of, object }: Beginning): void {
    const { log, fence, stores, vectors, pages, now } = this.#deps;
    pages.note();
    // A receipt names only stores that were read.
    const read = STORES[erased.what].filter((store) => store !== "vectors" || vectors.outbox.bound);
    const steps = read.map((store): ErasureStep => ({
      store,
      state: "open",
      erased: {},
      attempts: 0,
      ...(store === "object" && object),
    }));
    log.add(erased, { id, status: "running", of, requestedAt: now(), steps }, now());
    // An erasure of the user ends the epoch, which tells the readers of changes.
    if (erased.what !== "user") stores.threads.noteErasure(id);
    fence.begin();
  }

  /** Raises the fence in D1 before the caller gets its answer: from then on nobody reads what D1 still has. */
  async #fenced(id: string | null): Promise<Result<Erasure>> {
    const open = id === null ? null : this.#deps.log.get(id);
    if (open === null) return fail("internal");
    if (!open.fenced && !(await this.#deps.fence.raise(open)))
      return fail("storage_unavailable", { message: NOT_FENCED });
    return ok(this.state(open.id) ?? open.state);
  }
}

/** True if a user's erasure has no more to do but to overwrite what is left in the object's file. */
const isEmptied = ({ status, of, steps }: Erasure): boolean =>
  status === "running" && of.what === "user" && steps.every(({ state }) => state === "done");
