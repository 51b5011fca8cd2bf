import type { Cairn } from "../../cairn.ts";
import { hasCode } from "../../error.ts";

/** A thread's id, or the agent with whom the user's latest thread is. */
export type ThreadOption = string | { agent: string };

type Owner = { memory: Pick<Cairn, "threads">; user: string };

/** The thread of an adapter: one with a known id, or the user's latest with an agent. */
export class NamedThread {
  readonly #owner: Owner;
  readonly #thread: ThreadOption;
  /** The id of the agent's thread. It is no promise, since in a Worker a promise belongs to one request. */
  #resumed: string | undefined;

  constructor(owner: Owner, thread: ThreadOption) {
    this.#owner = owner;
    this.#thread = thread;
  }

  /** Calls `work` with the thread's id; again with a new one if the agent's thread was deleted. */
  async use<T>(signal: AbortSignal, work: (id: string) => Promise<T>): Promise<T> {
    const { memory, user } = this.#owner;
    if (typeof this.#thread === "string") return work(this.#thread);
    const known = this.#resumed;
    try {
      if (known !== undefined) return await work(known);
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error;
    }
    const { id } = await memory.threads.resume(user, this.#thread, { signal });
    this.#resumed = id;
    return work(id);
  }
}
