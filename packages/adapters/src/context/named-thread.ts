import type { Cairn } from "../../../client/src/cairn.ts";
import { hasCode } from "../../../client/src/error.ts";
import type { ContextBody } from "../../../client/src/shapes.ts";

/** A thread's id, or the agent with whom the user's latest thread is. */
export type ThreadOption = string | { agent: string };

/** A thread as a call for a context names it. */
export type ContextThread = Pick<ContextBody, "threadId" | "thread">;

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
  use<T>(signal: AbortSignal, work: (id: string) => Promise<T>): Promise<T> {
    const { memory, user } = this.#owner;
    return this.#found(work, async (thread) => {
      const { id } = await memory.threads.resume(user, thread, { signal });
      this.#resumed = id;
      return work(id);
    });
  }

  /** The same for a call that finds or begins an agent's thread itself, and answers with its id. */
  useInContext<T extends { threadId?: string | undefined }>(
    work: (thread: ContextThread) => Promise<T>,
  ): Promise<T> {
    return this.#found(
      (threadId) => work({ threadId }),
      async (thread) => {
        const answer = await work({ thread });
        this.#resumed = answer.threadId;
        return answer;
      },
    );
  }

  async #found<T>(
    work: (id: string) => Promise<T>,
    begin: (thread: { agent: string }) => Promise<T>,
  ): Promise<T> {
    if (typeof this.#thread === "string") return work(this.#thread);
    const known = this.#resumed;
    try {
      if (known !== undefined) return await work(known);
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error;
    }
    return begin(this.#thread);
  }
}
