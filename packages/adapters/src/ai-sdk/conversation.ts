import type { Cairn } from "../../../client/src/cairn.ts";
import { newId } from "../../../client/src/new-id.ts";
import { hasCode } from "../../../client/src/error.ts";
import { promptOf } from "./history.ts";
import { guarded } from "../context/guarded.ts";
import { memoryOf } from "../context/memory-of.ts";
import type { MemoryFailure, MemoryOptions } from "../context/memory-options.ts";
import type { NamedThread } from "../context/named-thread.ts";
import { type HistoryMessage, NO_MEMORY, type PromptMemory } from "../context/prompt-memory.ts";
import type { Prompt, PromptMessage } from "./sdk.ts";
import { storedMessage } from "./stored-message.ts";
import { mayRepeatResults, withoutSavedResults } from "./unsaved-results.ts";
import { steadyWindow } from "../../../../src/domain/conversation/history-window.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** Turns are saved to `thread`; nothing is saved without it. */
export type ConversationOptions = Omit<MemoryOptions, "memory"> & {
  /** The client; its token may read the user's memory, and write it where turns are saved. */
  memory: Pick<Cairn, "context" | "threads" | "later">;
  /**
   * Prepends up to this many of the thread's last messages to the prompt, to 1,000; none unless set. For callers that send
   * only new messages. Of a longer thread it is half as many at least: the first one changes seldom, so that the
   * provider's cache holds.
   */
  history?: number;
  /** Saves turns; true unless set. `"later"` saves without delaying the answer, through the client's `waitUntil`. */
  save?: boolean | "later";
  /** Names the user's turn, as the id of their message. A retry within 24 hours saves nothing twice, in any process. */
  turn?: string;
};

/** One call of the model, to be saved. */
export type Spoken = {
  /** The prompt's messages since the model's last answer. */
  said: readonly PromptMessage[];
  /** Identifies this call within its turn: the user's last message, and the number of answers before. */
  place: readonly [asked: PromptMessage | undefined, answers: number];
  /** An idempotency key of this call, for the client's retries. */
  key: string;
};

/** The most messages of a turn, in which a result of its tools is looked for. */
const LAST_TURN = 200;

/** The part of a prompt that is new in the conversation. */
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

/** Reads turns from a thread and saves turns to it. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #thread: NamedThread | undefined;

  constructor(options: ConversationOptions, thread: NamedThread | undefined) {
    this.#options = options;
    this.#thread = thread;
  }

  /** The memory of a prompt, and the thread's last messages before it, without those that it repeats. */
  async given(
    prompt: Prompt,
    { ended, model }: { ended?: AbortSignal | undefined; model?: string } = {},
  ): Promise<{ memory: PromptMemory; history: readonly PromptMessage[] }> {
    const { context, history = 0 } = this.#options;
    const thread = this.#thread;
    const isAsked = thread !== undefined && history >= 1;
    if (isAsked && context === false)
      return { memory: NO_MEMORY, history: promptOf(await this.#read(thread, history, ended), prompt) };
    const memory = await memoryOf(this.#options, thread, prompt, {
      ended,
      ...(model !== undefined && { model }),
      ...(isAsked && { history }),
    });
    return { memory, history: promptOf(memory.history, prompt) };
  }

  /** The thread's last messages, where no context is asked for. */
  #read(
    thread: NamedThread,
    limit: number,
    ended: AbortSignal | undefined,
  ): Promise<readonly HistoryMessage[]> {
    const { memory } = this.#options;
    return guarded<readonly HistoryMessage[], MemoryFailure>(
      this.#options,
      async (signal) => {
        const query = { limit, view: "compacted" } as const;
        const { items } = await thread.use(signal, (id) => memory.threads.read(id, query, { signal }));
        return items.length < limit ? items : steadyWindow(items);
      },
      { otherwise: [], failure: () => ({ doing: "history" }), ended },
    );
  }

  /** Saves the messages and the answer. Resolves when they are stored; with `"later"`, when the save has begun. */
  async save(spoken: Spoken, answer: PromptMessage | undefined): Promise<void> {
    const { memory, save, strict = false } = this.#options;
    if (save === "later") memory.later(() => this.#append(spoken, answer, { strict: false }));
    else await this.#append(spoken, answer, { strict });
  }

  /** Saves an interrupted answer, which a retry may complete. Runs in the background. */
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
    const { memory, save = true, turn } = this.#options;
    const thread = this.#thread;
    if (thread === undefined || save === false || answer === undefined) return;
    const reply = storedMessage(answer);
    const appendsOf = (question: readonly PromptMessage[]) =>
      // A named turn whose answer was interrupted may come again; the thread then has its question already.
      turn === undefined || question.length === 0
        ? [{ part, messages: [...question.map(storedMessage), reply] }]
        : [
            { part: "said", messages: question.map(storedMessage) },
            { part, messages: [reply] },
          ];
    let left = appendsOf(said);
    await guarded<unknown, MemoryFailure>(
      { ...this.#options, strict },
      (signal) =>
        thread.use(signal, async (id) => {
          left = appendsOf(await this.#unsaved(said, { id, signal }));
          for (const { part: what, messages } of left) {
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

  /** The messages without the results that the thread has. */
  async #unsaved(
    said: readonly PromptMessage[],
    { id, signal }: { id: string; signal: AbortSignal },
  ): Promise<readonly PromptMessage[]> {
    if (!mayRepeatResults(said)) return said;
    const { items } = await this.#options.memory.threads.read(id, { limit: LAST_TURN }, { signal });
    return withoutSavedResults(
      said,
      items.map(({ message }) => message),
    );
  }
}

const keyOf = (
  [thread, turn, asked, answers]: readonly [thread: string, turn: string, ...Spoken["place"]],
  part: string,
): Promise<string> => sha256Hex(JSON.stringify([thread, turn, asked && storedMessage(asked), answers, part]));

/** An earlier answer of the turn used the key, so the turn is saved. */
function unlessSaved(error: unknown): void {
  if (!hasCode(error, "idempotency_conflict")) throw error;
}
