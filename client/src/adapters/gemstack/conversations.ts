import type { Continuation, ContinuationOptions } from "../../../../src/domain/conversation/continuation.ts";
import type { AiMessage } from "../../../../src/domain/conversation/message.ts";
import type { Cairn } from "../../cairn.ts";
import type { CallOptions } from "../../options.ts";
import type { CataloguedThread, CreateThreadBody } from "../../shapes.ts";
import { hasCode } from "../../error.ts";
import { requireUserIfGiven } from "../options/require-options.ts";
import type { OptionNames } from "../../known-options.ts";
import { collect } from "./collect.ts";
import { append } from "./append.ts";
import { checksOf, refusalIn } from "./continuation-checks.ts";
import { isOfAnother } from "./owner-of.ts";
import type { ConversationStore, ConversationStoreListEntry, ConversationStoreMeta } from "./types.ts";
import { conversationNotFound, isUnknown, withoutOwners } from "./unknown-id.ts";

export type CairnConversationsOptions = {
  memory: Cairn;
  /** Whose threads they are where the SDK names nobody; threads of others are not found then, whatever the token allows. */
  user?: string;
};

const OPTIONS: OptionNames<CairnConversationsOptions> = { memory: true, user: true };

type CheckOptions = ContinuationOptions & CallOptions;

const PAGE = 1000;

/** GemStack's ConversationStore over Cairn's threads: what `cairnConversations` makes. */
export class CairnConversations implements ConversationStore {
  readonly #memory: Cairn;
  readonly #user: string | undefined;

  constructor(options: CairnConversationsOptions) {
    requireUserIfGiven("cairnConversations", options, OPTIONS);
    const { memory, user } = options;
    this.#memory = memory;
    this.#user = user;
  }

  /** The new thread's id. One of nobody wants a token of all users (`*`). */
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
   * The id of the thread of this user and agent that was updated last, or of a new one: one step, so that any number of
   * callers at once get the same. Without `agent`, among the threads without one.
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
   * All messages, each as it was appended, without the calls and results that a model would refuse
   * (`sanitizeConversation`). Rejects with `not found` if the thread is not there, or another's.
   */
  async load(id: string, options: CallOptions = {}): Promise<AiMessage[]> {
    const messages = this.#memory.threads.messages(id, { limit: PAGE, view: "sanitized" }, options);
    const stored = await this.#found(id, () => collect(messages));
    // What was appended here is what comes back.
    return stored.map(({ message }) => message as unknown as AiMessage);
  }

  /** The same store for one user: a thread of another is `not found`, also with a token of all users. */
  forUser(user: string): CairnConversations {
    return new CairnConversations({ memory: this.#memory, user });
  }

  /** All or none, in their order. Rejects like `load`, also without any messages. */
  append(id: string, messages: readonly AiMessage[], options: CallOptions = {}): Promise<void> {
    return this.#found(id, () => append(this.#memory, id, { messages, options }));
  }

  /** To 1,024 bytes of UTF-8. Rejects like `load`. */
  async setTitle(id: string, title: string, options: CallOptions = {}): Promise<void> {
    await this.#found(id, () => this.#memory.threads.patch(id, { title }, options));
  }

  /**
   * All of a user's threads, the one that was updated last first. Without a user: all threads of the tenant, which wants
   * the scope `admin` and a token of all users (`*`); or those of the store's `user`.
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

  /** With its messages, also from recall. No error if there is none. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    try {
      await this.#found(id, () => this.#memory.threads.delete(id, options));
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  }

  /** Whether a whole conversation, as a client sends it, continues the stored one; checked where it is stored. Strict unless `mode` says otherwise. */
  async validate(
    id: string,
    conversation: readonly AiMessage[],
    { signal, ...checks }: CheckOptions = {},
  ): Promise<Continuation> {
    const { validate: mode, ...approvals } = checksOf(checks);
    const body = { messages: [...conversation], mode, ...approvals };
    const verdict = await this.#found(id, () => this.#memory.threads.validate(id, body, { signal }));
    // The server's verdict is that of the same function.
    return verdict as Continuation;
  }

  /**
   * The same check, and appends what is new in the conversation if it holds, in one step. Rejects with
   * `ContinuationValidationError` if it does not: then nothing is appended. Takes up to 1,000 new messages.
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
 * Conversations of GemStack's ai-sdk in Cairn. With a token of one user, Cairn refuses the threads of others whatever the
 * SDK checks, and so does a store of one `user`. With a token of all users (`*`) and no `user`, the SDK finds a thread's
 * owner in `list`, which has every thread or rejects.
 *
 * @example
 * setConversationStore(cairnConversations({ memory, user: "alice" }));
 */
export const cairnConversations = (options: CairnConversationsOptions): CairnConversations =>
  new CairnConversations(options);

/** The SDK asks for all threads to find the owner of one that it was given without a user, or with another. */
async function ofAllUsers<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw hasCode(error, "forbidden") ? withoutOwners(error) : error;
  }
}

/** To the SDK's own store an empty agent is none. */
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
