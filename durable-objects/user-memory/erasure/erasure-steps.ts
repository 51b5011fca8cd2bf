import type { ErasedTable, ErasureRecords, Fence } from "../../../src/platform/d1/erasure-records.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { Erasure, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import type { Jobs } from "../../../src/platform/d1/jobs.ts";
import type { SignIns } from "../../../src/platform/d1/sign-ins.ts";
import type { FreePages } from "../core/free-pages.ts";
import type { Transactions } from "../core/transactions.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { MemoryForgetter } from "../memories/memory-forgetter.ts";
import type { WordMerger } from "../search-index/word-merger.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { ThreadListing } from "../threads/thread-listing.ts";
import type { MessagePurger } from "../threads/message-purger.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import type { ErasedTables } from "./erased-tables.ts";
import type { StorageReset } from "./storage-reset.ts";
import { turn } from "../../../src/platform/turn.ts";
import { type Erased, type ErasureLog, type OpenErasure, rangesOf } from "./erasure-log.ts";

export type ScopeErasure = Erased & { what: "scope" };
type ErasureStepsDependencies = {
  log: ErasureLog;
  tables: ErasedTables;
  reset: StorageReset;
  pages: FreePages;
  merger: WordMerger;
  table: MemoryTable;
  forgetter: Pick<MemoryForgetter, "forgetFound">;
  listing: ThreadListing;
  conversations: Conversations;
  purger: MessagePurger;
  vectors: VectorSync;
  records: ErasureRecords;
  signIns: Pick<SignIns, "erase" | "has">;
  jobs: Pick<Jobs, "forget">;
  transactions: Transactions;
  now: () => number;
};

/** Slices of the object's tables, and statements of D1, that one alarm takes; each is of 1,000 rows. */
const SLICES = 20;
/** Time between two looks at something that only needs time. */
const LOOK_AGAIN_MS = 5_000;

/** The steps of an erasure, one for each store. Each is bounded and may be repeated; a failure rejects, and is tried again. */
export class ErasureSteps {
  readonly #deps: ErasureStepsDependencies;

  constructor(deps: ErasureStepsDependencies) {
    this.#deps = deps;
  }

  /** Answers whether the store was read back, and is empty; what was removed is counted in the log. */
  take(user: UserHash, { erased, state }: OpenErasure, store: ErasureStore): Promise<boolean> | boolean {
    if (erased.what === "thread")
      switch (store) {
        case "object":
          return this.#threadGoneHere(state.id);
        case "vectors":
          // The messages name the vectors.
          return this.#messagesGone(state.id) && this.#vectorsGone(erased);
        default:
          return this.#threadGone(erased.threadId);
      }
    if (erased.what === "scope") return this.#scope(user, { ...erased, id: state.id }, store);
    const fence = { user, ...erased };
    switch (store) {
      case "object":
        return this.#tables(state.id, erased.epoch);
      case "memories":
      case "threads":
      case "users":
        return this.#rows(state.id, fence, store);
      case "signIns":
        return this.#signIns(state, user);
      default:
        return this.#vectors(erased);
    }
  }

  /**
   * Clears the object's file of a user whose stores are all empty: rebuilds the storage, or overwrites the free pages if something
   * was written since. Returns whether that is done.
   */
  async clearFile({ erased, state, overwrittenIn }: OpenErasure): Promise<boolean> {
    const { log, pages, records, reset, tables, transactions } = this.#deps;
    // Others have done so in the step of the object.
    if (erased.what !== "user") return true;
    if (overwrittenIn === null && reset.isPossible) {
      // With all that was counted: an object that dies while it deletes its storage knows nothing of the erasure.
      await records.note(state, { revision: log.emptied(state.id) });
      // Something may have been written meanwhile.
      if (reset.isPossible) {
        await reset.reset();
        pages.forgetPeak();
        return true;
      }
    }
    transactions.atomically(() => tables.dropEmpty());
    return this.#overwritten(state.id);
  }

  /** When to go on: at once while there is more to remove, later where something is only waited for. */
  next({ state, erased, mergedIn }: OpenErasure): number {
    const now = this.#deps.now();
    const open = state.steps.filter((step) => step.state === "open").map(({ store }) => store);
    if (erased.what === "thread" && open.includes("object"))
      // Waits for the purger. Once the messages are gone, words are merged and pages overwritten.
      return mergedIn === null ? now + LOOK_AGAIN_MS : now;
    // D1 has many more rows of the scope, or gets some back: no hurry.
    if (erased.what === "scope" && open.includes("memories") && !open.includes("object"))
      return now + LOOK_AGAIN_MS;
    const landing =
      erased.what === "thread" && open.includes("threads")
        ? this.#deps.listing.landsUntil(erased.threadId)
        : null;
    if (landing === null && open.some((store) => store !== "vectors")) return now;
    const landed = Math.max(now + LOOK_AGAIN_MS, landing ?? 0);
    if (!open.includes("vectors")) return landed;
    const read = Math.max(now, this.#deps.vectors.outbox.nextDue() ?? now + LOOK_AGAIN_MS);
    return landing === null ? read : Math.min(landed, read);
  }

  /** Forgets what the scope has, up to the version of the erasure; its vectors are noted first. */
  async forgetScope(user: UserHash, id: string, erased: ScopeErasure): Promise<Result<null>> {
    const forgotten = await this.#forgetFound(user, id, erased);
    if (!forgotten.ok) return forgotten;
    try {
      return (await this.#rowsOfScope(user, id, erased)) ? ok(null) : fail("storage_unavailable");
    } catch (error) {
      console.error({ message: "D1 did not erase what only it has of a scope", error: String(error) });
      return fail("storage_unavailable");
    }
  }

  #forgetFound(hash: UserHash, id: string, { scope, upTo }: ScopeErasure): Promise<Result<null>> {
    const { table, forgetter, log } = this.#deps;
    return forgetter.forgetFound({ hash, id: "" }, () => {
      const found = table.inScope(scope, upTo);
      log.addVersions(
        id,
        found.map(({ version }) => version),
      );
      return [...new Set(found.map((one) => one.id))];
    });
  }

  /** Erases what D1 has of the scope, and the object has not: one that was set back to an earlier state knows of none. */
  async #rowsOfScope(user: UserHash, id: string, { scope, upTo }: ScopeErasure): Promise<boolean> {
    const { log, records, transactions, vectors } = this.#deps;
    for (let slice = 0; slice < SLICES; slice++) {
      const versions = await records.versionsOfScope({ user, scope, upTo });
      if (versions.length === 0) return true;
      transactions.atomically(() => {
        log.addVersions(id, versions);
        vectors.removeVersions(versions);
      });
      await records.eraseVersions(user, versions);
    }
    return false;
  }

  async #tables(id: string, epoch: number): Promise<boolean> {
    const { log, tables, transactions, vectors } = this.#deps;
    for (let slice = 0; slice < SLICES; slice++) {
      const removed = transactions.atomically(() => {
        const some = tables.removeSome(epoch);
        if (some === null) return false;
        // Vectorize may hold these too, and no other row names them.
        vectors.removeErased(some.vectors);
        log.count(id, "object", some.counted);
        return true;
      });
      if (!removed) return true;
      await turn();
    }
    return false;
  }

  async #rows(id: string, fence: Fence, table: ErasedTable): Promise<boolean> {
    const { log, records } = this.#deps;
    for (let slice = 0; slice < SLICES; slice++) {
      const removed = await records.erase(table, fence);
      log.count(id, table, { rows: removed });
      if (removed === 0) break;
    }
    return !(await records.hasRows(table, fence));
  }

  /**
   * Done once those from before the erasure are gone. A later sign-in is new, as is what it writes. The jobs that name the user are in
   * the same database, and go with them.
   */
  async #signIns({ id, requestedAt }: Erasure, user: UserHash): Promise<boolean> {
    const { log, signIns, jobs } = this.#deps;
    await jobs.forget(user, requestedAt);
    log.count(id, "signIns", await signIns.erase(user, requestedAt));
    return !(await signIns.has(user, requestedAt));
  }

  /** Done when the tables here, which name the vectors, are gone, and the outbox has seen each of theirs to be gone. */
  #vectors(erased: Erased & { what: "user" }): boolean {
    return this.#vectorsGone(erased) && !this.#deps.tables.hasHiddenOf(erased.epoch);
  }

  #vectorsGone(erased: Erased & { what: "user" | "thread" }): boolean {
    return rangesOf(erased).every((range) => this.#deps.vectors.outbox.isSettled(range));
  }

  async #threadGoneHere(id: string): Promise<boolean> {
    return this.#messagesGone(id) && (await this.#wordsGone(id)) && (await this.#overwritten(id));
  }

  /** An erasure of the user takes over those of an earlier one. */
  #messagesGone(id: string): boolean {
    return this.#deps.purger.isDone(id) && !this.#deps.tables.hasHidden;
  }

  /** True if the full-text index has no deleted words any more, not even under tombstones. */
  async #wordsGone(id: string): Promise<boolean> {
    const { log, merger } = this.#deps;
    const open = log.get(id);
    if (open === null) return false;
    const mergedIn = open.mergedIn ?? merger.startRound();
    if (open.mergedIn === null) log.save({ ...open, mergedIn });
    await merger.run();
    if (merger.hasEnded(mergedIn)) return true;
    merger.startRound();
    return false;
  }

  /** True if the free pages of the file are overwritten. */
  async #overwritten(id: string): Promise<boolean> {
    const { log, pages } = this.#deps;
    const open = log.get(id);
    if (open === null) return false;
    const overwrittenIn = open.overwrittenIn ?? pages.next();
    if (open.overwrittenIn === null) log.save({ ...open, overwrittenIn });
    return pages.overwrite(overwrittenIn);
  }

  /** Done once D1 has no row of the thread, and no write that was lost on its way can bring one. */
  async #threadGone(threadId: string): Promise<boolean> {
    const { records, listing, conversations, now } = this.#deps;
    const landed = listing.landsUntil(threadId) <= now();
    const there = await records.hasThread(threadId);
    if (there) await listing.removeFromCatalogue(threadId, { again: true });
    // A thread that has this id again, from an import, has a row of its own.
    return landed && (!there || conversations.get(threadId).ok);
  }

  async #scope(user: UserHash, erased: ScopeErasure & { id: string }, store: ErasureStore): Promise<boolean> {
    const { log, vectors, table } = this.#deps;
    if (store === "object") {
      const forgotten = await this.#forgetFound(user, erased.id, erased);
      if (!forgotten.ok) throw new Error(forgotten.message ?? forgotten.code);
      if (table.inScope(erased.scope, erased.upTo).length > 0) return false;
      if (!(await this.#wordsGone(erased.id)) || !(await this.#overwritten(erased.id))) return false;
      log.count(erased.id, "object", { memoryVersions: log.versions(erased.id).all });
      return true;
    }
    if (store === "memories") return this.#rowsOfScope(user, erased.id, erased);
    return !vectors.outbox.bound || log.versions(erased.id).open === 0;
  }
}
