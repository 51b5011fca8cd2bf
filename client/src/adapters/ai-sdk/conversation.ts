import { newId } from "../../new-id.ts";
import { hasCode } from "../../error.ts";
import type { Message } from "../../shapes.ts";
import { promptOf } from "./history.ts";
import { guarded, type RecallingOptions } from "./options.ts";
import type { Prompt, PromptMessage } from "./sdk.ts";
import { storedMessage } from "./stored.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

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
  /** The id of the agent's thread, and not the promise of one: in a Worker a promise belongs to the request that made it. */
  #resumed: string | undefined;

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
        const { items } = await this.#inThread(thread, signal, (id) =>
          memory.threads.read(id, query, { signal }),
        );
        return promptOf(
          // As all that is stored, they have roles.
          items.map(({ message, compaction }) => ({ message: message as Message, compaction })),
          prompt,
        );
      },
      { otherwise: [], failure: () => ({ doing: "history" }), ended },
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
    const { memory, thread, save = true, turn } = this.#options;
    if (thread === undefined || save === false || answer === undefined) return;
    const question = said.map(storedMessage);
    const reply = storedMessage(answer);
    // A named turn whose answer was broken off may come again, and has its question in the thread then.
    const appends =
      turn === undefined || question.length === 0
        ? [{ part, messages: [...question, reply] }]
        : [
            { part: "said", messages: question },
            { part, messages: [reply] },
          ];
    let left = appends;
    await guarded<unknown>(
      { ...this.#options, strict },
      (signal) =>
        this.#inThread(thread, signal, async (id) => {
          left = appends;
          for (const { part: what, messages } of appends) {
            const idempotencyKey = await keyOf([id, turn ?? key, ...place], what);
            await memory.threads.append(id, messages, { signal, idempotencyKey }).catch(unlessSaved);
            left = left.slice(1);
          }
        }),
      {
        otherwise: undefined,
        failure: () => ({ doing: "save", messages: left.flatMap(({ messages }) => messages) }),
      },
    );
  }

  /** Works in the thread; where the agent's is gone since it was resumed, in the one that takes its place. */
  async #inThread<T>(thread: Named, signal: AbortSignal, work: (id: string) => Promise<T>): Promise<T> {
    const { memory, user } = this.#options;
    if (typeof thread === "string") return work(thread);
    const known = this.#resumed;
    try {
      if (known !== undefined) return await work(known);
    } catch (error) {
      if (!hasCode(error, "not_found")) throw error;
    }
    const { id } = await memory.threads.resume(user, thread, { signal });
    this.#resumed = id;
    return work(id);
  }
}

const keyOf = (
  [thread, turn, asked, answers]: readonly [thread: string, turn: string, ...Spoken["place"]],
  part: string,
): Promise<string> => sha256Hex(JSON.stringify([thread, turn, asked && storedMessage(asked), answers, part]));

/** Another answer of the same turn has the key: the turn is saved. */
function unlessSaved(error: unknown): void {
  if (!hasCode(error, "idempotency_conflict")) throw error;
}
