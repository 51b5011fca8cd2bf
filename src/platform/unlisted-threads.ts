import { withDeadline } from "./deadline.ts";
import type { UserHash } from "../domain/ids.ts";

/** The name of the registry's object that holds the marks; shards and counters have other names. */
export const UNLISTED_THREADS = "unlisted-threads";

/** The lifetime of a mark: one that lands after its removal expires. The user's alarm renews the others. */
const MARKED_MS = 24 * 60 * 60 * 1000;
const WITHIN_MS = 10_000;
const MARK = new TextEncoder().encode("true");

/** The methods of the registry's object that are used here. */
type Marks = {
  set(write: { key: string; value: Uint8Array; ttlMs: number }): Promise<{ ok: boolean }>;
  forget(key: string): Promise<{ ok: boolean }>;
  holdsAny(prefix: string): Promise<boolean>;
};

/** Keeps the marks as entries of one object of the registry, by the threads' ids. */
export class RegistryUnlistedThreads {
  readonly #object: () => Marks;

  constructor(object: () => Marks) {
    this.#object = object;
  }

  async mark(threadIds: readonly string[]): Promise<void> {
    await this.#each(threadIds, (object, key) => object.set({ key, value: MARK, ttlMs: MARKED_MS }));
  }

  async unmark(threadIds: readonly string[]): Promise<void> {
    await this.#each(threadIds, (object, key) => object.forget(key));
  }

  /** True if a thread of this user is marked; with null, of any user. */
  any(owner: UserHash | null): Promise<boolean> {
    // A thread's id begins with its user's hash.
    return withDeadline(this.#object().holdsAny(owner === null ? "" : `${owner}.`), WITHIN_MS);
  }

  async #each(
    threadIds: readonly string[],
    act: (object: Marks, key: string) => Promise<{ ok: boolean }>,
  ): Promise<void> {
    if (threadIds.length === 0) return;
    const object = this.#object();
    const done = await withDeadline(Promise.all(threadIds.map((id) => act(object, id))), WITHIN_MS);
    if (done.some(({ ok }) => !ok)) throw new Error("a mark of an unlisted thread was refused");
  }
}

/**
 * Marks of threads whose catalogue rows D1 has not taken yet. They are stored outside of D1. Every method rejects when
 * the marks cannot be reached. All may be repeated.
 */
export type UnlistedThreads = Pick<RegistryUnlistedThreads, keyof RegistryUnlistedThreads>;
