import type { Ports } from "../../../src/platform/bindings.ts";
import type { ErasedTable } from "../../../src/platform/d1/erasure-records.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import type { ErasureStore } from "../../../src/domain/schema/erasure.ts";
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
import { type ErasureLog, type OpenErasure, type OpenErasureOf, rangesOf } from "./erasure-log.ts";

type ErasureStepsDependencies = Pick<Ports, "erasures" | "signIns" | "jobs" | "now"> & {
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
  transactions: Transactions;
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
  take(open: OpenErasure, store: ErasureStore): Promise<boolean> | boolean {
    if (open.what === "user") return this.#ofUser(open, store);
    return open.what === "thread" ? this.#ofThread(open, store) : this.#ofScope(open, store);
  }

  #ofUser(open: OpenErasureOf<"user">, store: ErasureStore): Promise<boolean> | boolean {
    switch (store) {
      case "object":
        return this.#tables(open);
      case "signIns":
        return this.#signIns(open);
      case "vectors":
        // The tables here name the vectors, and the outbox has seen each of theirs to be gone.
        return this.#vectorsGone(open) && !this.#deps.tables.hasHiddenOf(open.epoch);
      default:
        return this.#rows(open, store);
    }
  }

  async #ofThread({ id, ...open }: OpenErasureOf<"thread">, store: ErasureStore): Promise<boolean> {
    if (store !== "object" && store !== "vectors") return this.#threadGone(open.threadId);
    const { purger, tables } = this.#deps;
    // The messages name the vectors. An erasure of the user takes over those of an earlier one.
    if (!purger.isDone(id) || tables.hasHidden) return false;
    return store === "vectors" ? this.#vectorsGone(open) : this.#overwritten(id);
  }

  async #ofScope(open: OpenErasureOf<"scope">, store: ErasureStore): Promise<boolean> {
    const { log, vectors, table } = this.#deps;
    const { id, scope, upTo } = open;
    if (store === "memories") return this.#rowsOfScope(open);
    if (store === "vectors") return !vectors.outbox.bound || log.versions(id).open === 0;
    const forgotten = await this.#forgetFound(open);
    if (!forgotten.ok) throw new Error(forgotten.message ?? forgotten.code);
    if (table.inScope(scope, upTo).length > 0 || !(await this.#overwritten(id))) return false;
    log.count(id, "object", { memoryVersions: log.versions(id).all });
    return true;
  }

  /**
   * Clears the object's file of a user whose stores are all empty: rebuilds the storage, or overwrites the free pages if something
   * was written since. Returns whether that is done.
   */
  async clearFile(open: OpenErasure): Promise<boolean> {
    const { log, pages, erasures, reset, tables, transactions } = this.#deps;
    // Others have done so in the step of the object.
    if (open.what !== "user") return true;
    if (open.overwrittenIn === null && reset.isPossible) {
      // With all that was counted: an object that dies while it deletes its storage knows nothing of the erasure.
      await erasures.note(open.state, { revision: log.emptied(open.id) });
      // Something may have been written meanwhile.
      if (reset.isPossible) {
        await reset.reset();
        pages.forgetPeak();
        return true;
      }
    }
    transactions.atomically(() => tables.dropEmpty());
    return this.#pagesOverwritten(open.id);
  }

  /** When to go on: at once while there is more to remove, later where something is only waited for. */
  next(erasure: OpenErasure): number {
    const now = this.#deps.now();
    const stores = erasure.state.steps.filter(({ state }) => state === "open").map(({ store }) => store);
    if (erasure.what === "thread" && stores.includes("object"))
      // Waits for the purger. Once the messages are gone, words are merged and pages overwritten.
      return erasure.mergedIn === null ? now + LOOK_AGAIN_MS : now;
    // D1 has many more rows of the scope, or gets some back: no hurry.
    if (erasure.what === "scope" && stores.includes("memories") && !stores.includes("object"))
      return now + LOOK_AGAIN_MS;
    const landing =
      erasure.what === "thread" && stores.includes("threads")
        ? this.#deps.listing.landsUntil(erasure.threadId)
        : null;
    if (landing === null && stores.some((store) => store !== "vectors")) return now;
    const landed = Math.max(now + LOOK_AGAIN_MS, landing ?? 0);
    if (!stores.includes("vectors")) return landed;
    const read = Math.max(now, this.#deps.vectors.outbox.nextDue() ?? now + LOOK_AGAIN_MS);
    return landing === null ? read : Math.min(landed, read);
  }

  /** Forgets what the scope has, up to the version of the erasure; its vectors are noted first. */
  async forgetScope(open: OpenErasureOf<"scope">): Promise<Result<null>> {
    const forgotten = await this.#forgetFound(open);
    if (!forgotten.ok) return forgotten;
    try {
      return (await this.#rowsOfScope(open)) ? ok(null) : fail("storage_unavailable");
    } catch (error) {
      console.error({ message: "D1 did not erase what only it has of a scope", error: String(error) });
      return fail("storage_unavailable");
    }
  }

  #forgetFound({ id, user, scope, upTo }: OpenErasureOf<"scope">): Promise<Result<null>> {
    const { table, forgetter, log } = this.#deps;
    return forgetter.forgetFound({ hash: user, id: "" }, () => {
      const rows = table.inScope(scope, upTo);
      log.addVersions(
        id,
        rows.map(({ version }) => version),
      );
      return [...new Set(rows.map((row) => row.id))];
    });
  }

  /** Erases what D1 has of the scope, and the object has not: one that was set back to an earlier state knows of none. */
  async #rowsOfScope(open: OpenErasureOf<"scope">): Promise<boolean> {
    const { log, erasures, transactions, vectors } = this.#deps;
    for (let slice = 0; slice < SLICES; slice++) {
      const versions = await erasures.versionsOfScope(open);
      if (versions.length === 0) return true;
      transactions.atomically(() => {
        log.addVersions(open.id, versions);
        vectors.removeVersions(versions);
      });
      await erasures.eraseVersions(open.user, versions);
    }
    return false;
  }

  async #tables({ id, epoch }: OpenErasureOf<"user">): Promise<boolean> {
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

  async #rows(open: OpenErasureOf<"user">, table: ErasedTable): Promise<boolean> {
    const { log, erasures } = this.#deps;
    for (let slice = 0; slice < SLICES; slice++) {
      const removed = await erasures.erase(table, open);
      log.count(open.id, table, { rows: removed });
      if (removed === 0) break;
    }
    return !(await erasures.hasRows(table, open));
  }

  /**
   * Done once those from before the erasure are gone. A later sign-in is new, as is what it writes. The jobs that name the user are in
   * the same database, and go with them.
   */
  async #signIns({ id, user, state: { requestedAt } }: OpenErasure): Promise<boolean> {
    const { log, signIns, jobs } = this.#deps;
    await jobs.forget(user, requestedAt);
    log.count(id, "signIns", await signIns.erase(user, requestedAt));
    return !(await signIns.has(user, requestedAt));
  }

  #vectorsGone(erased: Parameters<typeof rangesOf>[0]): boolean {
    return rangesOf(erased).every((range) => this.#deps.vectors.outbox.isSettled(range));
  }

  /** True if the full-text index has no deleted words any more, not even under tombstones, and no free page of the file has. */
  async #overwritten(id: string): Promise<boolean> {
    const { log, merger } = this.#deps;
    const open = log.get(id);
    if (open === null) return false;
    const mergedIn = open.mergedIn ?? merger.startRound();
    if (open.mergedIn === null) log.update(id, () => ({ mergedIn }));
    await merger.run();
    if (merger.hasEnded(mergedIn)) return this.#pagesOverwritten(id);
    merger.startRound();
    return false;
  }

  async #pagesOverwritten(id: string): Promise<boolean> {
    const { log, pages } = this.#deps;
    const open = log.get(id);
    if (open === null) return false;
    const overwrittenIn = open.overwrittenIn ?? pages.next();
    if (open.overwrittenIn === null) log.update(id, () => ({ overwrittenIn }));
    return pages.overwrite(overwrittenIn);
  }

  /** Done once D1 has no row of the thread, and no write that was lost on its way can bring one. */
  async #threadGone(threadId: string): Promise<boolean> {
    const { erasures, listing, conversations, now } = this.#deps;
    const landed = listing.landsUntil(threadId) <= now();
    const there = await erasures.hasThread(threadId);
    if (there) await listing.removeFromCatalogue(threadId, { again: true });
    // A thread that has this id again, from an import, has a row of its own.
    return landed && (!there || conversations.get(threadId).ok);
  }
}
