import type { MemoryRecords } from "../../src/d1/memory-records.ts";
import { RefusedWrite } from "../../src/d1/refused.ts";
import type { MemoryRow } from "../../src/d1/tables.ts";
import type { QueryVector } from "../../src/embeddings/embedder.ts";
import { fail, ok, type Result } from "../../src/errors.ts";
import { memoryOf, mergedRow, newRow, type Owner } from "../../src/memory/record.ts";
import type { Memory, RememberBody } from "../../src/schema/memory.ts";
import type { WakeUp } from "../wake-up.ts";
import type { Answers, Once } from "./answers.ts";
import { type Intent, IntentLog, type NotedIntent } from "./intent-log.ts";
import type { Document, SearchIndex } from "./search-index.ts";

export type Remember = { body: RememberBody; dedupeKey: string; vector: QueryVector; once?: Once };
export type Remembered = { memory: Memory; created: boolean };

type Parts = {
  storage: DurableObjectStorage;
  index: SearchIndex;
  records: MemoryRecords;
  answers: Answers;
  wakeUp: WakeUp;
  now: () => number;
};
/** `refused`: never to be had; `open`: to be tried again. */
type Outcome = "done" | "refused" | "open";

/** Intents that one call or alarm carries out. */
const SLICE = 100;

const UNCERTAIN =
  "The database did not confirm the write, so it is not certain yet. Try again: the same text is never stored twice.";
const NOT_NOTED = "The database does not answer, and nothing was stored. Try again.";
const NOT_DELETED =
  "The memory is gone from recall. The database has not confirmed its deletion yet; Cairn goes on trying.";

/**
 * The one writer of a user's memories. A write is noted (an intent), put into D1, then into the search index, and
 * there the intent is cleared. Writes run one after another, each behind the intents that are still open, so that D1
 * sees the writes of a memory in the order in which they were accepted. What D1 did not confirm is carried out again
 * by the next write or by the alarm: it is then there as a whole.
 */
export class MemoryWriter {
  readonly #parts: Parts;
  readonly #intents: IntentLog;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#intents = new IntentLog(parts.storage.sql);
  }

  remember(owner: Owner, request: Remember): Promise<Result<Remembered>> {
    return this.#inTurn(async () => {
      const before = this.#parts.answers.before<Remembered>(request.once, this.#parts.now());
      if (before !== null) return before;
      // Nothing new is noted while older writes cannot be carried out: a caller's retries would pile up.
      if (!(await this.#settle())) return fail("storage_unavailable", { message: NOT_NOTED });
      const known = this.#parts.index.memoryByDedupeKey(request.dedupeKey);
      const row = this.#row(owner, request, known);
      if (!row.ok) return row;
      const noted = this.#note({ op: "put", id: row.value.id, row: row.value });
      const outcome = await this.#carryOut(noted, request.vector);
      if (outcome === "refused") return fail("internal");
      if (outcome === "open") return fail("storage_unavailable", { message: UNCERTAIN });
      const remembered = ok({ memory: memoryOf(row.value), created: known === null });
      const kept = { now: this.#parts.now(), memoryId: row.value.id };
      return this.#parts.answers.keep(request.once, remembered, kept);
    });
  }

  /** Gone from recall before anything is awaited, whatever D1 does. False if there is no such memory. */
  forget(owner: Owner, id: string): Promise<Result<boolean>> {
    const known = this.#parts.index.memory(id) !== null || this.#intents.concerns(id);
    if (known) this.#forgetAtOnce(owner, id);
    return this.#inTurn(async () => {
      await this.#settle();
      if (this.#intents.concerns(id)) return fail("storage_unavailable", { message: NOT_DELETED });
      return known ? ok(true) : this.#deleteUnindexed(owner, id);
    });
  }

  /** Carries out what is still open and due, for the alarm. */
  async settleDue(): Promise<void> {
    const due = this.#intents.nextDue();
    if (due !== null && due <= this.#parts.now()) await this.#inTurn(() => this.#settle());
  }

  /** When the alarm should try what is still open, or null if nothing is. */
  nextDue(): number | null {
    return this.#intents.nextDue();
  }

  /** Runs a write when all before it are done; the object goes on answering reads meanwhile. */
  #inTurn<T>(write: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(write);
    this.#turn = result.catch(() => null);
    return result;
  }

  /** A memory that only D1 has, as a write may leave it whose answer was lost. */
  async #deleteUnindexed(owner: Owner, id: string): Promise<Result<boolean>> {
    try {
      return ok(await this.#parts.records.delete(owner.hash, id));
    } catch (error) {
      logFailure("forget", error);
      return fail("storage_unavailable");
    }
  }

  /** Carries out what is open. False if something stays so. */
  async #settle(): Promise<boolean> {
    let full = false;
    for (const noted of this.#intents.pending(SLICE)) {
      // Where puts fail, forgets may still get through, and are what makes room in a full database.
      if (full && noted.intent.op === "put") continue;
      const outcome = await this.#carryOut(noted);
      if (outcome !== "open") continue;
      if (noted.intent.op === "forget") return false;
      full = true;
    }
    return this.#intents.nextDue() === null;
  }

  #row(owner: Owner, { body, dedupeKey: key }: Remember, known: Document | null): Result<MemoryRow> {
    const now = this.#parts.now();
    return known === null
      ? ok(newRow(owner, body, { key, now }))
      : mergedRow(JSON.parse(known.record) as MemoryRow, body, now);
  }

  #note(intent: Intent): NotedIntent {
    const noted = this.#intents.note(intent, this.#parts.now());
    this.#parts.wakeUp.by(this.#intents.nextDue());
    return noted;
  }

  #forgetAtOnce(owner: Owner, id: string): void {
    this.#parts.storage.transactionSync(() => {
      this.#parts.index.removeMemory(id);
      // A put that is open, or under way, must not bring the memory back: this stands for all before it.
      this.#intents.clearAllOf(id);
      this.#parts.answers.forget(id);
      this.#note({ op: "forget", id, owner: owner.hash });
    });
  }

  async #carryOut(noted: NotedIntent, vector?: QueryVector): Promise<Outcome> {
    const { intent } = noted;
    try {
      if (intent.op === "put") await this.#parts.records.put(intent.row);
      else await this.#parts.records.delete(intent.owner, intent.id);
    } catch (error) {
      logFailure(intent.op, error);
      // A refused write would be refused again, for ever.
      if (error instanceof RefusedWrite) this.#intents.clear(noted);
      else this.#intents.failed(noted, this.#parts.now());
      return error instanceof RefusedWrite ? "refused" : "open";
    }
    this.#parts.storage.transactionSync(() => {
      // Cleared meanwhile: the memory was forgotten while D1 wrote it.
      if (this.#intents.clear(noted) && intent.op === "put") this.#index(intent.row, vector);
    });
    return "done";
  }

  #index(row: MemoryRow, given?: QueryVector): void {
    const n = this.#parts.index.putMemory({
      id: row.id,
      kind: row.kind,
      text: row.text,
      dedupeKey: row.dedupeKey,
      record: JSON.stringify(row),
      createdAt: row.createdAt,
    });
    // Without a vector the memory waits for the alarm to embed it, and is found by its words meanwhile.
    if (given === undefined || given.vector === "failed") this.#parts.wakeUp.by(this.#parts.now());
    else this.#parts.index.attach(n, given, given.vector);
  }
}

function logFailure(op: Intent["op"], error: unknown): void {
  const refused = error instanceof RefusedWrite;
  console.error({
    message: refused ? "D1 refused a write" : "D1 did not confirm a write",
    op,
    error: String(error),
  });
}
