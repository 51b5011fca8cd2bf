import { ErasedWrite, type MemoryRecords, OvertakenWrite } from "../../../src/platform/d1/memory-records.ts";
import { FullDatabase, RefusedWrite } from "../../../src/platform/d1/refused.ts";
import type { QueryVector } from "../../../src/platform/embeddings/embedder.ts";
import { fail, type Failure } from "../../../src/domain/errors.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import { isUnmigrated } from "../../../src/platform/storage-failure.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { WakeUp } from "../../storage/wake-up.ts";
import type { Answers } from "../../storage/answers.ts";
import type { Generation } from "../core/generation.ts";
import { IntentLog, type NotedIntent } from "./intent-log.ts";
import type { MemoryIndex } from "./memory-index.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { OwnerNote } from "../core/owner-note.ts";
import type { Transactions } from "../core/transactions.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

export type PendingWritesDependencies = {
  sql: SqlStorage;
  transactions: Transactions;
  table: MemoryTable;
  index: MemoryIndex;
  records: MemoryRecords;
  answers: Answers;
  entries: Pick<EntryStore, "remove">;
  generation: Pick<Generation, "epoch" | "reach">;
  note: Pick<OwnerNote, "uncatalogued" | "catalogued">;
  /** True if D1 knows of every erasure; where it may not, it is told first. */
  fence: { holds(): Promise<boolean> };
  wakeUp: WakeUp;
  now: () => number;
};
/**
 * `refused`: never to be had; `full`: given up, since D1 has no room; `stale`: given up, since the
 * object knew less than D1; `open`: to be tried again.
 */
type Outcome = "done" | "refused" | "full" | "stale" | "pending";

/** How often a write is given a later number when D1 knows one. */
const OVERTAKES = 3;

/**
 * The writes of memories that are noted and that D1 has not confirmed. A write is noted (an intent), put into D1, then
 * into the object's own rows and search index, and there the intent is cleared. They run one after another, so that D1
 * sees them in the order in which they were accepted. What D1 did not confirm is carried out again by the next write or
 * by the alarm: it is then there as a whole.
 */
export class PendingWrites {
  readonly #parts: PendingWritesDependencies;
  readonly #log: IntentLog;
  #turn: Promise<unknown> = Promise.resolve();
  #forgetCount = 0;
  /** Whether D1 lacked a table at the last try. */
  #unmigrated = false;

  constructor(parts: PendingWritesDependencies) {
    this.#parts = parts;
    this.#log = new IntentLog(parts.sql);
  }

  /** Grows with every forgetting: it does not wait for its turn, and what was noted before may lose parts. */
  get forgetCount(): number {
    return this.#forgetCount;
  }

  /** Whether an open write puts or forgets this memory. */
  hasPendingFor(id: string): boolean {
    return this.#log.hasPendingFor(id);
  }

  /** Whether one forgets every memory. */
  forgetsAll(): boolean {
    return this.#log.forgetsAll();
  }

  /** When the first of what is open is to be tried again; null if nothing is open. */
  nextDue(): number | null {
    return this.#log.nextDue();
  }

  /** Runs a write when all before it are done; the object goes on answering reads meanwhile. */
  inTurn<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(write);
    this.#turn = result.catch(() => null);
    return result;
  }

  /** Carries out what is open. False if something stays so. */
  async flush(): Promise<boolean> {
    // Or what is written anew would be listed beside what is being erased.
    if (!(await this.#parts.fence.holds())) return false;
    let putsFail = false;
    // Also what is noted meanwhile: a forget does not wait for its turn.
    for (let n = this.#log.after(0); n !== null; n = this.#log.after(n)) {
      const intent = this.#log.read(n);
      if (intent === null) continue;
      const puts = intent.put.length > 0;
      // Where puts fail, forgets may still get through.
      if (putsFail && puts) continue;
      if ((await this.apply(intent)) !== "pending") continue;
      if (!puts) return false;
      putsFail = true;
    }
    return this.#log.nextDue() === null;
  }

  /** The failure of a call that something open holds up, with these words unless a person has to act first. */
  pendingFailure(message: string): Failure {
    return this.#unmigrated ? fail("migrations_not_applied") : fail("storage_unavailable", { message });
  }

  /** Notes what is to be carried out, inside the caller's transaction. */
  note(intent: Parameters<IntentLog["note"]>[0]): NotedIntent {
    const noted = this.#log.note(intent, this.#parts.now());
    // D1 may show a version that never gets here: its number is used all the same.
    this.#parts.table.reach(Math.max(0, ...intent.put.map(({ version }) => version)));
    this.#parts.wakeUp.by(this.#log.nextDue());
    return noted;
  }

  /**
   * Takes memories out of every recall at once, and notes that D1 is to forget them. The entries that they name now go with
   * them, unless these are to be kept.
   */
  forget(owner: Owner, ids: readonly string[], { keepEntries = false } = {}): void {
    const { transactions, table, index, answers, entries, now } = this.#parts;
    this.#forgetCount++;
    transactions.atomically(() => {
      if (!keepEntries) for (const key of table.entriesOf(ids, now())) entries.remove(key);
      index.remove(table.remove(ids));
      // A put that is open, or under way, must not bring a memory back: this stands for all before it.
      this.#log.clearAllOf(ids);
      answers.forget(ids);
      this.note({ owner, put: [], forget: ids });
    });
  }

  /** The same of all memories of the user. */
  forgetAll(owner: Owner): void {
    const { transactions, table, index, answers, entries, now } = this.#parts;
    this.#forgetCount++;
    transactions.atomically(() => {
      for (const key of table.allEntries(now())) entries.remove(key);
      table.removeAll();
      index.removeAll();
      this.#log.clearEverything();
      answers.forgetMemories();
      this.note({ owner, put: [], forget: "all" });
    });
  }

  /** Says that memories were taken away otherwise: what is decided on them is to be decided anew. */
  forgotten(): void {
    this.#forgetCount++;
  }

  /**
   * Puts a noted write into D1, and then, with the vectors of versions that have one, into the object. `first`: no try
   * of it can be in D1, nor on its way there.
   */
  async apply(
    intent: NotedIntent,
    {
      vectors = new Map(),
      first = false,
    }: { vectors?: ReadonlyMap<number, QueryVector>; first?: boolean } = {},
  ): Promise<Outcome> {
    const { transactions, answers, now } = this.#parts;
    const { n } = intent;
    const forgetCount = this.#forgetCount;
    const failed = await this.#recorded(intent, first);
    if (failed === "pending") this.#log.failed(n, now());
    // A refused write would be refused again, for ever; one that waits for room would hold up all that fits.
    else if (failed !== null) this.#log.clear(n);
    if (failed !== null) return failed;
    transactions.atomically(() => {
      // What was forgotten while D1 wrote it is no longer in it.
      const left = forgetCount === this.#forgetCount ? intent : this.#log.read(n);
      if (left === null) return;
      this.#applyToObject(left, vectors);
      this.#log.clear(n);
      if (left.answer !== undefined) answers.keepOf(left.answer, now());
    });
    return "done";
  }

  /** Puts a write into D1; null once it is there. */
  async #recorded(intent: NotedIntent, first: boolean): Promise<Exclude<Outcome, "done"> | null> {
    const puts = intent.put.length > 0;
    try {
      await this.#toRecord(intent);
      this.#unmigrated = false;
      return null;
    } catch (error) {
      logUnconfirmed(puts ? "put" : "forget", error);
      this.#unmigrated = isUnmigrated(error);
      if (error instanceof RefusedWrite) return "refused";
      if (error instanceof ErasedWrite) return this.#erased(intent, error);
      if (!puts || !(error instanceof FullDatabase)) return "pending";
      if (first) return "full";
    }
    try {
      return (await this.#isThere(intent)) ? null : "full";
    } catch (error) {
      logUnconfirmed("put", error);
      return "pending";
    }
  }

  /** What becomes of a write that an erasure has taken: that of this object, or one that its storage knows nothing of. */
  #erased({ n }: NotedIntent, fence: ErasedWrite): "stale" | null {
    const { table, generation } = this.#parts;
    // The erasure took the intent, too.
    if (this.#log.read(n) === null) return null;
    generation.reach(fence);
    table.reach(fence.upTo);
    return "stale";
  }

  /** Whether an earlier try of a write, whose answer was lost, is in D1. If not, none gets there any more. */
  async #isThere({ n, owner, put }: NotedIntent): Promise<boolean> {
    const [newest] = put.toSorted((a, b) => b.version - a.version);
    // Its number is later than those of the tries before: what is still on its way will do nothing.
    await this.#toRecord({ n, owner, put: [], forget: [] });
    if (newest === undefined) return false;
    const page = { before: newest.version + 1, limit: 1 };
    const [there] = await this.#parts.records.history(owner.hash, newest.id, page);
    return there !== undefined && isSame(there, newest);
  }

  /** Writes to D1 under a number that is later than all before. */
  async #toRecord({ owner, put, forget }: NotedIntent): Promise<void> {
    const { records, table, generation, note, now } = this.#parts;
    const newIn = put.length > 0 && note.uncatalogued(Infinity) !== null ? generation.epoch : undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        const seq = table.tick(now());
        await records.write({ owner, seq, put, forget, ...(newIn !== undefined && { newIn }) });
        if (newIn === generation.epoch) note.catalogued();
        return;
      } catch (error) {
        // Only D1 knows the last number of an object whose storage is newer, or was set back.
        if (!(error instanceof OvertakenWrite) || attempt === OVERTAKES) throw error;
        table.tick(error.seq);
      }
    }
  }

  #applyToObject({ put, forget }: NotedIntent, vectors: ReadonlyMap<number, QueryVector>): void {
    const { table, index, wakeUp, now } = this.#parts;
    if (forget !== "all") index.remove(table.remove(forget));
    table.put(put);
    // Without a vector a memory waits for the alarm to embed it, and is found by its words meanwhile.
    if (index.put(put, vectors) > 0) wakeUp.by(now());
    wakeUp.by(table.nextExpiry());
  }
}

/** Whether two rows hold the same in every column. */
const isSame = (a: MemoryRow, b: MemoryRow): boolean =>
  // The fields are those of the table.
  (Object.keys(a) as (keyof MemoryRow)[]).every(
    (field) => JSON.stringify(a[field] ?? null) === JSON.stringify(b[field] ?? null),
  );

/** For who watches the logs: an outage that goes on is seen there first. */
export function logUnconfirmed(what: string, error: unknown): void {
  const refused = error instanceof RefusedWrite;
  const full = error instanceof FullDatabase;
  console.error({
    message: refused ? "D1 refused a write" : full ? "D1 is full" : "D1 did not confirm a write",
    op: what,
    error: String(error),
  });
}
