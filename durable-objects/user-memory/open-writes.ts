import { type MemoryRecords, OvertakenWrite } from "../../src/d1/memory-records.ts";
import { RefusedWrite } from "../../src/d1/refused.ts";
import type { QueryVector } from "../../src/embeddings/embedder.ts";
import type { Owner } from "../../src/memory/record.ts";
import type { WakeUp } from "../wake-up.ts";
import type { Answers } from "./answers.ts";
import type { Generation } from "./generation.ts";
import { IntentLog, type NotedIntent } from "./intent-log.ts";
import type { MemoryIndex } from "./memory-index.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { OwnerNote } from "./owner-note.ts";
import type { Transactions } from "./transactions.ts";

export type OpenWritesParts = {
  sql: SqlStorage;
  transactions: Transactions;
  table: MemoryTable;
  index: MemoryIndex;
  records: MemoryRecords;
  answers: Answers;
  generation: Pick<Generation, "epoch">;
  note: Pick<OwnerNote, "uncatalogued" | "catalogued">;
  /** Whether D1 knows of every erasure; else it is told first. */
  fenced: () => Promise<boolean>;
  wakeUp: WakeUp;
  now: () => number;
};
/** `refused`: never to be had; `open`: to be tried again. */
type Outcome = "done" | "refused" | "open";

/** How often a write is given a later number when D1 knows one. */
const OVERTAKES = 3;

/**
 * The writes of memories that are noted and that D1 has not confirmed. A write is noted (an intent), put into D1, then
 * into the object's own rows and search index, and there the intent is cleared. They run one after another, so that D1
 * sees them in the order in which they were accepted. What D1 did not confirm is carried out again by the next write or
 * by the alarm: it is then there as a whole.
 */
export class OpenWrites {
  readonly #parts: OpenWritesParts;
  readonly #log: IntentLog;
  #turn: Promise<unknown> = Promise.resolve();
  #forgettings = 0;

  constructor(parts: OpenWritesParts) {
    this.#parts = parts;
    this.#log = new IntentLog(parts.sql);
  }

  /** Grows with every forgetting: it does not wait for its turn, and what was noted before may lose parts. */
  get forgettings(): number {
    return this.#forgettings;
  }

  /** Whether an open write puts or forgets this memory. */
  concerns(id: string): boolean {
    return this.#log.concerns(id);
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
  async settle(): Promise<boolean> {
    // Or what is written anew would be listed beside what is being erased.
    if (!(await this.#parts.fenced())) return false;
    let full = false;
    // Also what is noted meanwhile: a forget does not wait for its turn.
    for (let n = this.#log.after(0); n !== null; n = this.#log.after(n)) {
      const intent = this.#log.read(n);
      if (intent === null) continue;
      const puts = intent.put.length > 0;
      // Where puts fail, forgets may still get through, and are what makes room in a full database.
      if (full && puts) continue;
      if ((await this.carryOut(intent)) !== "open") continue;
      if (!puts) return false;
      full = true;
    }
    return this.#log.nextDue() === null;
  }

  /** Notes what is to be carried out, inside the caller's transaction. */
  note(intent: Parameters<IntentLog["note"]>[0]): NotedIntent {
    const noted = this.#log.note(intent, this.#parts.now());
    // D1 may show a version that never gets here: its number is used all the same.
    this.#parts.table.reach(Math.max(0, ...intent.put.map(({ version }) => version)));
    this.#parts.wakeUp.by(this.#log.nextDue());
    return noted;
  }

  /** Takes memories out of every recall at once, and notes that D1 is to forget them. */
  forget(owner: Owner, ids: readonly string[]): void {
    const { transactions, table, index, answers } = this.#parts;
    this.#forgettings++;
    transactions.atomically(() => {
      index.remove(table.remove(ids));
      // A put that is open, or under way, must not bring a memory back: this stands for all before it.
      this.#log.clearAllOf(ids);
      answers.forget(ids);
      this.note({ owner, put: [], forget: ids });
    });
  }

  /** The same of all memories of the user. */
  forgetAll(owner: Owner): void {
    const { transactions, table, index, answers } = this.#parts;
    this.#forgettings++;
    transactions.atomically(() => {
      table.removeAll();
      index.removeAll();
      this.#log.clearEverything();
      answers.forgetMemories();
      this.note({ owner, put: [], forget: "all" });
    });
  }

  /** Says that memories were taken away otherwise: what is decided on them is to be decided anew. */
  forgotten(): void {
    this.#forgettings++;
  }

  /** Puts a noted write into D1, and then, with the vectors of versions that have one, into the object. */
  async carryOut(
    intent: NotedIntent,
    vectors: ReadonlyMap<number, QueryVector> = new Map(),
  ): Promise<Outcome> {
    const { transactions, answers, now } = this.#parts;
    const { n } = intent;
    const forgettings = this.#forgettings;
    try {
      await this.#toRecord(intent);
    } catch (error) {
      logUnconfirmed(intent.put.length > 0 ? "put" : "forget", error);
      // A refused write would be refused again, for ever.
      if (error instanceof RefusedWrite) this.#log.clear(n);
      else this.#log.failed(n, now());
      return error instanceof RefusedWrite ? "refused" : "open";
    }
    transactions.atomically(() => {
      // What was forgotten while D1 wrote it is no longer in it.
      const left = forgettings === this.#forgettings ? intent : this.#log.read(n);
      if (left === null) return;
      this.#apply(left, vectors);
      this.#log.clear(n);
      if (left.answer !== undefined) answers.keepOf(left.answer, now());
    });
    return "done";
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

  #apply({ put, forget }: NotedIntent, vectors: ReadonlyMap<number, QueryVector>): void {
    const { table, index, wakeUp, now } = this.#parts;
    if (forget !== "all") index.remove(table.remove(forget));
    table.put(put);
    // Without a vector a memory waits for the alarm to embed it, and is found by its words meanwhile.
    if (index.put(put, vectors) > 0) wakeUp.by(now());
    wakeUp.by(table.nextExpiry());
  }
}

/** For who watches the logs: an outage that goes on is seen there first. */
export function logUnconfirmed(what: string, error: unknown): void {
  const refused = error instanceof RefusedWrite;
  console.error({
    message: refused ? "D1 refused a write" : "D1 did not confirm a write",
    op: what,
    error: String(error),
  });
}
