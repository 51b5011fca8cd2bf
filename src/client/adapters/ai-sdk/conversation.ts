import { CairnError } from "../../error.ts";
import type { Message } from "../../shapes.ts";
import { promptOf } from "./history.ts";
import { guarded, type RecallingOptions } from "./options.ts";
import type { Prompt, PromptMessage } from "./sdk.ts";
import { storedMessage } from "./stored.ts";

export type ConversationOptions = RecallingOptions & {
  /** Where turns are saved: a thread's id, or the agent whose thread with the user goes on, or begins. Nowhere unless set. */
  thread?: string | { agent: string };
  /**
   * How many of the thread's last messages go before the prompt, to 1,000; none unless set. For callers that send only what
   * is new.
   */
  history?: number;
  /** Whether turns are saved: `true` unless set; `"later"`: nobody waits for it, and the client's `waitUntil` is told. */
  save?: boolean | "later";
  /**
   * A name of the user's turn, the id of their message: what is saved of one turn is saved once, in whatever process it is
   * tried again, for 24 hours.
   */
  turn?: string;
};

/** A thread's id, or the agent whose thread it is. */
type Named = NonNullable<ConversationOptions["thread"]>;

/** One call of the model, as it is to be saved. */
export type Spoken = {
  /** What was new in the prompt since the model last spoke. */
  said: readonly PromptMessage[];
  /** How often the model had spoken before. */
  answers: number;
  /** Of this call alone, for the client's own retries. */
  key: string;
};

/** What a prompt adds to the conversation. */
export function spokenIn(prompt: Prompt): Spoken {
  const said = prompt.slice(prompt.findLastIndex(({ role }) => role === "assistant") + 1);
  const answers = prompt.filter(({ role }) => role === "assistant").length;
  return { said: said.filter(({ role }) => role !== "system"), answers, key: crypto.randomUUID() };
}

/** A thread, as turns are read from it and saved to it. */
export class Conversation {
  readonly #options: ConversationOptions;
  #resumed: Promise<string> | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** The thread's last messages as a model takes them, without those that the prompt itself goes on with. */
  async history(prompt: Prompt, ended?: AbortSignal): Promise<PromptMessage[]> {
    const { memory, thread, history = 0 } = this.#options;
    if (thread === undefined || history < 1) return [];
    return guarded<PromptMessage[]>(
      this.#options,
      async (signal) => {
        const query = { limit: history, view: "compacted" } as const;
        const { items } = await memory.threads.read(await this.#thread(thread, signal), query, { signal });
        return promptOf(
          items.map(({ message }) => message as Message), // as all that is stored, it has a role
          prompt,
        );
      },
      { otherwise: [], failure: { doing: "history" }, ended },
    );
  }

  /** Saves what was said and what the model answered; done when it is stored, or with `"later"` when that has begun. */
  async save({ said, answers, key }: Spoken, answer: PromptMessage | undefined): Promise<void> {
    const { thread, save = true, strict } = this.#options;
    if (thread === undefined || save === false || answer === undefined) return;
    const { turn = key } = this.#options;
    const turnAnd = { thread, name: [turn, answers], messages: [...said, answer].map(storedMessage) };
    if (save === "later") this.#options.memory.later(() => this.#append(turnAnd, false));
    else await this.#append(turnAnd, strict);
  }

  /** The same of an answer that was broken off, which may come whole when it is asked for again. Nobody is left to wait. */
  async saveBrokenOff({ said, answers, key }: Spoken, answer: PromptMessage | undefined): Promise<void> {
    const { memory, thread, save = true, turn = key } = this.#options;
    if (thread === undefined || save === false || answer === undefined) return;
    const messages = [...said, answer].map(storedMessage);
    const saved = this.#append({ thread, name: [turn, answers, "broken off"], messages }, false);
    memory.later(() => saved);
    await saved;
  }

  #append(
    { thread, name, messages }: { thread: Named; name: unknown[]; messages: Message[] },
    strict: boolean | undefined,
  ): Promise<void> {
    const { memory } = this.#options;
    return guarded(
      { ...this.#options, strict: strict === true },
      async (signal) => {
        const id = await this.#thread(thread, signal);
        const idempotencyKey = await digest([id, ...name]);
        try {
          await memory.threads.append(id, messages, { signal, idempotencyKey });
        } catch (error) {
          // Another answer has the key of this turn: the turn is saved.
          if (!(error instanceof CairnError && error.code === "idempotency_conflict")) throw error;
        }
      },
      { otherwise: undefined, failure: { doing: "save", messages } },
    );
  }

  #thread(thread: Named, signal: AbortSignal): Promise<string> {
    if (typeof thread === "string") return Promise.resolve(thread);
    const { memory, user } = this.#options;
    this.#resumed ??= memory.threads.resume(user, thread, { signal }).then(
      ({ id }) => id,
      (error: unknown) => {
        this.#resumed = undefined;
        throw error;
      },
    );
    return this.#resumed;
  }
}

/** SHA-256 of a JSON value, in hexadecimal. */
export async function digest(value: unknown): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(value)));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
