import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";
import type { Cairn } from "../../cairn.ts";
import { guarded } from "./guarded.ts";
import { NamedThread, type ThreadOption } from "./named-thread.ts";
import { NO_MEMORY, type PromptMemory, promptMemory, type PromptMessage } from "./prompt-memory.ts";
import type { ContextCallOptions } from "./require-context-options.ts";

type Prompt = {
  user: string;
  thread: ThreadOption | undefined;
  messages: readonly PromptMessage[];
  ended?: AbortSignal | undefined;
};

/** Threads and runs kept for later calls. */
const KEPT = 256;

/** Reads the memory of prompts, of any number of users and threads. */
export class ContextReader {
  readonly #memory: Pick<Cairn, "context" | "threads">;
  readonly #options: ContextCallOptions;
  readonly #threads = new BoundedCache<NamedThread>(KEPT);
  readonly #runs = new BoundedCache<PromptMemory>(KEPT);

  constructor(memory: Pick<Cairn, "context" | "threads">, options: ContextCallOptions) {
    this.#memory = memory;
    this.#options = options;
  }

  /**
   * The memory of a prompt: read anew after a user's message, and the same at later steps of its run. Empty if the call
   * failed and `strict` is not set.
   */
  async read({ user, thread, messages, ended }: Prompt): Promise<PromptMemory> {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const run = await sha256Hex(JSON.stringify([user, thread, messages.slice(0, last + 1)]));
    const isStart = last < 0 || last === messages.length - 1;
    const before = isStart ? undefined : this.#runs.get(run);
    if (before !== undefined) return before;
    const memory = await guarded<PromptMemory, { doing: "context" }>(
      this.#options,
      (signal) => {
        const read = (id: string | undefined) =>
          promptMemory({ memory: this.#memory, user, thread: id, context: this.#options.context }, messages, {
            signal,
          });
        return thread === undefined ? read(undefined) : this.#named(user, thread).use(signal, read);
      },
      { otherwise: NO_MEMORY, failure: () => ({ doing: "context" }), ended },
    );
    this.#runs.set(run, memory);
    return memory;
  }

  #named(user: string, thread: ThreadOption): NamedThread {
    const key = JSON.stringify([user, thread]);
    const named = this.#threads.get(key) ?? new NamedThread({ memory: this.#memory, user }, thread);
    this.#threads.set(key, named);
    return named;
  }
}
