import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import { realTime } from "../../retry.ts";
import type { ThreadRecord } from "./thread-records.ts";

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
/** Mastra asks for a thread right after each save of its messages. */
const SAVED_MS = 1_000;

/**
 * What a storage knows of its threads. Another process may have changed them since. So a write that relies on it has
 * Cairn check the versions, and an answer from it is what this storage itself has just saved.
 */
export class KnownThreads {
  readonly #known = new BoundedCache<Known>(THREADS);
  readonly #saved = new BoundedCache<{ record: ThreadRecord; at: number }>(THREADS);

  get(id: string): Known | undefined {
    return this.#known.get(id);
  }

  /** The entry was read. Keeps the seq, as it is only a condition. */
  read(id: string, record: ThreadRecord | null, version: string | undefined): void {
    this.#known.set(id, { record, version, lastSeq: this.#known.get(id)?.lastSeq });
    this.takeSaved(id);
  }

  hasSeq(id: string, lastSeq: number): void {
    const known = this.#known.get(id);
    if (known !== undefined) this.#known.set(id, { ...known, lastSeq });
  }

  /** The entry was written, with an unknown version. */
  wrote(id: string, record: ThreadRecord): void {
    this.#known.set(id, { record });
  }

  saved(id: string, record: ThreadRecord): void {
    this.wrote(id, record);
    this.#saved.set(id, { record, at: realTime.now() });
  }

  /** What was saved within the last second, once. */
  takeSaved(id: string): ThreadRecord | undefined {
    const saved = this.#saved.get(id);
    if (saved !== undefined) this.#saved.set(id, { ...saved, at: -Infinity });
    return saved !== undefined && realTime.now() - saved.at < SAVED_MS ? saved.record : undefined;
  }

  forget(id: string): void {
    this.#known.set(id, {});
    this.takeSaved(id);
  }
}
