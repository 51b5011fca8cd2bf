import type { CairnHttp } from "./http.ts";
import type { CallOptions, WriteOptions } from "./options.ts";
import { itemsOf } from "./pages.ts";
import type {
  AppendAnswer,
  AppendBody,
  CataloguedThread,
  CataloguedThreadList,
  CompactBody,
  Compaction,
  CompactionList,
  CreateThreadBody,
  ForkBody,
  ListAllThreadsQuery,
  ListCompactionsQuery,
  ListThreadsQuery,
  Message,
  MessageList,
  PatchThreadBody,
  ReadMessagesQuery,
  StoredMessage,
  Thread,
  ThreadList,
  ValidateBody,
  Verdict,
} from "./shapes.ts";

/** Conversations and their messages. */
export class Threads {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  /** Creates a thread of the user. */
  create(user: string, fields: CreateThreadBody = {}, options: WriteOptions = {}): Promise<Thread> {
    return this.#post(["users", user, "threads"], fields, options);
  }

  /** Creates a thread without a user. Only a token of all users (`*`) can use it. */
  createForNobody(fields: CreateThreadBody = {}, options: WriteOptions = {}): Promise<Thread> {
    return this.#post(["threads"], fields, options);
  }

  /** Returns the agent's last updated thread, or creates one. Concurrent calls get the same thread. */
  resume(user: string, fields: CreateThreadBody = {}, options: CallOptions = {}): Promise<Thread> {
    const path = ["v1", "users", user, "threads", "resume"];
    return this.#http.send({ method: "POST", path, json: fields, repeatable: true }, options);
  }

  /** Returns a page of the user's threads. */
  list(user: string, query: ListThreadsQuery = {}, options: CallOptions = {}): Promise<ThreadList> {
    return this.#get(["users", user, "threads"], query, options);
  }

  /** Yields all threads of the user. The default order `created` neither skips nor repeats a thread. */
  all(user: string, query: ListThreadsQuery = {}, options: CallOptions = {}): AsyncGenerator<Thread, void> {
    const page = (cursor?: string) => this.list(user, { order: "created", ...query, cursor }, options);
    return itemsOf(page, query.cursor);
  }

  /** Returns a page of the threads of all users. Needs the scope `admin`. */
  listAll(query: ListAllThreadsQuery = {}, options: CallOptions = {}): Promise<CataloguedThreadList> {
    return this.#get(["threads"], query, options);
  }

  /** Yields the threads of all users. Needs the scope `admin`. */
  ofAllUsers(
    query: ListAllThreadsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<CataloguedThread, void> {
    return itemsOf((cursor) => this.listAll({ ...query, cursor }, options), query.cursor);
  }

  /** Returns the thread, or null if there is none. */
  get(id: string, options: CallOptions = {}): Promise<Thread | null> {
    return this.#http.find({ method: "GET", path: ["v1", "threads", id] }, options);
  }

  /** Changes the given fields; null clears a field. */
  patch(id: string, fields: PatchThreadBody, options: CallOptions = {}): Promise<Thread> {
    return this.#http.send({ method: "PATCH", path: ["v1", "threads", id], json: fields }, options);
  }

  /** Deletes the thread. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#delete([id], options);
  }

  /** Appends all messages or none. Options: conditions, and a check of the whole conversation. */
  append(
    id: string,
    messages: readonly Message[],
    { signal, idempotencyKey, ...conditions }: Omit<AppendBody, "messages"> & WriteOptions = {},
  ): Promise<AppendAnswer> {
    return this.#post(["threads", id, "messages"], { ...conditions, messages }, { signal, idempotencyKey });
  }

  /** Returns a page of the last messages, or of the first ones with `order: "oldest"`. */
  read(id: string, query: ReadMessagesQuery = {}, options: CallOptions = {}): Promise<MessageList> {
    return this.#get(["threads", id, "messages"], query, options);
  }

  /** Yields all messages, oldest first, or those after `after`. Fetches pages on demand. */
  messages(
    id: string,
    query: Omit<ReadMessagesQuery, "order" | "before"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<StoredMessage, void> {
    const page = (cursor?: string) => this.read(id, { ...query, order: "oldest", cursor }, options);
    return itemsOf(page, query.cursor);
  }

  /** Yields the same messages from one streamed call. Throws if the stream breaks off. */
  stream(
    id: string,
    query: Pick<ReadMessagesQuery, "after" | "view"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<StoredMessage, void> {
    return this.#http.lines({ method: "GET", path: ["v1", "threads", id, "messages"], query }, options);
  }

  /** Deletes one message. */
  deleteMessage(id: string, seq: number, options: CallOptions = {}): Promise<void> {
    return this.#delete([id, "messages", String(seq)], options);
  }

  /** Creates a thread that shares the messages up to `at`; by default all. */
  fork(id: string, fields: ForkBody = {}, options: WriteOptions = {}): Promise<Thread> {
    return this.#post(["threads", id, "fork"], fields, options);
  }

  /** Replaces a range of messages by a summary in the view `compacted`. */
  compact(id: string, compaction: CompactBody, options: WriteOptions = {}): Promise<Compaction> {
    return this.#post(["threads", id, "compactions"], compaction, options);
  }

  /** Returns a page of the compactions. */
  compactions(
    id: string,
    query: ListCompactionsQuery = {},
    options: CallOptions = {},
  ): Promise<CompactionList> {
    return this.#get(["threads", id, "compactions"], query, options);
  }

  /** Yields all compactions. Fetches pages on demand. */
  allCompactions(
    id: string,
    query: ListCompactionsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<Compaction, void> {
    return itemsOf((cursor) => this.compactions(id, { ...query, cursor }, options), query.cursor);
  }

  /** Deletes a compaction. The view `compacted` shows its messages again. */
  deleteCompaction(id: string, compaction: string, options: CallOptions = {}): Promise<void> {
    return this.#delete([id, "compactions", compaction], options);
  }

  /** Checks whether the given conversation continues the stored one. */
  validate(id: string, conversation: ValidateBody, options: CallOptions = {}): Promise<Verdict> {
    const path = ["v1", "threads", id, "validate"];
    return this.#http.send({ method: "POST", path, json: conversation, repeatable: true }, options);
  }

  #get<T>(path: string[], query: ListThreadsQuery | ReadMessagesQuery, options: CallOptions): Promise<T> {
    return this.#http.send({ method: "GET", path: ["v1", ...path], query }, options);
  }

  #post<T>(path: string[], json: unknown, options: WriteOptions): Promise<T> {
    return this.#http.write({ method: "POST", path: ["v1", ...path], json }, options);
  }

  #delete(path: string[], options: CallOptions): Promise<void> {
    return this.#http.send({ method: "DELETE", path: ["v1", "threads", ...path] }, options);
  }
}
