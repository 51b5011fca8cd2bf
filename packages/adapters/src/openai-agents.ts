import { hasCode } from "../../client/src/error.ts";
import { newId } from "../../client/src/new-id.ts";
import type { AgentInputItem, Session, SessionInputCallback } from "@openai/agents-core";
import type { Cairn } from "../../client/src/cairn.ts";
import type { StoredMessage } from "../../client/src/shapes.ts";
import { batchesBySize } from "./calls/batches-by-size.ts";
import { type FoundThread, memoryOf } from "./context/memory-of.ts";
import {
  CONTEXT_CALL_OPTIONS,
  type ContextCallOptions,
  requireContextOptions,
} from "./context/require-context-options.ts";
import { limited, limitMethods, type TimeLimit } from "./limits/time-limit.ts";
import { requireUser } from "./options/require-options.ts";
import { type OptionNames, requireKnownOptions } from "../../client/src/known-options.ts";
import { itemsOf, messageOf } from "./openai-agents/item.ts";
import { promptMessage } from "./openai-agents/prompt.ts";
import { SessionBlocks } from "./openai-agents/session-blocks.ts";

export type { ContextFailure } from "./context/guarded.ts";
export type { ContextOptions } from "./context/prompt-memory.ts";
export type { ContextCallOptions } from "./context/require-context-options.ts";
export { cairnInputFilter, type CairnInputFilterOptions } from "./openai-agents/input-filter.ts";

export type CairnSessionOptions = TimeLimit & {
  memory: Cairn;
  /** The user who owns the conversation. */
  user: string;
  /** Your name for this conversation of the user; generated unless set. */
  sessionId?: string;
  /** Prepended to the session's id in the thread's `agent`, to 1,024 bytes together; `openai-agents/` unless set. */
  prefix?: string;
};

const OPTIONS: OptionNames<CairnSessionOptions> = {
  memory: true,
  user: true,
  sessionId: true,
  prefix: true,
  timeoutMs: true,
};

const METHODS = ["getItems", "addItems", "popItem", "clearSession"] as const;

/** The most messages that one call reads. */
const PAGE = 1000;

/** A conversation of the OpenAI Agents SDK in a thread, as `cairnSession` creates it. */
export class CairnSession implements Session {
  readonly #memory: Cairn;
  readonly #threads: Cairn["threads"];
  #blocks = new SessionBlocks();
  readonly #user: string;
  readonly #sessionId: string;
  readonly #agent: string;
  /** The last known thread; another worker may have cleared the session since. */
  #known: { thread?: string | undefined } = {};

  constructor(options: CairnSessionOptions) {
    requireUser("cairnSession", options, OPTIONS);
    const { user, sessionId = newId(), prefix = "openai-agents/" } = options;
    const memory = limited(options.memory, options);
    this.#memory = memory;
    this.#threads = memory.threads;
    this.#user = user;
    this.#sessionId = sessionId;
    this.#agent = prefix + sessionId;
    const copy = (own: Cairn) => {
      const copied = new CairnSession({ ...options, sessionId, memory: own });
      copied.#blocks = this.#blocks;
      copied.#known = this.#known;
      return copied;
    };
    limitMethods(this, METHODS, options, copy, CairnSession.prototype);
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** All items, or the last `limit`, in order. */
  getItems(limit?: number): Promise<AgentInputItem[]> {
    return this.#again(async () => {
      const id = await this.#existing();
      if (id === undefined || (limit !== undefined && limit <= 0)) return [];
      return limit === undefined ? itemsIn(await this.#all(id)) : this.#last(id, Math.ceil(limit));
    });
  }

  /** Adds items without the blocks of `withContext`; atomic up to 1,000 items and 5 million characters. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    const messages = this.#blocks.without(items).map(messageOf);
    if (messages.length === 0) return;
    await this.#again(async () => {
      const id = await this.#made();
      for (const batch of batchesBySize(messages)) await this.#threads.append(id, batch);
    });
  }

  /**
   * Removes the last message and returns its item; concurrent callers get different items. Another adapter's message
   * gives the last of its items; a message without items is removed too.
   */
  popItem(): Promise<AgentInputItem | undefined> {
    return this.#again(async () => {
      for (;;) {
        const id = await this.#existing();
        const last = id && (await this.#threads.read(id, { limit: 1 })).items[0];
        if (id === undefined || !last) return undefined;
        // Only the caller that deletes it returns it. A seq is never reused.
        const item = itemsIn([last]).at(-1);
        if ((await wasThere(this.#threads.deleteMessage(id, last.seq))) && item !== undefined) return item;
      }
    });
  }

  /** Deletes the thread. Later items go to a new thread with the same session id. */
  async clearSession(): Promise<void> {
    const ids: string[] = [];
    for await (const { id } of this.#threads.all(this.#user, { agent: this.#agent })) ids.push(id);
    for (const id of ids) await wasThere(this.#threads.delete(id));
    this.#known.thread = undefined;
  }

  /**
   * A `sessionInputCallback` for runs with this session that gives the model memory: the stable block first, and a block
   * before the text of each of the user's messages. The session does not store them; its thread keeps which they were.
   * Failures go to `onError`, unless `strict`.
   *
   * @example
   * await run(agent, text, { session, sessionInputCallback: session.withContext() });
   */
  withContext(options: ContextCallOptions = {}): SessionInputCallback {
    requireKnownOptions("withContext", options, CONTEXT_CALL_OPTIONS);
    requireContextOptions("withContext", options);
    return async (history, added) => {
      const messages = [...history, ...added].map(promptMessage);
      const thread: FoundThread = {
        useInContext: (work) =>
          this.#again(async () => {
            if (this.#known.thread !== undefined) return work({ threadId: this.#known.thread });
            const answer = await work({ thread: { agent: this.#agent } });
            this.#known.thread = answer.threadId;
            return answer;
          }),
      };
      const reader = { ...options, memory: this.#memory, user: this.#user };
      const memory = await memoryOf(reader, thread, messages, { model: "openai" });
      return this.#blocks.combined(history, added, memory);
    };
  }

  /** The SDK calls this for the items of the history that it sends to a model. */
  prepareHistoryItemForModelInput(item: AgentInputItem): AgentInputItem {
    return this.#blocks.ofHistory(item);
  }

  /** Retries once if the known thread is gone, since another caller cleared the session. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!hasCode(error, "not_found") || this.#known.thread === undefined) throw error;
      this.#known.thread = undefined;
      return work();
    }
  }

  /** Reads never create a thread. */
  async #existing(): Promise<string | undefined> {
    this.#known.thread ??= (
      await this.#threads.list(this.#user, { agent: this.#agent, limit: 1 })
    ).items[0]?.id;
    return this.#known.thread;
  }

  /** Concurrent callers that begin the session get the same thread. */
  async #made(): Promise<string> {
    this.#known.thread ??= (await this.#threads.resume(this.#user, { agent: this.#agent })).id;
    return this.#known.thread;
  }

  async #all(id: string): Promise<StoredMessage[]> {
    const stored: StoredMessage[] = [];
    for await (const message of this.#threads.messages(id, { limit: PAGE })) stored.push(message);
    return stored;
  }

  /** Another adapter's message may be several items, or none. */
  async #last(id: string, count: number): Promise<AgentInputItem[]> {
    let stored: StoredMessage[] = [];
    let items: AgentInputItem[] = [];
    let cursor: string | undefined;
    do {
      const limit = Math.min(count - items.length, PAGE);
      const page = await this.#threads.read(id, { limit, cursor });
      stored = [...page.items, ...stored];
      items = itemsIn(stored);
      ({ cursor } = page);
    } while (cursor !== undefined && items.length < count);
    return items.slice(-count);
  }
}

const itemsIn = (stored: readonly StoredMessage[]): AgentInputItem[] =>
  itemsOf(stored.map(({ message }) => message));

/**
 * A `Session` of the OpenAI Agents SDK in a user's thread. Calls reject with `CairnError`.
 *
 * @example
 * const session = cairnSession({ memory, user: "alice", sessionId: "support-7" });
 * await run(agent, "What did I just ask?", { session });
 */
export const cairnSession = (options: CairnSessionOptions): CairnSession => new CairnSession(options);

/** True if this call deleted the message. */
async function wasThere(deleted: Promise<void>): Promise<boolean> {
  try {
    await deleted;
    return true;
  } catch (error) {
    if (hasCode(error, "not_found")) return false;
    throw error;
  }
}
