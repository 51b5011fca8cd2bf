import { newId } from "../../../client/src/new-id.ts";
import type { MastraDBMessage } from "@mastra/core/agent";
import type { StorageThreadType } from "@mastra/core/memory";
import {
  type StorageCloneThreadInput,
  type StorageCopyThreadOutput,
  type StorageListMessagesByResourceIdInput,
  type StorageListMessagesInput,
  type StorageListMessagesOutput,
  type StorageListThreadsInput,
  type StorageListThreadsOutput,
  type StorageResourceType,
} from "@mastra/core/storage";
import type { Cairn } from "../../../client/src/index.ts";
import { limited, limitMethods } from "../limits/time-limit.ts";
import { requireUser } from "../options/require-options.ts";
import { Conversations, unlessMissing } from "./conversations.ts";
import { checkQuery, type MessageQuery, pageOf } from "./message-page.ts";
import {
  type CairnMemoryStorageOptions,
  LIMITED_METHODS,
  MEMORY_STORAGE_OPTIONS,
} from "./memory-storage-options.ts";
import { ObservationalStorage } from "./observational-storage.ts";
import { ResourceRecords } from "./resource-records.ts";
import { clonedMessages, cloneOf } from "./thread-clone.ts";
import { threadPage, THREADS_PER_PAGE } from "./thread-page.ts";
import type { ThreadRecord } from "./known-threads.ts";
import { threadIn, ThreadRecords } from "./thread-records.ts";
import { merged, type MessageUpdate } from "./updated-message.ts";

/**
 * Mastra's memory domain in Cairn. Each Mastra thread has a Cairn thread, whose messages other clients can read; all
 * else is in the user's entries.
 */
export class CairnMemoryStorage extends ObservationalStorage {
  /** An `updateThread` without a title or metadata keeps the old ones. */
  override readonly supportsPartialThreadUpdate = true;
  readonly #threads: ThreadRecords;
  readonly #resources: ResourceRecords;
  readonly #conversations: Conversations;
  readonly #clear: () => Promise<unknown>;

  constructor(given: CairnMemoryStorageOptions) {
    requireUser("CairnMemoryStorage", given, MEMORY_STORAGE_OPTIONS);
    const { user, prefix = "mastra/" } = given;
    const memory = limited(given.memory, given);
    const options = { memory, user, prefix };
    super(options);
    this.#threads = new ThreadRecords(options);
    this.#resources = new ResourceRecords(options);
    this.#conversations = new Conversations(options);
    this.#clear = () => memory.kv.deletePrefix(user, prefix);
    const copy = (own: Cairn) => {
      const copied = new CairnMemoryStorage({ ...given, memory: own });
      copied.#threads.known = this.#threads.known;
      return copied;
    };
    limitMethods(this, LIMITED_METHODS, given, copy, CairnMemoryStorage.prototype);
  }

  /** Deletes all threads of this prefix, their messages, and all resources. */
  async dangerouslyClearAll(): Promise<void> {
    for (const record of await this.#threads.all()) await this.#conversations.deleteAll(record);
    await this.#clear();
    this.#threads.known.clear();
  }

  async getThreadById({
    threadId,
    resourceId,
  }: {
    threadId: string;
    resourceId?: string;
  }): Promise<StorageThreadType | null> {
    const thread = threadIn(await this.#threads.get(threadId));
    return thread === null || (resourceId !== undefined && thread.resourceId !== resourceId) ? null : thread;
  }

  /** Concurrent saves of one new thread make one Cairn thread. */
  async saveThread({ thread }: { thread: StorageThreadType }): Promise<StorageThreadType> {
    await this.#threads.save(thread);
    return thread;
  }

  async updateThread(change: {
    id: string;
    title?: string;
    metadata?: Record<string, unknown>;
  }): Promise<StorageThreadType> {
    const updated = await this.#threads.update(change.id, () => change);
    if (updated === null) throw new Error(`Thread with id ${change.id} not found`);
    return updated;
  }

  /** Atomic across processes; calls `update` again if another change was first. */
  override updateThreadMetadata({
    id,
    resourceId,
    update,
  }: {
    id: string;
    resourceId?: string;
    update: (thread: StorageThreadType) => Record<string, unknown> | undefined;
  }): Promise<StorageThreadType | null> {
    return this.#threads.update(
      id,
      (thread) => {
        const metadata = update(thread);
        return metadata && { metadata };
      },
      resourceId,
    );
  }

  async deleteThread({ threadId }: { threadId: string }): Promise<void> {
    const record = await this.#threads.get(threadId);
    // Deletes the record last, so that a repeated call can resume.
    if (record !== null) await this.#conversations.deleteAll(record);
    await this.#threads.delete(threadId);
  }

  async listThreads({
    page = 0,
    perPage: asked,
    orderBy,
    filter = {},
  }: StorageListThreadsInput): Promise<StorageListThreadsOutput> {
    this.validatePaginationInput(page, asked ?? THREADS_PER_PAGE);
    this.validateMetadataKeys(filter.metadata);
    const { field, direction } = this.parseOrderBy(orderBy);
    const threads = (await this.#threads.all()).flatMap((record) => threadIn(record) ?? []);
    return threadPage(threads, { page, perPage: asked, filter, field, direction });
  }

  async listMessages({
    threadId,
    orderBy,
    ...rest
  }: StorageListMessagesInput): Promise<StorageListMessagesOutput> {
    const ids = [...new Set([threadId].flat())];
    if (ids.length === 0 || ids.some((id) => id.trim() === ""))
      throw new Error("threadId must be a non-empty string or array of non-empty strings");
    const query = { ...rest, direction: this.parseOrderBy(orderBy, "ASC").direction };
    return this.#page(query, () => Promise.all(ids.map((id) => this.#messagesFor(id, query))));
  }

  /** Reads every thread of the user, as each message has its own resource. */
  override async listMessagesByResourceId({
    orderBy,
    ...rest
  }: StorageListMessagesByResourceIdInput): Promise<StorageListMessagesOutput> {
    const query = { ...rest, direction: this.parseOrderBy(orderBy, "ASC").direction };
    return this.#page(query, async () => {
      const records = await this.#threads.all();
      return Promise.all(records.map((record) => this.#conversations.read(conversationOf(record))));
    });
  }

  async listMessagesById({ messageIds }: { messageIds: string[] }): Promise<{ messages: MastraDBMessage[] }> {
    const found = await this.#byId(messageIds);
    return { messages: messageIds.flatMap((id) => found.get(id) ?? []) };
  }

  /** Appends the messages of a thread in one step, up to 16 MiB and 1,000 messages. */
  async saveMessages({
    messages,
  }: {
    messages: MastraDBMessage[];
  }): Promise<{ messages: MastraDBMessage[] }> {
    const byThread = groupedBy(messages, ({ id, threadId }) => {
      if (threadId) return threadId;
      throw new Error(`Message ${id} has no threadId.`);
    });
    for (const [threadId, some] of byThread) {
      const isSaved = await this.#threads.append(threadId, (record, lastSeq) =>
        this.#conversations.appending(conversationOf(record), some, lastSeq),
      );
      if (isSaved) continue;
      const record = await this.#threads.getOrBegin(threadId);
      const appended = await this.#save(record, some);
      if (appended.length > 0) await this.#threads.settle(threadId, appended);
    }
    return { messages };
  }

  /** Ignores unknown messages. A changed message keeps its place in Mastra's thread; in Cairn's it is the last one. */
  async updateMessages({ messages }: { messages: MessageUpdate[] }): Promise<MastraDBMessage[]> {
    const found = await this.#byId(messages.map(({ id }) => id));
    for (const update of messages) {
      const message = found.get(update.id);
      if (message) found.set(update.id, merged(message, update));
    }
    const updated = [...found.values()];
    await this.saveMessages({ messages: updated });
    return updated;
  }

  override async deleteMessages(messageIds: string[]): Promise<void> {
    const threads = await this.#conversations.placesOf(messageIds);
    for (const [threadId, ids] of groupedBy(threads.keys(), (id) => threads.get(id) ?? "")) {
      const record = await this.#threads.get(threadId);
      if (record === null) continue;
      await this.#conversations.delete(conversationOf(record), new Set(ids));
      await this.#threads.touch(threadId);
    }
  }

  /** Reads the thread, and appends the wanted messages to a new one. */
  override async copyThread(input: StorageCloneThreadInput): Promise<StorageCopyThreadOutput> {
    const source = await this.getThreadById({ threadId: input.sourceThreadId });
    if (source === null) throw new Error(`Source thread with id ${input.sourceThreadId} not found`);
    const messages = clonedMessages(await this.#messagesOf(source.id), input.options);
    const thread = cloneOf(source, messages, input);
    if (await this.#threads.get(thread.id)) throw new Error(`Thread with id ${thread.id} already exists`);
    await this.saveThread({ thread });
    const ids = messages.map(({ id }) => [id, newId()] as const);
    const messageIdMap = Object.fromEntries(ids);
    await this.saveMessages({
      messages: messages.map((message) => ({
        ...message,
        id: messageIdMap[message.id] ?? message.id,
        threadId: thread.id,
        resourceId: input.resourceId ?? message.resourceId,
      })),
    });
    return { thread, messageIdMap };
  }

  override async getResourceById({
    resourceId,
  }: {
    resourceId: string;
  }): Promise<StorageResourceType | null> {
    return this.#resources.get(resourceId);
  }

  override async saveResource({ resource }: { resource: StorageResourceType }): Promise<StorageResourceType> {
    await this.#resources.save(resource);
    return resource;
  }

  /** Atomic: no concurrent update is lost. */
  override updateResource(change: {
    resourceId: string;
    workingMemory?: string;
    metadata?: Record<string, unknown>;
  }): Promise<StorageResourceType> {
    return this.#resources.update(change);
  }

  async #page(
    query: MessageQuery,
    read: () => Promise<MastraDBMessage[][]>,
  ): Promise<StorageListMessagesOutput> {
    checkQuery(query);
    const nothing = query.perPage === 0;
    const messages = nothing ? [] : (await read()).flat();
    const { include = [] } = query;
    const places =
      include.length > 0
        ? await this.#conversations.placesOf(include.map(({ id }) => id))
        : new Map<string, string>();
    return pageOf(messages, query, async (id) => {
      const threadId = places.get(id);
      return threadId === undefined ? [] : this.#messagesOf(threadId);
    });
  }

  async #messagesOf(threadId: string): Promise<MastraDBMessage[]> {
    const record = await this.#threads.get(threadId);
    return record === null ? [] : this.#conversations.read(conversationOf(record));
  }

  async #save(record: ThreadRecord, messages: readonly MastraDBMessage[]) {
    const note = async (times: readonly number[], left: readonly string[]) => {
      const moved = left.length > 0;
      for (const id of left) await this.#threads.touch(id, { moved });
      await this.#threads.touch(record.id, { appended: times, moved });
    };
    try {
      return await this.#conversations.save(conversationOf(record), messages, note);
    } catch (error) {
      unlessMissing(error);
      const anew = await this.#threads.beginAnew(record);
      return this.#conversations.save(conversationOf(anew), messages, note);
    }
  }

  /** The messages of a thread; only the last ones if the caller needs no more. */
  async #messagesFor(threadId: string, query: MessageQuery): Promise<MastraDBMessage[]> {
    const { page = 0, perPage, filter, resourceId, direction, includeTotal = true } = query;
    const isOfLast = page === 0 && direction === "DESC" && typeof perPage === "number" && !includeTotal;
    const wantsLast = isOfLast && filter === undefined;
    // Reads one message over the limit, to know if there are more.
    const count = wantsLast ? perPage + 1 : 0;
    const read = wantsLast ? await this.#threads.withLast(threadId, count) : undefined;
    const record = read === undefined ? await this.#threads.get(threadId) : read.record;
    if (record === null) return [];
    const conversation = conversationOf(record);
    if (!wantsLast || record.outOfOrder || record.moved) return this.#conversations.read(conversation);
    const isWanted = (message: MastraDBMessage) => !resourceId || message.resourceId === resourceId;
    const found = read?.last && this.#conversations.lastIn(conversation, read.last, { count, isWanted });
    return found ?? this.#conversations.last(conversation, count, isWanted);
  }

  async #byId(ids: readonly string[]): Promise<Map<string, MastraDBMessage>> {
    const threads = await this.#conversations.placesOf(ids);
    const found = new Map<string, MastraDBMessage>();
    for (const threadId of new Set(threads.values()))
      for (const message of await this.#messagesOf(threadId))
        if (threads.get(message.id) === threadId) found.set(message.id, message);
    return new Map(
      ids.flatMap((id) => (found.has(id) ? [[id, found.get(id)] as [string, MastraDBMessage]] : [])),
    );
  }
}

const conversationOf = ({ id, cairnThread, thread, moved }: ThreadRecord) => ({
  id,
  cairnThread,
  moved,
  resourceId: thread?.resourceId,
});

// Node 20 has no `Map.groupBy`.
function groupedBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}
