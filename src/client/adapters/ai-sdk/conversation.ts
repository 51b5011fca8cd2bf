import { newId } from "../../new-id.ts";
import { hasCode } from "../../error.ts";
import type { Message } from "../../shapes.ts";
import { sha256 } from "../bytes/sha256.ts";
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
  /** What tells this call from the others of its turn: what the user said last, and how often the model had spoken. */
  place: readonly [asked: PromptMessage | undefined, answers: number];
  /** Of this call alone, for the client's own retries. */
  key: string;
};

/** What a prompt adds to the conversation. */
export function spokenIn(prompt: Prompt): Spoken {
  const said = prompt.slice(prompt.findLastIndex(({ role }) => role === "assistant") + 1);
  const asked = prompt.findLast(({ role }) => role === "user");
  const answers = prompt.filter(({ role }) => role === "assistant").length;
  return {
    said: said.filter(({ role }) => role !== "system"),
    place: [asked, answers],
    key: newId(),
  };
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
  async save(spoken: Spoken, answer: PromptMessage | undefined): Promise<void> {
    const { memory, save, strict = false } = this.#options;
    if (save === "later") memory.later(() => this.#append(spoken, answer, { strict: false }));
    else await this.#append(spoken, answer, { strict });
  }

  /** The same of an answer that was broken off, which may come whole when it is asked for again. Nobody is left to wait. */
  async saveBrokenOff(spoken: Spoken, answer: PromptMessage | undefined): Promise<void> {
    const saved = this.#append(spoken, answer, { part: "broken off", strict: false });
    this.#options.memory.later(() => saved);
    await saved;
  }

  async #append(
    { said, place, key }: Spoken,
    answer: PromptMessage | undefined,
    { part = "whole", strict }: { part?: string; strict: boolean },
  ): Promise<void> {
    const { memory, thread, save = true, turn = key } = this.#options;
    if (thread === undefined || save === false || answer === undefined) return;
    const messages = [...said, answer].map(storedMessage);
    await guarded<unknown>(
      { ...this.#options, strict },
      async (signal) => {
        const id = await this.#thread(thread, signal);
        const [asked, answers] = place;
        const idempotencyKey = await sha256(
          JSON.stringify([id, turn, asked && storedMessage(asked), answers, part]),
        );
        await memory.threads.append(id, messages, { signal, idempotencyKey }).catch(unlessSaved);
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

/** Another answer of the same turn has the key: the turn is saved. */
function unlessSaved(error: unknown): void {
  if (!hasCode(error, "idempotency_conflict")) throw error;
}
