import type { Precondition } from "../../../src/domain/conditions.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import { currentOf } from "../../../src/domain/memory/versions.ts";
import type { ForgetMemoriesBody, Forgotten } from "../../../src/domain/schema/memory-filter.ts";
import type { MemoryRecords } from "../../../src/platform/d1/memory-records.ts";
import { storageFailureOf } from "../../../src/platform/storage-failure.ts";
import { conditionFailure, NOT_DELETED } from "./decided-writes.ts";
import type { Transactions } from "../core/transactions.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { MemoryTable } from "./memory-table.ts";
import { logUnconfirmed, type PendingWrites } from "./pending-writes.ts";

type ForgetterDependencies = {
  table: MemoryTable;
  records: Pick<MemoryRecords, "history">;
  pending: PendingWrites;
  transactions: Transactions;
  now: () => number;
};
type How = { keepEntries?: boolean };
/** Memories that one intent deletes. */
const SLICE = 1000;

/**
 * Deletes memories and, unless entries are kept, their entries. Recall finds them no more at once;
 * the deletion in D1 has its turn.
 */
export class MemoryForgetter {
  readonly #deps: ForgetterDependencies;

  constructor(deps: ForgetterDependencies) {
    this.#deps = deps;
  }

  /** Removes the memory from recall before anything is awaited. False if there is no such memory. */
  forget(owner: Owner, named: string, condition: Precondition = {}): Promise<Result<boolean>> {
    const { table, pending, now } = this.#deps;
    const former = table.releasedAs(named);
    const id = table.has(named) ? named : (former ?? named);
    const known = table.has(id) || pending.log.hasPendingFor(id);
    if (condition.ifMatch !== undefined) {
      const current = currentOf(new MemoryDraft(table, table.clock.latest(now())), id);
      const unmet = conditionFailure(condition, current);
      if (unmet !== null) return Promise.resolve(current === null ? fail("not_found") : unmet);
    }
    if (known) this.#forget(owner, this.#with([id]));
    return pending.inTurn(async () => {
      await pending.flush();
      // A pending release of it may have been applied now.
      const became = table.releasedAs(named);
      if (known && became !== null && became !== id && became !== former) {
        this.#forget(owner, this.#with([became]));
        await pending.flush();
      }
      if (pending.log.hasPendingFor(id)) return pending.pendingFailure(NOT_DELETED);
      return known ? ok(true) : this.#deleteUnindexed(owner, id);
    });
  }

  forgetAll(owner: Owner): Promise<Result<null>> {
    const { pending } = this.#deps;
    pending.forget(owner, "all");
    return pending.inTurn(async () =>
      (await pending.flush()) ? ok(null) : pending.pendingFailure(NOT_DELETED),
    );
  }

  /** Deletes every memory that matches, or only lists them (`dryRun`). */
  async forgetMatching(
    owner: Owner,
    { filter, dryRun = false, keepEntries = false }: ForgetMemoriesBody,
  ): Promise<Result<Forgotten>> {
    const { table, now } = this.#deps;
    const all = new Set<string>();
    const find = () => {
      const ids = this.#with(table.matching(filter, table.clock.latest(now())), { keepEntries });
      for (const id of ids) all.add(id);
      return ids;
    };
    const forgotten = dryRun ? ok(find()) : await this.forgetFound(owner, find, { keepEntries });
    return forgotten.ok ? ok({ count: all.size, ids: [...all].slice(0, limits.page) }) : forgotten;
  }

  /** Deletes the memories that `find` names at once. Repeats until it names none and D1 has confirmed the deletions. */
  forgetFound(owner: Owner, find: () => string[], how: How = {}): Promise<Result<null>> {
    const { pending } = this.#deps;
    this.#forget(owner, find(), how);
    return pending.inTurn(async () => {
      while (await pending.flush()) {
        // Writes that were pending at the first search are applied now.
        const more = find();
        if (more.length === 0) return ok(null);
        this.#forget(owner, more, how);
      }
      return pending.pendingFailure(NOT_DELETED);
    });
  }

  /**
   * Deletes these memories and nothing else: their entries may be younger, and others may name them. In turn. `noted`: called in the
   * same transaction. False while D1 has not confirmed it.
   */
  async forgetInTurn(owner: Owner, ids: readonly string[], noted = () => {}): Promise<boolean> {
    const { pending, transactions } = this.#deps;
    transactions.atomically(() => {
      this.#forget(owner, ids, { keepEntries: true });
      noted();
    });
    return pending.flush();
  }

  /** These memories and, unless entries are kept, the other memories that name their entries. */
  #with(ids: readonly string[], { keepEntries = false }: How = {}): string[] {
    const { table, now } = this.#deps;
    return [...new Set(keepEntries ? ids : table.withSameEntries(ids, now()))];
  }

  #forget(owner: Owner, ids: readonly string[], how: How = {}): void {
    const { pending } = this.#deps;
    for (let i = 0; i < ids.length; i += SLICE) pending.forget(owner, ids.slice(i, i + SLICE), how);
  }

  /** Deletes a memory that only D1 has: a write whose answer was lost may leave one. */
  async #deleteUnindexed(owner: Owner, id: string): Promise<Result<boolean>> {
    const { pending, records } = this.#deps;
    try {
      const versions = await records.history(owner.hash, id, { limit: 1 });
      if (versions.length === 0) return ok(false);
    } catch (error) {
      logUnconfirmed("a read before forgetting", error);
      return fail(storageFailureOf(error) ?? "storage_unavailable");
    }
    pending.forget(owner, [id]);
    return (await pending.flush()) ? ok(true) : pending.pendingFailure(NOT_DELETED);
  }
}
