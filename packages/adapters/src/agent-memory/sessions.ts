import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import { isOfAnother } from "../threads/owner-of.ts";

/** The agent of a session's threads: this, and the session's id. */
const PREFIX = "agent-memory/";
const KEPT = 256;

/** The sessions of one user. A session is the threads whose agent names it. */
export class Sessions {
  readonly #memory: Cairn;
  readonly #user: string;
  /** By thread. */
  readonly #known = new BoundedCache<string | null>(KEPT);

  constructor(memory: Cairn, user: string) {
    this.#memory = memory;
    this.#user = user;
  }

  /** The session of a thread; null without one, and for a thread of another user. */
  async of(threadId: string | undefined): Promise<string | null> {
    if (threadId === undefined) return null;
    const known = this.#known.get(threadId);
    if (known !== undefined) return known;
    const own = !(await isOfAnother(this.#user, threadId));
    const agent = (own && (await this.#memory.threads.get(threadId))?.agent) || "";
    const session = agent.startsWith(PREFIX) ? agent.slice(PREFIX.length) : null;
    this.#known.set(threadId, session);
    return session;
  }

  /** Its threads, in the order of their creation. */
  async threadsOf(sessionId: string): Promise<string[]> {
    const ids: string[] = [];
    for await (const { id } of this.#memory.threads.all(this.#user, { agent: PREFIX + sessionId }))
      ids.push(id);
    return ids;
  }

  /** The thread that a memory of the session names as its source. */
  async threadOf(sessionId: string): Promise<string> {
    return (await this.#memory.threads.resume(this.#user, { agent: PREFIX + sessionId })).id;
  }

  /** Makes a thread one of the session's. */
  async add(threadId: string, sessionId: string): Promise<void> {
    if ((await this.of(threadId)) === sessionId) return;
    await this.#memory.threads.patch(threadId, { agent: PREFIX + sessionId });
    this.#known.set(threadId, sessionId);
  }
}
