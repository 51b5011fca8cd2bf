import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import type { StorageThreadType } from "@mastra/core/memory";
import type { Timed } from "./with-dates.ts";

/** A thread as its entry holds it; without `thread` if messages came before it was saved. */
export type ThreadRecord = {
  id: string;
  cairnThread: string;
  thread?: Timed<StorageThreadType>;
  /** The time of its newest message, appended or about to be, in milliseconds since the epoch. */
  newestAt?: number;
  /** An older message may follow a newer one: the last messages of the Cairn thread may not be the newest. */
  outOfOrder?: true;
  /** Messages moved, or are about to move, between this thread and others. */
  moved?: true;
};

/** A thread as a storage last read or wrote it. */
export type Known = {
  /** Null if there was none. */
  record?: ThreadRecord | null;
  /** The version of the record's entry, if it was read. */
  version?: string | undefined;
  /** The highest seq that its Cairn thread had given, if that was read. */
  lastSeq?: number | undefined;
};

const THREADS = 256;

/**
 * A storage keeps here how it last read or wrote its threads. Another process may have changed them since. So nothing is
 * answered from it, and Cairn checks the versions of each write that relies on it.
 */
export class KnownThreads {
  #known = new BoundedCache<Known>(THREADS);

  get(id: string): Known | undefined {
    return this.#known.get(id);
  }

  /**
   * Keeps a copy of what a read of the entry found, as the reader's caller may change what it gets. The seq stays, as it
   * is only a condition.
   */
  read(id: string, record: ThreadRecord | null, version: string | undefined): void {
    this.#known.set(id, { record: structuredClone(record), version, lastSeq: this.#known.get(id)?.lastSeq });
  }

  hasSeq(id: string, lastSeq: number): void {
    const known = this.#known.get(id);
    if (known !== undefined) this.#known.set(id, { ...known, lastSeq });
  }

  /** Keeps what a write stored. Its version is unknown. */
  wrote(id: string, record: ThreadRecord): void {
    this.#known.set(id, { record });
  }

  forget(id: string): void {
    this.#known.set(id, {});
  }

  clear(): void {
    this.#known = new BoundedCache(THREADS);
  }
}
