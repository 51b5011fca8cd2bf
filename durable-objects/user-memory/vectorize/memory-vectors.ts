import type { UserHash } from "../../../src/domain/ids.ts";
import type { VectorIndex } from "../../../src/platform/vectors/vector-index.ts";
import type { WakeUp } from "../../storage/wake-up.ts";
import { LeavingRanges } from "../core/leaving-ranges.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { ThreadStore } from "../threads/thread-store.ts";
import { MessageCopies } from "./message-copies.ts";
import { FIRST_POSITION, type PositionRange } from "../core/position.ts";
import { type OutgoingVector, VectorOutbox } from "./vector-outbox.ts";
import {
  type VectorCopy,
  type VectorMemory,
  type VectorName,
  VectorStore,
} from "../search-index/vector-store.ts";

type Parts = {
  sql: SqlStorage;
  table: MemoryTable;
  threads: Pick<ThreadStore, "owner">;
  /** Null: this deployment has no large index. */
  vectors: VectorIndex | null;
  /** Whether messages' vectors are to be in the large index too. */
  messages: boolean;
  memory: VectorMemory;
  wakeUp: WakeUp;
  now: () => number;
};

const MEMORIES: PositionRange = [0, FIRST_POSITION - 1];
const MESSAGES: PositionRange = [FIRST_POSITION, Number.MAX_SAFE_INTEGER];

/** The vectors of all documents here, and the outbox that keeps the large index's copy of them. */
export class MemoryVectors implements VectorCopy {
  readonly store: VectorStore;
  readonly outbox: VectorOutbox;
  readonly #parts: Parts;
  readonly #copies: MessageCopies;

  constructor(parts: Parts) {
    const { sql, vectors, now } = parts;
    this.#parts = parts;
    this.#copies = new MessageCopies(sql);
    this.store = new VectorStore(sql, this, parts.memory);
    const read = (model: string, numbers: readonly number[]) => this.#read(model, numbers);
    this.outbox = new VectorOutbox({ sql, vectors, owner: () => this.#owner(), read, now });
  }

  put(n: number, model: string): void {
    if (n >= FIRST_POSITION) {
      if (!this.copiesMessages) return;
      // The first one waits for the next alarm, which sends all that there are.
      if (!this.#copies.models().includes(model)) return this.#parts.wakeUp.by(this.#parts.now());
    }
    this.outbox.put(n, model);
    this.#wake();
  }

  remove(vectors: readonly VectorName[]): void {
    if (this.#parts.vectors === null) return;
    const copied = new Set(this.#copies.models());
    this.outbox.remove(vectors.filter(({ n, model }) => n < FIRST_POSITION || copied.has(model)));
    this.#wake();
  }

  /** Whatever is on its way to the large index of these documents is to be gone. */
  removeOnTheirWay(ranges: readonly PositionRange[]): void {
    for (const range of ranges) this.outbox.removeRange(range);
    this.#wake();
  }

  /** The same of vectors that were erased here, and that nobody here knows of any more: there may be copies of them. */
  removeErased(vectors: readonly VectorName[]): void {
    if (this.#parts.vectors === null) return;
    const copied = new Set(this.#copies.allModels());
    this.outbox.remove(vectors.filter(({ n, model }) => n < FIRST_POSITION || copied.has(model)));
    this.#wake();
  }

  /** The same of versions of which only D1 knows, and nobody of which models they have vectors. */
  removeVersions(versions: readonly number[]): void {
    const models = this.outbox.models();
    this.removeErased(versions.flatMap((n) => models.map((model) => ({ n, model }))));
  }

  /** Sends these versions' vectors once more, for a reindex. */
  putAgain(model: string, versions: readonly number[]): void {
    const there = this.store.read(model, versions).map(({ n }) => n);
    this.outbox.putAgain(model, there);
    this.#wake();
  }

  /** Sends the messages' vectors once more, as far as they are to be in the large index. */
  putMessagesAgain(model: string): void {
    if (!this.copiesMessages) return;
    this.#copies.begin(model, this.#parts.threads.owner());
    this.outbox.putAgain(model, this.store.rows.numbersBetween(MESSAGES, model));
    this.#wake();
  }

  /** Documents whose vector of this model the large index may miss: memories first, the newest of each first. */
  unconfirmed(model: string): Generator<number> {
    return this.outbox.unconfirmed(model);
  }

  /** Whether the large index is to have messages' vectors. */
  get copiesMessages(): boolean {
    return this.#parts.vectors !== null && this.#parts.messages;
  }

  /** Brings the large index nearer to what is here; first of all what was here before it was to have it. */
  drain(model: string | null): Promise<void> {
    if (model !== null) {
      this.outbox.adopt(model, () => this.store.rows.numbersBetween(MEMORIES, model));
      this.#adoptMessages(model);
    }
    return this.outbox.drain();
  }

  /** When to drain next, or null if there is nothing to do. */
  nextDue(model: string | null): number | null {
    return model !== null && this.#switched(model) ? this.#parts.now() : this.outbox.nextDue();
  }

  /** Whether messages are to have copies and have none, or have some and are not to. */
  #switched(model: string): boolean {
    const copied = this.#copies.models();
    return this.copiesMessages
      ? !copied.includes(model) && this.store.rows.hasMessages(model)
      : copied.length > 0;
  }

  #adoptMessages(model: string): void {
    if (!this.#switched(model)) return;
    if (this.copiesMessages) return this.putMessagesAgain(model);
    for (const copied of this.#copies.end())
      this.outbox.remove(this.store.rows.numbersBetween(MESSAGES, copied).map((n) => ({ n, model: copied })));
  }

  #wake(): void {
    this.#parts.wakeUp.by(this.outbox.nextDue());
  }

  #owner(): UserHash {
    const owner = this.#parts.table.owner()?.hash ?? this.#copies.owner();
    if (owner === null) throw new Error("vectors for the large index, and nobody whose they are");
    return owner;
  }

  #read(model: string, numbers: readonly number[]): OutgoingVector[] {
    const rows = new Map(
      this.#parts.table.numbered(numbers.filter((n) => n < FIRST_POSITION)).map((row) => [row.version, row]),
    );
    const leaving = new LeavingRanges(this.#parts.sql).all();
    return this.store.read(model, numbers).flatMap(({ n, values }) => {
      if (leaving.some(([first, last]) => n >= first && n <= last)) return [];
      if (n >= FIRST_POSITION) return [{ n, kind: "message", values }];
      const row = rows.get(n);
      if (row === undefined) return [];
      const { kind, scope } = row;
      return [{ n, kind, values, ...(scope !== null && { scope }) }];
    });
  }
}
