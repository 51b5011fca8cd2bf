import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import { memoryOf } from "./memory-of.ts";
import { NamedThread, type ThreadOption } from "./named-thread.ts";
import type { PromptMemory, PromptMessage } from "./prompt-memory.ts";
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
  readonly #model: string;
  readonly #threads = new BoundedCache<NamedThread>(KEPT);
  readonly #runs = new BoundedCache<PromptMemory>(KEPT);

  /** `model`: the provider of the model, if all prompts are for one. */
  constructor(memory: Pick<Cairn, "context" | "threads">, options: ContextCallOptions, model = "") {
    this.#memory = memory;
    this.#options = options;
    this.#model = model;
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
    const named = thread === undefined ? undefined : this.#named(user, thread);
    const reader = { ...this.#options, memory: this.#memory, user };
    const memory = await memoryOf(reader, named, messages, { ended, model: this.#model });
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
