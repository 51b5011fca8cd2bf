import { v7 as uuidv7 } from "uuid";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { type UserHash } from "../../../src/domain/ids.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { Erasure, ErasureStep, ErasureStore } from "../../../src/domain/schema/erasure.ts";
import { type Erased, ErasureLog, hulls, rangesOf } from "./erasure-log.ts";
import { ErasureDrive } from "./erasure-drive.ts";
import { type ErasedScope, ErasureSteps } from "./erasure-steps.ts";
import { ErasedTables } from "./erased-tables.ts";
import { StorageReset } from "./storage-reset.ts";
import type { EraserDependencies } from "./eraser-dependencies.ts";
import { hash16 } from "../../../src/domain/hash.ts";

const NOT_FENCED =
  "The erasure has begun, and recall no longer finds its data. The database has not confirmed it. Try again: the call continues the same erasure.";
/** The stores that each erasure empties; `vectors` only with Vectorize. */
const STORES: Readonly<Record<Erased["what"], readonly ErasureStore[]>> = {
  user: ["object", "memories", "threads", "users", "vectors"],
  thread: ["object", "threads", "vectors"],
  scope: ["object", "memories", "vectors"],
};

/**
 * Begins erasures: what is erased is out of sight at once, and the alarm does the rest (erasure-drive.ts). What is written
 * after that is of the next epoch, or a later version, and no step reaches it.
 */
export class Eraser {
  readonly drive: ErasureDrive;
  readonly #deps: EraserDependencies;
  readonly #log: ErasureLog;
  readonly #tables: ErasedTables;
  readonly #steps: ErasureSteps;

  constructor(deps: EraserDependencies) {
    this.#deps = deps;
    this.#log = deps.log;
    this.#tables = new ErasedTables(deps.sql);
    const reset = new StorageReset({ ...deps, tables: this.#tables });
    this.#steps = new ErasureSteps({ ...deps, tables: this.#tables, reset });
    this.drive = new ErasureDrive({ ...deps, steps: this.#steps });
  }

  /** Erases all data of the user. If an erasure is running and nothing was written since, returns that one. */
  async eraseUser({ hash }: Pick<Owner, "hash">): Promise<Result<Erasure>> {
    const running = this.#log.all().findLast(({ erased }) => erased.what === "user");
    if (running !== undefined && this.#tables.empty) return this.#fenced(running.state.id);
    const id = this.#newId(hash);
    this.#hideUser(id);
    return this.#fenced(id);
  }

  #hideUser(id: string): void {
    const { transactions, erasureEpoch, table, index, vectors, writer, owner, recallLog, threads } =
      this.#deps;
    transactions.atomically(() => {
      const upTo = table.lastVersion();
      const epoch = erasureEpoch.next(upTo);
      const erased = { what: "user" as const, epoch, upTo, ...this.#tables.hide(epoch) };
      this.#add(id, erased, { of: { what: "user" } });
      vectors.removeOnTheirWay(rangesOf(erased));
      writer.erased();
      owner.erased();
      recallLog.erased();
      threads.erased();
      index.forgetLoaded();
    });
  }

  /** One thread, but for messages that a fork of it shows; the failure `not_found` if there is none. */
  async eraseThread({ hash }: Pick<Owner, "hash">, threadId: string): Promise<Result<Erasure>> {
    const { transactions, conversations, pages } = this.#deps;
    const running = this.#log
      .all()
      .findLast(({ erased }) => erased.what === "thread" && erased.threadId === threadId);
    // An import may have brought it back since: that is to be erased too.
    if (running !== undefined && !conversations.get(threadId).ok)
      return this.#unlist(threadId, await this.#fenced(running.state.id));
    const id = this.#newId(hash);
    const found = transactions.atomically(() => {
      // The peak includes the rows that are removed next.
      pages.note();
      const removed = conversations.remove(threadId, id);
      if (removed === null) return false;
      const { erased, kept, gone } = removed;
      const of = { what: "thread" as const, threadId };
      this.#add(id, { ...of, gone: hulls(gone) }, { of, object: { erased, kept: { messages: kept } } });
      return true;
    });
    if (!found) return fail("not_found", { details: [{ path: "body.threadId", message: "is no thread" }] });
    return this.#unlist(threadId, await this.#fenced(id));
  }

  /** Removes the thread from the list before the caller gets its answer. */
  async #unlist(threadId: string, fenced: Result<Erasure>): Promise<Result<Erasure>> {
    if (!fenced.ok || (await this.#deps.conversations.removeFromCatalogue(threadId))) return fenced;
    return fail("storage_unavailable", { message: NOT_FENCED });
  }

  /** All memories of a scope, with their history. */
  async eraseScope({ hash }: Pick<Owner, "hash">, scope: string): Promise<Result<Erasure>> {
    const { table, writer, ingests } = this.#deps;
    const scopeHash = await hash16(`cairn:scope:${scope}`);
    const upTo = table.lastVersion();
    writer.rejectWritesTo(scope);
    ingests.deleteScope(scope);
    const running = this.#log
      .all()
      .flatMap(({ erased, state }) =>
        erased.what === "scope" && erased.scope === scope ? [{ erased, state }] : [],
      )
      .at(-1);
    if (running !== undefined && table.inScope(scope, upTo).length === 0)
      return this.#forgetScope(hash, running.state.id, running.erased);
    const id = this.#newId(hash);
    const erased = { what: "scope" as const, scope, upTo };
    this.#add(id, erased, { of: { what: "scope", scopeHash } });
    return this.#forgetScope(hash, id, erased);
  }

  /** Forgets the scope's memories before the caller gets its answer. */
  async #forgetScope(hash: UserHash, id: string, erased: ErasedScope): Promise<Result<Erasure>> {
    const forgotten = await this.#steps.forgetScope(hash, id, erased);
    return forgotten.ok ? this.#fenced(id) : fail(forgotten.code, { message: NOT_FENCED });
  }

  /**
   * Resumes an erasure that only D1 knows: the object died while it deleted its storage, and all but the receipt was done.
   */
  async takeOver(id: string): Promise<void> {
    const known = () => this.#log.get(id) !== null;
    if (known()) return;
    const state = await this.#deps.records.get(id);
    if (state === undefined || known() || !isEmptied(state)) return;
    // One that was set back to an earlier state has what was erased: only a storage that is new since has nothing.
    if (this.#deps.erasureEpoch.current < state.requestedAt) return;
    this.#deps.transactions.atomically(() => this.#log.takeOver(state, this.#deps.now()));
  }

  /** One that is under way, or null: D1 knows those that are done. */
  state(id: string): Erasure | null {
    return this.#log.get(id)?.state ?? null;
  }

  #newId(hash: UserHash): string {
    return `${hash}.${uuidv7({ msecs: this.#deps.now() })}`;
  }

  /** `object`: what it has removed already. */
  #add(
    id: string,
    erased: Erased,
    { of, object }: { of: Erasure["of"]; object?: Pick<ErasureStep, "erased" | "kept"> },
  ): void {
    const { now, vectors, pages } = this.#deps;
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
    const state: Erasure = { id, status: "running", of, requestedAt: now(), steps };
    this.#log.add({ erased, state, dueAt: now() });
    // An erasure of the user ends the epoch, which tells the readers of changes.
    if (erased.what !== "user") this.#deps.threads.noteErasure(id);
    this.#deps.fence.reset();
    this.#deps.alarms.scheduleBy(this.#deps.now());
  }

  /** Raises the fence in D1 before the caller gets its answer: from then on nobody reads what D1 still has. */
  async #fenced(id: string): Promise<Result<Erasure>> {
    const open = this.#log.get(id);
    if (open === null) return fail("internal");
    if (!open.fenced && !(await this.#deps.fence.raise(open)))
      return fail("storage_unavailable", { message: NOT_FENCED });
    return ok(this.state(id) ?? open.state);
  }
}

/** True if a user's erasure has no more to do but to overwrite what is left in the object's file. */
const isEmptied = ({ status, of, steps }: Erasure): boolean =>
  status === "running" && of.what === "user" && steps.every(({ state }) => state === "done");
