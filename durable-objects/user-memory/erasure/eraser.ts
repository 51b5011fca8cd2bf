import { fail, type Failure, type Result } from "../../../src/domain/errors.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { Erasure } from "../../../src/domain/schema/erasure.ts";
import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { ThreadListing } from "../threads/thread-listing.ts";
import type { ErasedTables } from "./erased-tables.ts";
import { hulls, rangesOf } from "./erasure-log.ts";
import { type ErasureRegister, NOT_FENCED } from "./erasure-register.ts";
import type { ScopeErasure, ErasureSteps } from "./erasure-steps.ts";

export type EraserDependencies = {
  register: ErasureRegister;
  /** The parts that hold data outside of the tables, in the order in which an erasure takes it from them. */
  parts: readonly Erasable[];
  tables: ErasedTables;
  table: MemoryTable;
  listing: ThreadListing;
  conversations: Conversations;
  steps: ErasureSteps;
  /** A restore that is armed holds back an erasure. */
  restorer: { readonly isArmed: boolean };
};

const RESTORING =
  "A restore of this user is under way, and nothing was erased. Try again: the call ends the restore first.";

/**
 * Begins erasures: what is erased is out of sight at once, and the alarm does the rest (erasure-drive.ts). What is written
 * after that is of the next epoch, or a later version, and no step reaches it.
 */
export class Eraser {
  readonly #deps: EraserDependencies;

  constructor(deps: EraserDependencies) {
    this.#deps = deps;
  }

  /** Erases all data of the user. If an erasure is running and nothing was written since, returns that one. */
  async eraseUser({ hash }: Pick<Owner, "hash">): Promise<Result<Erasure>> {
    const { register, tables } = this.#deps;
    if (this.#refusal !== null) return this.#refusal;
    const running = register.running().findLast(({ erased }) => erased.what === "user");
    return this.#fenced(running !== undefined && tables.empty ? running.id : this.#hideUser(hash));
  }

  #hideUser(hash: UserHash): string | null {
    const { register, tables, table } = this.#deps;
    return register.begin(hash, () => {
      const upTo = table.clock.lastVersion();
      const erased = { what: "user" as const, upTo, ...tables.hide(upTo) };
      this.#erase({ what: "user", ranges: rangesOf(erased) });
      return { erased, of: { what: "user" } };
    });
  }

  /** One thread, but for messages that a fork of it shows; the failure `not_found` if there is none. */
  async eraseThread({ hash }: Pick<Owner, "hash">, threadId: string): Promise<Result<Erasure>> {
    const { register, listing, conversations } = this.#deps;
    if (this.#refusal !== null) return this.#refusal;
    const running = register
      .running()
      .findLast(({ erased }) => erased.what === "thread" && erased.threadId === threadId);
    // An import may have brought it back since: that is to be erased too.
    const isRunning = running !== undefined && !conversations.get(threadId).ok;
    const id = isRunning ? running.id : this.#removeThread(hash, threadId);
    if (id === null)
      return fail("not_found", { details: [{ path: "body.threadId", message: "is no thread" }] });
    const fenced = await this.#fenced(id);
    // Removes the thread from the list before the caller gets its answer.
    if (!fenced.ok || (await listing.removeFromCatalogue(threadId))) return fenced;
    return fail("storage_unavailable", { message: NOT_FENCED });
  }

  #removeThread(hash: UserHash, threadId: string): string | null {
    const { register, conversations } = this.#deps;
    return register.begin(hash, (id) => {
      const removed = conversations.remove(threadId, id);
      if (removed === null) return null;
      const { erased, kept, gone } = removed;
      const of = { what: "thread" as const, threadId };
      return { erased: { ...of, gone: hulls(gone) }, of, object: { erased, kept: { messages: kept } } };
    });
  }

  /** All memories of a scope, with their history. */
  async eraseScope({ hash }: Pick<Owner, "hash">, scope: string): Promise<Result<Erasure>> {
    const { register, table, steps } = this.#deps;
    const scopeHash = await hash16(`cairn:scope:${scope}`);
    if (this.#refusal !== null) return this.#refusal;
    const upTo = table.clock.lastVersion();
    this.#erase({ what: "scope", scope });
    const running = register
      .running()
      .flatMap(({ id, erased }) =>
        erased.what === "scope" && erased.scope === scope ? [{ id, erased }] : [],
      )
      .at(-1);
    const isRunning = running !== undefined && table.inScope(scope, upTo).length === 0;
    const erased: ScopeErasure = isRunning ? running.erased : { what: "scope", scope, upTo };
    const id = isRunning
      ? running.id
      : register.begin(hash, () => ({ erased, of: { what: "scope", scopeHash } }));
    if (id === null) return fail("internal");
    // Forgets the scope's memories before the caller gets its answer.
    const forgotten = await steps.forgetScope(hash, id, erased);
    return forgotten.ok ? this.#fenced(id) : fail(forgotten.code, { message: NOT_FENCED });
  }

  /** No `await` may follow it before the erasure is noted. */
  get #refusal(): Failure | null {
    const { isArmed } = this.#deps.restorer;
    return isArmed ? fail("storage_unavailable", { message: RESTORING }) : null;
  }

  #erase(data: ErasedData): void {
    for (const part of this.#deps.parts) part.erase(data);
  }

  async #fenced(id: string | null): Promise<Result<Erasure>> {
    return id === null ? fail("internal") : this.#deps.register.fenced(id);
  }
}
