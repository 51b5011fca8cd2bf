import type { MemoryRecords } from "../../../src/platform/d1/memory-records.ts";
import {
  ErasedWrite,
  FullDatabase,
  OvertakenWrite,
  RefusedWrite,
} from "../../../src/platform/d1/write-errors.ts";
import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { fail, type Failure } from "../../../src/domain/errors.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import { currentOf } from "../../../src/domain/memory/versions.ts";
import { storageFailureOf } from "../../../src/platform/storage-failure.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { IdempotencyStore } from "../../storage/idempotency-store.ts";
import { serialQueue } from "../../storage/serial-queue.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { DueMemories } from "./due-memories.ts";
import type { IntentLog, NotedIntent } from "./intent-log.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { MemoryIndex } from "./memory-index.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { OwnerRecord } from "../core/owner-record.ts";
import type { Transactions } from "../core/transactions.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

export type PendingWritesDependencies = {
  transactions: Transactions;
  table: MemoryTable;
  index: MemoryIndex;
  records: MemoryRecords;
  answers: IdempotencyStore;
  entries: Pick<EntryStore, "remove">;
  erasureEpoch: Pick<ErasureEpoch, "current" | "reach">;
  note: Pick<OwnerRecord, "uncatalogued" | "catalogued">;
  /** True if D1 has every erasure. Writes the missing ones first. */
  fence: { holds(): Promise<boolean> };
  alarms: AlarmScheduler;
  log: IntentLog;
  due: Pick<DueMemories, "nextDue">;
  now: () => number;
};
/**
 * `refused`: D1 never accepts it. `full`: given up, D1 has no room. `stale`: given up, an erasure in D1 is newer than
 * this object's storage. `pending`: tried again.
 */
type Outcome = "done" | "refused" | "full" | "stale" | "pending";

/** Attempts with a later number, where D1 has one. */
const OVERTAKES = 3;

/**
 * The writes of memories that D1 has not confirmed yet. A write is logged as an intent, then put into D1, then into the
 * object's rows and search index. The same transaction clears the intent. Writes run one after another, so D1 gets them
 * in the order of their acceptance. The next write or the alarm repeats a write that D1 did not confirm.
 */
export class PendingWrites {
  /** Runs a write after all earlier ones. The object answers reads meanwhile. */
  readonly inTurn = serialQueue();
  readonly #deps: PendingWritesDependencies;
  readonly log: IntentLog;
  /** Counts deletions. A deletion does not wait for its turn, and takes its memories out of earlier intents. */
  forgetCount = 0;
  /** True if D1 lacked a table or a column at the last attempt. */
  #known: "migrations_not_applied" | "daily_limit" | null = null;

  constructor(deps: PendingWritesDependencies) {
    this.#deps = deps;
    this.log = deps.log;
  }

  /** Applies every pending write. False if one stays pending. */
  async flush(): Promise<boolean> {
    // Without the fence, D1 lists new memories beside the ones that an erasure deletes.
    if (!(await this.#deps.fence.holds())) return false;
    let putsFail = false;
    // Includes deletions that arrive meanwhile: they do not wait for their turn.
    for (let n = this.log.after(0); n !== null; n = this.log.after(n)) {
      const intent = this.log.read(n);
      if (intent === null) continue;
      const puts = intent.put.length > 0;
      // A deletion may succeed though puts fail.
      if (putsFail && puts) continue;
      if ((await this.apply(intent)) !== "pending") continue;
      if (!puts) return false;
      putsFail = true;
    }
    return this.log.nextDue() === null;
  }

  /** Runs between writes, when none is pending. False if one stays pending. */
  betweenWrites(act: () => Promise<void>): Promise<boolean> {
    return this.inTurn(async () => {
      const settled = await this.flush();
      if (settled) await act();
      return settled;
    });
  }

  /** The memory as it is stored; null without one. `pending`: a write of it may still change that. */
  stored(id: string): MemoryRow | "pending" | null {
    if (this.isBeingDeleted(id)) return "pending";
    const { table, now } = this.#deps;
    return currentOf(new MemoryDraft(table, table.clock.latest(now())), id);
  }

  /** True if the memory's deletion is pending: D1 may still have it. */
  isBeingDeleted(id: string): boolean {
    return this.log.hasPendingFor(id) || this.log.forgetsAll();
  }

  /** The failure of a call that waits for a pending write. Missing migrations and the limit of a day have codes of their own. */
  pendingFailure(message: string): Failure {
    return this.#known === null ? fail("storage_unavailable", { message }) : fail(this.#known);
  }

  /** Logs a write, inside the caller's transaction. */
  note(intent: Parameters<IntentLog["note"]>[0]): NotedIntent {
    const { table, alarms, now } = this.#deps;
    const noted = this.log.note(intent, now());
    // D1 may show a version that never arrives here, so its number is used up.
    const seq = table.clock.tick(now(), Math.max(0, ...intent.put.map(({ version }) => version)));
    alarms.scheduleBy(this.log.nextDue());
    return { ...noted, seq };
  }

  /** Notes rows, and puts them. In turn, with no write pending. */
  put(owner: Owner, put: readonly MemoryRow[]): Promise<Outcome> {
    const noted = this.#deps.transactions.atomically(() => this.note({ owner, put, forget: [] }));
    return this.apply(noted, { first: true });
  }

  /** Deletes memories here, and logs their deletion in D1. Deletes the entries that they name too, unless `keepEntries`. */
  forget(owner: Owner, ids: readonly string[] | "all", { keepEntries = false } = {}): void {
    const { transactions, table, index, answers, entries, now } = this.#deps;
    this.forgetCount++;
    transactions.atomically(() => {
      if (!keepEntries) for (const key of table.entriesOf(ids, now())) entries.remove(key);
      // No pending put may bring a memory back.
      if (ids === "all") {
        table.removeAll();
        index.removeAll();
        this.log.clearEverything();
        answers.forgetMemories();
      } else {
        index.remove(table.remove(ids));
        this.log.clearAllOf(ids);
        answers.forget(ids);
      }
      this.note({ owner, put: [], forget: ids });
    });
  }

  /**
   * Puts a logged write into D1, then into the object. `vectors`: by version, where the text was embedded already.
   * `first`: no earlier attempt can have reached D1.
   */
  async apply(
    intent: NotedIntent,
    {
      vectors = new Map(),
      first = false,
    }: { vectors?: ReadonlyMap<number, TextEmbedding>; first?: boolean } = {},
  ): Promise<Outcome> {
    const { transactions, answers, now } = this.#deps;
    const { n } = intent;
    const forgetCount = this.forgetCount;
    const failed = await this.#writeToRecord(intent, first);
    if (failed === "pending") this.log.failed(n, now());
    // D1 would refuse it again. A write that waits for room would hold up smaller ones.
    else if (failed !== null) this.log.clear(n);
    if (failed !== null) return failed;
    transactions.atomically(() => {
      // A deletion during the write has taken its memories out of the intent.
      const left = forgetCount === this.forgetCount ? intent : this.log.read(n);
      if (left === null) return;
      this.#applyToObject(left, vectors);
      this.log.clear(n);
      if (left.answer !== undefined) answers.saveOf(left.answer, now());
    });
    return "done";
  }

  /** Puts a write into D1; null on success. */
  async #writeToRecord(intent: NotedIntent, first: boolean): Promise<Exclude<Outcome, "done"> | null> {
    const puts = intent.put.length > 0;
    try {
      await this.#sendToRecord(intent);
      this.#known = null;
      return null;
    } catch (error) {
      logUnconfirmed(puts ? "put" : "forget", error);
      const code = storageFailureOf(error);
      this.#known = code === "migrations_not_applied" || code === "daily_limit" ? code : null;
      if (error instanceof RefusedWrite) return "refused";
      if (error instanceof ErasedWrite) return this.#outcomeAfterErasure(intent, error);
      if (!puts || !(error instanceof FullDatabase)) return "pending";
      if (first) return "full";
    }
    try {
      return (await this.#isInRecord(intent)) ? null : "full";
    } catch (error) {
      logUnconfirmed("put", error);
      return "pending";
    }
  }

  /** The outcome of a write that D1 rejected because of an erasure. */
  #outcomeAfterErasure({ n }: NotedIntent, fence: ErasedWrite): "stale" | null {
    const { table, erasureEpoch } = this.#deps;
    // The erasure ran in this object and deleted the intent too.
    if (this.log.read(n) === null) return null;
    erasureEpoch.reach(fence);
    table.clock.reach(fence.upTo);
    return "stale";
  }

  /** True if an earlier attempt, whose answer was lost, is in D1. If not, none can land any more. */
  async #isInRecord({ n, owner, put }: NotedIntent): Promise<boolean> {
    const [newest] = put.toSorted((a, b) => b.version - a.version);
    // A later number makes D1 ignore attempts that are still on their way.
    await this.#sendToRecord({ n, owner, put: [], forget: [] });
    if (newest === undefined) return false;
    const page = { before: newest.version + 1, limit: 1 };
    const [newestThere] = await this.#deps.records.history(owner.hash, newest.id, page);
    return newestThere !== undefined && isSame(newestThere, newest);
  }

  /** Writes to D1 under a later number than all before. */
  async #sendToRecord({ owner, put, forget, seq: first }: NotedIntent): Promise<void> {
    const { records, table, erasureEpoch, note, now } = this.#deps;
    const newIn = put.length > 0 && note.uncatalogued(Infinity) !== null ? erasureEpoch.current : undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        const seq = (attempt === 1 ? first : undefined) ?? table.clock.tick(now());
        await records.write({ owner, seq, put, forget, ...(newIn !== undefined && { newIn }) });
        if (newIn === erasureEpoch.current) note.catalogued();
        return;
      } catch (error) {
        // Storage that was reset or restored does not have the last number; D1 has.
        if (!(error instanceof OvertakenWrite) || attempt === OVERTAKES) throw error;
        table.clock.tick(error.seq);
      }
    }
  }

  #applyToObject({ put, forget }: NotedIntent, vectors: ReadonlyMap<number, TextEmbedding>): void {
    const { table, index, alarms, due, now } = this.#deps;
    if (forget !== "all") index.remove(table.remove(forget));
    table.put(put);
    // The alarm embeds the rest, which lexical search finds meanwhile.
    if (index.put(put, vectors) > 0) alarms.scheduleBy(now());
    alarms.scheduleBy(due.nextDue());
  }
}

const isSame = (a: MemoryRow, b: MemoryRow): boolean =>
  // The fields are those of the table.
  (Object.keys(a) as (keyof MemoryRow)[]).every(
    (field) => JSON.stringify(a[field] ?? null) === JSON.stringify(b[field] ?? null),
  );

export function logUnconfirmed(what: string, error: unknown): void {
  const refused = error instanceof RefusedWrite;
  const full = error instanceof FullDatabase;
  console.error({
    message: refused ? "D1 refused a write" : full ? "D1 is full" : "D1 did not confirm a write",
    op: what,
    error: String(error),
  });
}
