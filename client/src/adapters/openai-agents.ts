import { hasCode } from "../error.ts";
import { newId } from "../new-id.ts";
import type { AgentInputItem, Session } from "@openai/agents-core";
import type { Cairn } from "../cairn.ts";
import type { StoredMessage } from "../shapes.ts";
import { batchesBySize } from "./calls/batches-by-size.ts";
import { requireUser } from "./options/require-options.ts";
import type { OptionNames } from "../known-options.ts";
import { itemsOf, messageOf } from "./openai-agents/item.ts";

export type CairnSessionOptions = {
  memory: Cairn;
  /** Whose conversation it is. */
  user: string;
  /** Any string of yours that names the conversation of this user; made by the session unless set. */
  sessionId?: string;
  /** What the `agent` of the thread is named, before the session's id; `openai-agents/` unless set. To 1,024 bytes together. */
  prefix?: string;
};

const OPTIONS: OptionNames<CairnSessionOptions> = { memory: true, user: true, sessionId: true, prefix: true };

/** Messages that one call reads at most. */
const PAGE = 1000;

/** A conversation of the OpenAI Agents SDK in a thread: what `cairnSession` makes. */
export class CairnSession implements Session {
  readonly #threads: Cairn["threads"];
  readonly #user: string;
  readonly #sessionId: string;
  readonly #agent: string;
  /** The thread as it was found last; another worker may have cleared the session since. */
  #thread: string | undefined;

  constructor(options: CairnSessionOptions) {
    requireUser("cairnSession", options, OPTIONS);
    const { memory, user, sessionId = newId(), prefix = "openai-agents/" } = options;
    this.#threads = memory.threads;
    this.#user = user;
    this.#sessionId = sessionId;
    this.#agent = prefix + sessionId;
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** All items, or the last `limit` of them, in the order of the conversation. */
  getItems(limit?: number): Promise<AgentInputItem[]> {
    return this.#again(async () => {
      const id = await this.#existing();
      if (id === undefined || (limit !== undefined && limit <= 0)) return [];
      return limit === undefined ? itemsIn(await this.#all(id)) : this.#last(id, Math.ceil(limit));
    });
  }

  /** Of up to 1,000 items and 5 million characters all are added, or none. */
  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length === 0) return;
    const messages = items.map(messageOf);
    await this.#again(async () => {
      const id = await this.#made();
      for (const batch of batchesBySize(messages)) await this.#threads.append(id, batch);
    });
  }

  /**
   * Removes the last message and gives its item: of two that ask at once, one gets it, and the other the one before it. Of
   * another adapter's message the last of its items, and one without any goes too.
   */
  popItem(): Promise<AgentInputItem | undefined> {
    return this.#again(async () => {
      for (;;) {
        const id = await this.#existing();
        const last = id && (await this.#threads.read(id, { limit: 1 })).items[0];
        if (id === undefined || !last) return undefined;
        // Whoever deletes it has it. A seq is never used twice.
        const item = itemsIn([last]).at(-1);
        if ((await wasThere(this.#threads.deleteMessage(id, last.seq))) && item !== undefined) return item;
      }
    });
  }

  /** Deletes the thread. What is added from then on goes to a new one, under the same id of the session. */
  async clearSession(): Promise<void> {
    const ids: string[] = [];
    for await (const { id } of this.#threads.all(this.#user, { agent: this.#agent })) ids.push(id);
    for (const id of ids) await wasThere(this.#threads.delete(id));
    this.#thread = undefined;
  }

  /** Once more where the thread that was known is there no longer: someone has cleared the session. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!hasCode(error, "not_found") || this.#thread === undefined) throw error;
      this.#thread = undefined;
      return work();
    }
  }

  /** To read is not to make a thread. */
  async #existing(): Promise<string | undefined> {
    this.#thread ??= (await this.#threads.list(this.#user, { agent: this.#agent, limit: 1 })).items[0]?.id;
    return this.#thread;
  }

  /** Of all who begin the session at once, each gets the same thread. */
  async #made(): Promise<string> {
    this.#thread ??= (await this.#threads.resume(this.#user, { agent: this.#agent })).id;
    return this.#thread;
  }

  async #all(id: string): Promise<StoredMessage[]> {
    const stored: StoredMessage[] = [];
    for await (const message of this.#threads.messages(id, { limit: PAGE })) stored.push(message);
    return stored;
  }

  /** A message of another adapter's may be several items, or none. */
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

/** Whether it was this call that deleted. */
async function wasThere(deleted: Promise<void>): Promise<boolean> {
  try {
    await deleted;
    return true;
  } catch (error) {
    if (hasCode(error, "not_found")) return false;
    throw error;
  }
}
