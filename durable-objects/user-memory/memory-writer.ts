import type { MemoryRecords } from "../../src/d1/memory-records.ts";
import type { QueryVector } from "../../src/embeddings/embedder.ts";
import { RefusedWrite } from "../../src/d1/refused.ts";
import type { MemoryRow } from "../../src/d1/tables.ts";
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

const UNCONFIRMED = {
  put: "The database did not confirm the write, so it is not certain yet. Try again: the same text is never stored twice.",
  forget:
    "The memory is gone from recall. The database has not confirmed its deletion yet; Cairn goes on trying.",
};

/**
 * The one writer of a user's memories. A write is noted (an intent), put into D1, then into the search index,
 * and there the intent is cleared. Writes run one after another, each behind all intents that are still open, so
 * that D1 sees them in the order in which they were accepted. What D1 did not confirm is carried out again by
 * the next write or by the alarm: it is then there as a whole.
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
      const settled = await this.#settle();
      if (!settled.ok) return settled;
      const known = this.#parts.index.memoryByDedupeKey(request.dedupeKey);
      const row = this.#row(owner, request, known);
      if (!row.ok) return row;
      const noted = this.#note({ op: "put", id: row.value.id, row: row.value });
      const written = await this.#carryOut(noted, request.vector);
      if (!written.ok) return written;
      const remembered = ok({ memory: memoryOf(row.value), created: known === null });
      return this.#parts.answers.keep(request.once, remembered, this.#parts.now());
    });
  }

  /** Gone from recall at once, whatever D1 does. False if there is no such memory. */
  forget(owner: Owner, id: string): Promise<Result<boolean>> {
    return this.#inTurn(async () => {
      const open = this.#intents.forgets(id);
      if (!open && this.#parts.index.memory(id) === null) return ok(false);
      if (!open) this.#forgetAtOnce(owner, id);
      const settled = await this.#settle();
      return settled.ok ? ok(true) : settled;
    });
  }

  /** Carries out what is still open: for the alarm. */
  settle(): Promise<Result<null>> {
    return this.#inTurn(() => this.#settle());
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

  async #settle(): Promise<Result<null>> {
    for (const noted of this.#intents.pending()) {
      const done = await this.#carryOut(noted);
      if (!done.ok) return done;
    }
    return ok(null);
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
      // An open put must not bring the memory back for as long as it takes to delete it again.
      this.#intents.clearAllOf(id);
      this.#note({ op: "forget", id, owner: owner.hash });
    });
  }

  async #carryOut(noted: NotedIntent, vector?: QueryVector): Promise<Result<null>> {
    const { intent } = noted;
    try {
      if (intent.op === "put") await this.#parts.records.put(intent.row);
      else await this.#parts.records.delete(intent.owner, intent.id);
    } catch (error) {
      return this.#failed(noted, error);
    }
    this.#parts.storage.transactionSync(() => {
      if (intent.op === "put") this.#index(intent.row, vector);
      this.#intents.clear(noted);
    });
    return ok(null);
  }

  #failed(noted: NotedIntent, error: unknown): Result<null> {
    const { op } = noted.intent;
    const refused = error instanceof RefusedWrite;
    console.error({
      message: refused ? "D1 refused a write" : "D1 did not confirm a write",
      op,
      error: String(error),
    });
    // A refused write would be refused again, and all later ones would wait behind it.
    if (refused) {
      this.#intents.clear(noted);
      return fail("internal");
    }
    this.#intents.failed(noted, this.#parts.now());
    this.#parts.wakeUp.by(this.#intents.nextDue());
    return fail("storage_unavailable", { message: UNCONFIRMED[op] });
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
