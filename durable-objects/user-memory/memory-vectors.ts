import type { UserHash } from "../../src/ids.ts";
import type { VectorIndex } from "../../src/vectors/vector-index.ts";
import type { WakeUp } from "../wake-up.ts";
import type { MemoryTable } from "./memory-table.ts";
import { FIRST_POSITION } from "./position.ts";
import { type OutgoingVector, VectorOutbox } from "./vector-outbox.ts";
import { type VectorCopy, type VectorName, VectorStore } from "./vector-store.ts";

type Parts = {
  sql: SqlStorage;
  table: MemoryTable;
  /** Null: this deployment has no large index. */
  vectors: VectorIndex | null;
  wakeUp: WakeUp;
  now: () => number;
};

/** The vectors of all documents here, and the outbox that keeps the large index's copy of the memories' ones. */
export class MemoryVectors implements VectorCopy {
  readonly store: VectorStore;
  readonly outbox: VectorOutbox;
  readonly #table: MemoryTable;
  readonly #wakeUp: WakeUp;

  constructor({ sql, table, vectors, wakeUp, now }: Parts) {
    this.#table = table;
    this.#wakeUp = wakeUp;
    this.store = new VectorStore(sql, this);
    const read = (model: string, numbers: readonly number[]) => this.#read(model, numbers);
    this.outbox = new VectorOutbox({ sql, vectors, owner: () => this.#owner(), read, now });
  }

  put(n: number, model: string): void {
    if (n >= FIRST_POSITION) return;
    this.outbox.put(n, model);
    this.#wakeUp.by(this.outbox.nextDue());
  }

  remove(vectors: readonly VectorName[]): void {
    this.outbox.remove(vectors.filter(({ n }) => n < FIRST_POSITION));
    this.#wakeUp.by(this.outbox.nextDue());
  }

  /** Whatever the large index holds, or is on its way to it, of versions up to this one is to be gone. */
  removeUpTo(version: number): void {
    this.outbox.removeUpTo(version);
    this.#wakeUp.by(this.outbox.nextDue());
  }

  /** Sends these versions' vectors once more, for a reindex. */
  putAgain(model: string, versions: readonly number[]): void {
    const there = this.store.read(model, versions).map(({ n }) => n);
    this.outbox.putAgain(model, there);
    this.#wakeUp.by(this.outbox.nextDue());
  }

  /** Brings the large index nearer to what is here; first of all what was here before there was one. */
  drain(model: string | null): Promise<void> {
    if (model !== null) this.outbox.adopt(model, () => this.store.numbersBelow(FIRST_POSITION, model));
    return this.outbox.drain();
  }

  /** When to drain next, or null if there is nothing to do. */
  nextDue(): number | null {
    return this.outbox.nextDue();
  }

  #owner(): UserHash {
    const owner = this.#table.owner();
    if (owner === null) throw new Error("vectors of memories, and nobody whose they are");
    return owner.hash;
  }

  #read(model: string, numbers: readonly number[]): OutgoingVector[] {
    const rows = new Map(this.#table.numbered(numbers).map((row) => [row.version, row]));
    return this.store.read(model, numbers).flatMap(({ n, values }) => {
      const row = rows.get(n);
      if (row === undefined) return [];
      const { kind, scope } = row;
      return [{ n, kind, values, ...(scope !== null && { scope }) }];
    });
  }
}
