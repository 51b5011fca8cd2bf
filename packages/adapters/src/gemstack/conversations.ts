import type { Continuation, ContinuationOptions } from "../../../../src/domain/conversation/continuation.ts";
import type { AiMessage } from "../../../../src/domain/conversation/message.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { CataloguedThread, CreateThreadBody } from "../../../client/src/shapes.ts";
import { hasCode } from "../../../client/src/error.ts";
import { requireUserIfGiven } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { limited, limitMethods, type TimeLimit } from "../limits/time-limit.ts";
import { collect } from "./collect.ts";
import { append } from "./append.ts";
import { checksOf, refusalIn } from "./continuation-checks.ts";
import { isOfAnother } from "../threads/owner-of.ts";
import type { ConversationStore, ConversationStoreListEntry, ConversationStoreMeta } from "./types.ts";
import { conversationNotFound, isUnknown, withoutOwners } from "./unknown-id.ts";

export type CairnConversationsOptions = TimeLimit & {
  memory: Cairn;
  /** The threads' user where the SDK names none. Then threads of others are not found, even if the token allows them. */
  user?: string;
};

const OPTIONS: OptionNames<CairnConversationsOptions> = { memory: true, user: true, timeoutMs: true };

const METHODS = [
  "create",
  "resume",
  "load",
  "append",
  "setTitle",
  "list",
  "delete",
  "validate",
  "appendContinuation",
] as const;

type CheckOptions = ContinuationOptions & CallOptions;

const PAGE = 1000;

/** GemStack's ConversationStore over Cairn's threads, as `cairnConversations` creates it. */
export class CairnConversations implements ConversationStore {
  readonly #options: CairnConversationsOptions;
  readonly #memory: Cairn;
  readonly #user: string | undefined;

  constructor(options: CairnConversationsOptions) {
    requireUserIfGiven("cairnConversations", options, OPTIONS);
    this.#options = options;
    const { memory, user } = options;
    this.#memory = limited(memory, options);
    this.#user = user;
    const copy = (own: Cairn) => new CairnConversations({ ...options, memory: own });
    limitMethods(this, METHODS, options, copy, CairnConversations.prototype);
  }

  /** Returns the new thread's id. A thread without a user needs a token of all users (`*`). */
  async create(title?: string, meta: ConversationStoreMeta = {}, options: CallOptions = {}): Promise<string> {
    const user = meta.userId ?? this.#user;
    const { threads } = this.#memory;
    const fields = fieldsOf(meta, title);
    const { id } = await (user === undefined
      ? threads.createForNobody(fields, options)
      : threads.create(user, fields, options));
    return id;
  }

  /**
   * The id of the user's and agent's latest thread, or of a new one. Atomic: concurrent callers get the same id.
   * Without `agent`, considers threads without one.
   */
  async resume(
    meta: ConversationStoreMeta & { title?: string } = {},
    options: CallOptions = {},
  ): Promise<string> {
    const user = meta.userId ?? this.#user;
    if (user === undefined) throw new TypeError("resume: whose thread? Give a userId");
    return (await this.#memory.threads.resume(user, fieldsOf(meta, meta.title), options)).id;
  }

  /**
   * All messages as appended, without calls and results that a model would refuse (`sanitizeConversation`). Rejects
   * with `not found` if the thread is missing, or another user's.
   */
  async load(id: string, options: CallOptions = {}): Promise<AiMessage[]> {
    const messages = this.#memory.threads.messages(id, { limit: PAGE, view: "sanitized" }, options);
    const stored = await this.#found(id, () => collect(messages));
    // The stored messages are those that were appended.
    return stored.map(({ message }) => message as unknown as AiMessage);
  }

  /** The store for one user: another user's thread is `not found`, even with a token of all users. */
  forUser(user: string): CairnConversations {
    return new CairnConversations({ ...this.#options, user });
  }

  /** Appends all or none, in order. Rejects like `load`, also without messages. */
  append(id: string, messages: readonly AiMessage[], options: CallOptions = {}): Promise<void> {
    return this.#found(id, () => append(this.#memory, id, { messages, options }));
  }

  /** Sets a title of up to 1,024 bytes of UTF-8. Rejects like `load`. */
  async setTitle(id: string, title: string, options: CallOptions = {}): Promise<void> {
    await this.#found(id, () => this.#memory.threads.patch(id, { title }, options));
  }

  /**
   * All threads of a user, latest update first. Without a user: the threads of the store's `user`, else all of the
   * tenant, whose times of update are up to an hour behind. The latter needs the scope `admin` and a token of all users (`*`).
   */
  async list(userId?: string, options: CallOptions = {}): Promise<ConversationStoreListEntry[]> {
    const user = userId ?? this.#user;
    const { threads } = this.#memory;
    const newestFirst: CataloguedThread[] = await (user === undefined
      ? ofAllUsers(() => collect(threads.ofAllUsers({ limit: PAGE }, options)))
      : collect(threads.all(user, { limit: PAGE }, options)));
    return newestFirst
      .toReversed()
      .toSorted((a, b) => b.updatedAt - a.updatedAt)
      .map(entryOf);
  }

  /** Deletes the thread and its messages, also from recall. No error if there is none. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    try {
      await this.#found(id, () => this.#memory.threads.delete(id, options));
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  }

  /** Checks on the server that a whole conversation continues the stored one; strict unless `mode` differs. */
  async validate(
    id: string,
    conversation: readonly AiMessage[],
    { signal, ...checks }: CheckOptions = {},
  ): Promise<Continuation> {
    const { validate: mode, ...approvals } = checksOf(checks);
    const body = { messages: [...conversation], mode, ...approvals };
    const verdict = await this.#found(id, () => this.#memory.threads.validate(id, body, { signal }));
    // The server's verdict comes from the same function.
    return verdict as Continuation;
  }

  /**
   * Checks a whole conversation and appends its new messages, up to 1,000, in one step. Rejects with
   * `ContinuationValidationError`, appending nothing, if the check fails.
   */
  async appendContinuation(
    id: string,
    conversation: readonly AiMessage[],
    { signal, ...checks }: CheckOptions = {},
  ): Promise<void> {
    const body = { ...checksOf(checks), signal };
    try {
      await this.#found(id, () => this.#memory.threads.append(id, conversation, body));
    } catch (error) {
      throw refusalIn(error) ?? error;
    }
  }

  async #found<T>(id: string, call: () => Promise<T>): Promise<T> {
    if (this.#user !== undefined && (await isOfAnother(this.#user, id))) throw conversationNotFound(id);
    try {
      return await call();
    } catch (error) {
      throw isUnknown(error) ? conversationNotFound(id, error) : error;
    }
  }
}

/**
 * Conversations of GemStack's ai-sdk in Cairn. With a token or a store of one user, Cairn refuses other users' threads
 * itself. With a token of all users (`*`) and no `user`, the SDK finds owners in `list`. `list` then returns every
 * thread or rejects.
 *
 * @example
 * setConversationStore(cairnConversations({ memory, user: "alice" }));
 */
export const cairnConversations = (options: CairnConversationsOptions): CairnConversations =>
  new CairnConversations(options);

/** The SDK lists all threads to find a thread's owner if it got no user, or another one. */
async function ofAllUsers<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw hasCode(error, "forbidden") ? withoutOwners(error) : error;
  }
}

/** The SDK's own store treats an empty agent as none. */
const fieldsOf = (
  { agent, resourceSlug, recordId }: ConversationStoreMeta,
  title: string | undefined,
): CreateThreadBody => ({
  title,
  agent: agent || undefined,
  resourceSlug: resourceSlug || undefined,
  recordId: recordId || undefined,
});

const entryOf = ({
  id,
  title,
  createdAt,
  updatedAt,
  agent,
  userId,
}: CataloguedThread): ConversationStoreListEntry => ({
  id,
  title,
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
  ...(agent !== undefined && { agent }),
  ...(userId !== undefined && { userId }),
});
