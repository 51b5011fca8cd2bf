import type { Erasable, ErasedData } from "../core/erasable.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { VectorIndex } from "../../../src/platform/vectors/vector-index.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { TombstoneRanges } from "../core/tombstone-ranges.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { ThreadStore } from "../threads/thread-store.ts";
import { MessageCopies } from "./message-copies.ts";
import { isMessage, MEMORIES, MESSAGES } from "../core/position.ts";
import { type OutgoingVector, VectorOutbox } from "./vector-outbox.ts";
import type { VectorName } from "../search-index/vector-rows.ts";
import { type VectorCacheOptions, type VectorMirror, VectorStore } from "../search-index/vector-store.ts";

type VectorSyncDependencies = {
  sql: SqlStorage;
  table: MemoryTable;
  threads: Pick<ThreadStore, "owner">;
  /** Null: this deployment has no Vectorize. */
  vectors: VectorIndex | null;
  /** True if Vectorize gets the vectors of messages too. */
  messages: boolean;
  cache: VectorCacheOptions;
  alarms: AlarmScheduler;
  now: () => number;
};

/** The vectors of all documents here, and the outbox that mirrors them to Vectorize. */
export class VectorSync implements VectorMirror, Erasable {
  readonly store: VectorStore;
  readonly outbox: VectorOutbox;
  readonly #deps: VectorSyncDependencies;
  readonly #copies: MessageCopies;

  constructor(deps: VectorSyncDependencies) {
    const { sql, vectors, now } = deps;
    this.#deps = deps;
    this.#copies = new MessageCopies(sql);
    this.store = new VectorStore(sql, this, deps.cache);
    this.outbox = new VectorOutbox({
      sql,
      vectors,
      owner: () => this.#owner(),
      read: (model, numbers) => this.#read(model, numbers),
      now,
    });
  }

  put(n: number, model: string): void {
    if (isMessage(n)) {
      if (!this.copiesMessages) return;
      // The first one waits for the next alarm, which sends all messages of the model.
      if (!this.#copies.models().includes(model)) return this.#deps.alarms.scheduleBy(this.#deps.now());
    }
    this.outbox.put(n, model);
    this.#wake();
  }

  remove(vectors: readonly VectorName[]): void {
    this.#remove(vectors, this.#copies.models());
  }

  /** Removes vectors of the user's documents that are still to be sent. */
  erase(data: ErasedData): void {
    if (data.what !== "user") return;
    for (const range of data.ranges) this.outbox.removeRange(range);
    this.#wake();
  }

  /** Removes vectors that an erasure took from `vectors`; Vectorize may have copies of any model. */
  removeErased(vectors: readonly VectorName[]): void {
    this.#remove(vectors, this.#copies.allModels());
  }

  /** Removes documents that have no rows here, for every model that Vectorize has had. */
  removeVersions(versions: readonly number[]): void {
    const models = this.outbox.models();
    this.removeErased(versions.flatMap((n) => models.map((model) => ({ n, model }))));
  }

  /** Sends these versions' vectors again, for a reindex. */
  putAgain(model: string, versions: readonly number[]): void {
    this.outbox.putAgain(
      model,
      this.store.rows.read(model, versions).map(({ n }) => n),
    );
    this.#wake();
  }

  /** Sends the messages' vectors again, for a reindex. */
  putMessagesAgain(model: string): void {
    if (!this.copiesMessages) return;
    this.#copies.begin(model, this.#deps.threads.owner());
    this.outbox.putAgain(model, this.store.rows.numbersBetween(MESSAGES, model));
    this.#wake();
  }

  /** True if Vectorize gets the vectors of messages. */
  get copiesMessages(): boolean {
    return this.#deps.vectors !== null && this.#deps.messages;
  }

  /** Sends and checks some changes, after those of a model or a setting that is new. */
  drain(model: string | null): Promise<void> {
    if (model !== null) {
      this.outbox.adopt(model, () => this.store.rows.numbersBetween(MEMORIES, model));
      this.#followMessageSetting(model);
    }
    return this.outbox.drain();
  }

  nextDue(model: string | null): number | null {
    return model !== null && this.#messageSettingChanged(model) ? this.#deps.now() : this.outbox.nextDue();
  }

  #messageSettingChanged(model: string): boolean {
    const copied = this.#copies.models();
    return this.copiesMessages
      ? !copied.includes(model) && this.store.rows.hasMessages(model)
      : copied.length > 0;
  }

  #followMessageSetting(model: string): void {
    if (!this.#messageSettingChanged(model)) return;
    if (this.copiesMessages) return this.putMessagesAgain(model);
    for (const copied of this.#copies.end())
      this.outbox.remove(this.store.rows.numbersBetween(MESSAGES, copied).map((n) => ({ n, model: copied })));
  }

  #remove(vectors: readonly VectorName[], messageModels: readonly string[]): void {
    if (this.#deps.vectors === null) return;
    this.outbox.remove(vectors.filter(({ n, model }) => !isMessage(n) || messageModels.includes(model)));
    this.#wake();
  }

  #wake(): void {
    this.#deps.alarms.scheduleBy(this.outbox.nextDue());
  }

  #owner(): UserHash {
    const owner = this.#deps.table.clock.owner()?.hash ?? this.#copies.owner();
    if (owner === null) throw new Error("the owner of the vectors is unknown");
    return owner;
  }

  #read(model: string, numbers: readonly number[]): OutgoingVector[] {
    const memories = this.#deps.table.numbered(numbers.filter((n) => !isMessage(n)));
    const rows = new Map(memories.map((row) => [row.version, row]));
    const tombstones = new TombstoneRanges(this.#deps.sql).all();
    return this.store.read(model, numbers).flatMap((one): OutgoingVector[] => {
      if (tombstones.some(([first, last]) => one.n >= first && one.n <= last)) return [];
      if (isMessage(one.n)) return [{ ...one, kind: "message" }];
      const { kind, scope = null } = rows.get(one.n) ?? {};
      return kind === undefined ? [] : [{ ...one, kind, ...(scope !== null && { scope }) }];
    });
  }
}
