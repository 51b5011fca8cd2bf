import { v7 as uuidv7 } from "uuid";
import { type Receipt, receiptOf } from "../../src/erasure/receipt.ts";
import type { ReceiptKey } from "../../src/erasure/receipt-key.ts";
import type { ErasureRecords, Fence } from "../../src/d1/erasure-records.ts";
import { fail, ok, type Result } from "../../src/errors.ts";
import { hash16, type UserHash } from "../../src/ids.ts";
import type { Owner } from "../../src/memory/record.ts";
import type { Erasure, ErasureStep, ErasureStore } from "../../src/schema/erasure.ts";
import type { WakeUp } from "../wake-up.ts";
import type { Conversations } from "./conversations.ts";
import type { Emptying } from "./emptying.ts";
import { type Erased, ErasureLog, hulls, type OpenErasure, rangesOf } from "./erasure-log.ts";
import { ErasureSteps } from "./erasure-steps.ts";
import { ErasedTables, isLocked } from "./erased-tables.ts";
import type { Generation } from "./generation.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { MemoryVectors } from "./memory-vectors.ts";
import type { MemoryWriter } from "./memory-writer.ts";
import type { OwnerNote } from "./owner-note.ts";
import type { SearchIndex } from "./search-index.ts";
import type { Transactions } from "./transactions.ts";
import { backOff } from "./vector-outbox-rows.ts";

export type EraserParts = {
  sql: SqlStorage;
  transactions: Transactions;
  generation: Generation;
  table: MemoryTable;
  index: SearchIndex;
  vectors: MemoryVectors;
  writer: MemoryWriter;
  conversations: Conversations;
  emptying: Emptying;
  owner: OwnerNote;
  records: ErasureRecords;
  receipts: ReceiptKey;
  /** Stops the object, which the caller's next try starts again. */
  restart: () => Promise<void>;
  wakeUp: WakeUp;
  now: () => number;
};

const NOT_FENCED =
  "It has begun, and nothing of it is recalled any more; the database has not confirmed it yet. Try again: it goes on as the same erasure.";
/** The stores that each erasure goes through; `vectors` only where there is a large index. */
const STORES: Readonly<Record<Erased["what"], readonly ErasureStore[]>> = {
  user: ["object", "memories", "threads", "users", "vectors"],
  thread: ["object", "threads", "vectors"],
  scope: ["object", "memories", "vectors"],
};

/** How long an erasure waits for a new start of the object. */
const START_WITHIN_MS = 30_000;
const IN_D1: ReadonlySet<ErasureStore> = new Set(["memories", "threads", "users"]);

/**
 * Erases: out of sight at once, then store by store by the alarm, with back-off, until each was read back empty; then a
 * signed receipt in D1, and nothing here. What is written after that is of the next epoch, and no step reaches it.
 */
export class Eraser {
  readonly #parts: EraserParts;
  readonly #log: ErasureLog;
  readonly #tables: ErasedTables;
  readonly #steps: ErasureSteps;
  /** Whether D1 is known to know of all: every write of memories asks. */
  #fenced = false;

  constructor(parts: EraserParts) {
    this.#parts = parts;
    this.#log = new ErasureLog(parts.sql);
    this.#tables = new ErasedTables(parts.sql);
    this.#steps = new ErasureSteps({ ...parts, log: this.#log, tables: this.#tables });
  }

  /**
   * Everything of the user's. Asked for again while one is under way it is that one, unless something was written since.
   */
  async eraseUser({ hash }: Pick<Owner, "hash">): Promise<Result<Erasure>> {
    const running = this.#log.all().findLast(({ erased }) => erased.what === "user");
    if (running !== undefined && this.#tables.empty) return this.#begun(hash, running.state.id);
    const id = this.#newId(hash);
    try {
      this.#putAside(id);
    } catch (error) {
      if (!isLocked(error)) throw error;
      // A page that was read in part holds the tables. The object that starts next has read nothing yet.
      this.#parts.generation.want(id);
      await this.#parts.restart();
    }
    return this.#begun(hash, id);
  }

  /** What is to be done before anything is read: an erasure that could not begin, and tables that could not be dropped. */
  start(): void {
    try {
      const { wanted } = this.#parts.generation;
      // Its caller tries again within a second. One that never came is not to take what was written since.
      if (wanted !== null && this.#parts.now() - askedAt(wanted) < START_WITHIN_MS) this.#putAside(wanted);
      this.#parts.transactions.atomically(() => this.#tables.dropEmpty());
    } catch (error) {
      console.error({ message: "an erasure could not be gone on with", error: String(error) });
    }
  }

  #putAside(id: string): void {
    const { transactions, generation, table, index, vectors, writer, owner } = this.#parts;
    transactions.atomically(() => {
      const upTo = table.lastVersion();
      const epoch = generation.next(upTo);
      const erased = { what: "user" as const, epoch, upTo, ...this.#tables.putAside(epoch) };
      this.#add(id, erased, { what: "user" });
      vectors.removeOnTheirWay(rangesOf(erased));
      writer.erased();
      owner.erased();
      index.forgetLoaded();
    });
  }

  /** One thread, but for messages that a fork of it shows; the failure `not_found` if there is none. */
  async eraseThread({ hash }: Pick<Owner, "hash">, threadId: string): Promise<Result<Erasure>> {
    const { transactions, conversations } = this.#parts;
    const running = this.#log
      .all()
      .findLast(({ erased }) => erased.what === "thread" && erased.threadId === threadId);
    // An import may have brought it back since: that is to be erased too.
    if (running !== undefined && !conversations.get(threadId).ok)
      return this.#takenOut(threadId, await this.#begun(hash, running.state.id));
    const id = this.#newId(hash);
    const found = transactions.atomically(() => {
      const removed = conversations.remove(threadId, id);
      if (removed === null) return false;
      const { erased, kept, gone } = removed;
      this.#add(id, { what: "thread", threadId, gone: hulls(gone) }, { what: "thread", threadId });
      this.#change(id, (state) => {
        for (const step of state.steps)
          if (step.store === "object") Object.assign(step, { erased, kept: { messages: kept } });
      });
      return true;
    });
    if (!found) return fail("not_found", { details: [{ path: "body.threadId", message: "is no thread" }] });
    return this.#takenOut(threadId, await this.#begun(hash, id));
  }

  /** Whoever is told that the thread is erased is not to see it listed. */
  async #takenOut(threadId: string, begun: Result<Erasure>): Promise<Result<Erasure>> {
    if (!begun.ok || (await this.#parts.conversations.takeOut(threadId))) return begun;
    return fail("storage_unavailable", { message: NOT_FENCED });
  }

  /** All memories of a scope, with their history. */
  async eraseScope({ hash }: Pick<Owner, "hash">, scope: string): Promise<Result<Erasure>> {
    const { table, writer } = this.#parts;
    const scopeHash = await hash16(`cairn:scope:${scope}`);
    const upTo = table.lastVersion();
    writer.erasesScope(scope);
    const running = this.#log
      .all()
      .findLast(({ erased }) => erased.what === "scope" && erased.scope === scope);
    const again = running !== undefined && table.inScope(scope, upTo).length === 0;
    const id = again ? running.state.id : this.#newId(hash);
    if (!again) this.#add(id, { what: "scope", scope, upTo }, { what: "scope", scopeHash });
    const erased = again ? running.erased : { what: "scope" as const, scope, upTo };
    if (erased.what === "scope") {
      const forgotten = await this.#steps.forgetScope(hash, id, erased);
      if (!forgotten.ok) return fail(forgotten.code, { message: NOT_FENCED });
    }
    return this.#begun(hash, id);
  }

  /** One that is under way, or null: D1 knows those that are done. */
  state(id: string): Erasure | null {
    return this.#log.get(id)?.state ?? null;
  }

  /** Whether D1 hides all that was erased. Where it may not, it is told now; false if it does not answer. */
  async fenced(): Promise<boolean> {
    if (this.#fenced) return true;
    for (const open of this.#log.all())
      if (!open.fenced && !(await this.#fence(open.state.id.slice(0, open.state.id.indexOf(".")), open)))
        return false;
    // Another one may have begun while this one was told of.
    this.#fenced = this.#log.all().every((open) => open.fenced);
    return this.#fenced;
  }

  nextDue(): number | null {
    return this.#log.nextDue();
  }

  /** Goes on with what is due, for the alarm. `hash` is in the id. */
  async alarm(): Promise<void> {
    for (const { state, dueAt } of this.#log.all())
      if (dueAt <= this.#parts.now()) await this.#goOn(state.id.slice(0, state.id.indexOf(".")), state.id);
  }

  #newId(hash: UserHash): string {
    return `${hash}.${uuidv7({ msecs: this.#parts.now() })}`;
  }

  #add(id: string, erased: Erased, of: Erasure["of"]): void {
    const { now, wakeUp, vectors } = this.#parts;
    // A receipt names no store that nobody looked at.
    const stores = STORES[erased.what].filter((store) => store !== "vectors" || vectors.outbox.bound);
    const steps = stores.map((store): ErasureStep => ({
      store,
      state: "open",
      erased: {},
      attempts: 0,
    }));
    const state: Erasure = { id, status: "running", of, requestedAt: now(), steps };
    this.#fenced = false;
    this.#log.add({ erased, state, dueAt: now() });
    wakeUp.by(now());
  }

  /** Lets D1 know before the caller does: from then on nobody reads what it still has. */
  async #begun(hash: UserHash, id: string): Promise<Result<Erasure>> {
    const open = this.#log.get(id);
    if (open === null) return fail("internal");
    if (!open.fenced && !(await this.#fence(hash, open)))
      return fail("storage_unavailable", { message: NOT_FENCED });
    return ok(this.state(id) ?? open.state);
  }

  async #fence(user: UserHash, { erased, state, revision }: OpenErasure): Promise<boolean> {
    const fence = fenceOf(user, erased);
    try {
      await this.#parts.records.note(state, { revision, ...(fence && { fence }) });
    } catch (error) {
      console.error({ message: "D1 did not take note of an erasure", error: String(error) });
      this.#change(state.id, (now) => {
        for (const { store } of now.steps) if (IN_D1.has(store)) countFailure(now, store, error);
      });
      return false;
    }
    this.#update(state.id, (open) => ({ ...open, fenced: true }));
    return true;
  }

  async #goOn(user: UserHash, id: string): Promise<void> {
    // The index may have been unbound since.
    if (!this.#parts.vectors.outbox.bound) this.#change(id, withoutVectors);
    const begun = this.#log.get(id);
    if (begun === null) return;
    if (!begun.fenced && !(await this.#fence(user, begun))) return this.#putOff(id);
    let failed = false;
    for (const { store, state } of begun.state.steps) {
      if (state === "done") continue;
      try {
        const done = await this.#steps.take(user, begun, store);
        this.#change(id, (now) => gotOn(now, store, done));
      } catch (error) {
        failed = true;
        console.error({ message: "an erasure could not go on", store, error: String(error) });
        this.#change(id, (now) => countFailure(now, store, error));
      }
    }
    if (failed) return this.#putOff(id);
    const open = this.#log.get(id);
    if (open === null) return;
    if (open.state.steps.some(({ state }) => state === "open"))
      return this.#update(id, (one) => ({ ...one, attempts: 0, dueAt: this.#steps.next(one) }));
    if (!(await this.#finish(user, open))) this.#putOff(id);
  }

  /** Signs what was done, puts it into D1 and reads it back; only then is it gone from here. */
  async #finish(user: UserHash, { state, revision }: OpenErasure): Promise<boolean> {
    const { records, receipts, now } = this.#parts;
    const finished = { ...state, status: "done" as const, finishedAt: now() };
    try {
      const payload: Receipt = receiptOf(user, finished);
      const receipt = await receipts.sign(payload);
      // Before the receipt is to be had, so that nobody has one that nothing verifies.
      await records.addKey(await receipts.publicKey());
      await records.note({ ...finished, receipt }, { revision: revision + 1 });
      if ((await records.get(state.id))?.status !== "done") return false;
    } catch (error) {
      console.error({ message: "a receipt was not stored", error: String(error) });
      return false;
    }
    this.#log.remove(state.id);
    return true;
  }

  #putOff(id: string): void {
    this.#update(id, (one) => ({
      ...one,
      attempts: one.attempts + 1,
      dueAt: this.#parts.now() + backOff(one.attempts + 1),
    }));
  }

  #change(id: string, change: (state: Erasure) => void): void {
    this.#update(id, (open) => {
      change(open.state);
      return open;
    });
  }

  /** Changes what is stored now: another call may have changed it while this one waited. */
  #update(id: string, change: (open: OpenErasure) => OpenErasure): void {
    const open = this.#log.get(id);
    if (open === null) return;
    this.#log.save(change(open));
    this.#parts.wakeUp.by(this.#log.nextDue());
  }
}

/** When an erasure was asked for: its uuid, of version 7, begins with the time. */
const askedAt = (id: string): number =>
  Number.parseInt(
    id
      .slice(id.indexOf(".") + 1)
      .replace("-", "")
      .slice(0, 12),
    16,
  );

const fenceOf = (user: UserHash, erased: Erased): Fence | null =>
  erased.what === "user" ? { user, epoch: erased.epoch, upTo: erased.upTo } : null;

function gotOn({ steps }: Erasure, store: ErasureStore, done: boolean): void {
  for (const step of steps) {
    if (step.store !== store) continue;
    step.attempts = 0;
    delete step.lastError;
    if (done) step.state = "done";
  }
}

function withoutVectors(erasure: Erasure): void {
  erasure.steps = erasure.steps.filter(({ store, state }) => store !== "vectors" || state === "done");
}

function countFailure({ steps }: Erasure, store: ErasureStore, error: unknown): void {
  for (const step of steps)
    if (step.store === store) {
      step.attempts++;
      step.lastError = error instanceof Error ? error.message : "failed";
    }
}
