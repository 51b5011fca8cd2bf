import { onceOf } from "./headers.ts";
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

/** Conversations, and what is said in them. */
export class Threads {
  readonly #http: CairnHttp;

  constructor(http: CairnHttp) {
    this.#http = http;
  }

  create(user: string, fields: CreateThreadBody = {}, options: WriteOptions = {}): Promise<Thread> {
    return this.#post(["users", user, "threads"], fields, options);
  }

  /** A thread of nobody, which only a token of all users (`*`) reaches. */
  createForNobody(fields: CreateThreadBody = {}, options: WriteOptions = {}): Promise<Thread> {
    return this.#post(["threads"], fields, options);
  }

  /** The thread of this agent that was updated last, or a new one: one step, however many ask at once. */
  resume(user: string, fields: CreateThreadBody = {}, options: CallOptions = {}): Promise<Thread> {
    const path = ["v1", "users", user, "threads", "resume"];
    return this.#http.send({ method: "POST", path, json: fields, repeatable: true, ...options });
  }

  list(user: string, query: ListThreadsQuery = {}, options: CallOptions = {}): Promise<ThreadList> {
    return this.#get(["users", user, "threads"], query, options);
  }

  /** All threads of the user, page by page. Ordered by `created` unless `order` is set: so no thread is missed or seen twice. */
  all(user: string, query: ListThreadsQuery = {}, options: CallOptions = {}): AsyncGenerator<Thread, void> {
    const page = (cursor?: string) => this.list(user, { order: "created", ...query, cursor }, options);
    return itemsOf(page, query.cursor);
  }

  /** A page of the threads of all users; needs the scope `admin`. */
  listAll(query: ListAllThreadsQuery = {}, options: CallOptions = {}): Promise<CataloguedThreadList> {
    return this.#get(["threads"], query, options);
  }

  /** The threads of all users, page by page; needs the scope `admin`. */
  ofAllUsers(
    query: ListAllThreadsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<CataloguedThread, void> {
    return itemsOf((cursor) => this.listAll({ ...query, cursor }, options), query.cursor);
  }

  get(id: string, options: CallOptions = {}): Promise<Thread | null> {
    return this.#http.find({ method: "GET", path: ["v1", "threads", id], ...options });
  }

  /** Changes what is given; null clears it. */
  patch(id: string, fields: PatchThreadBody, options: CallOptions = {}): Promise<Thread> {
    return this.#http.send({ method: "PATCH", path: ["v1", "threads", id], json: fields, ...options });
  }

  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#delete([id], options);
  }

  /** All or none; under conditions, or with the check of a whole conversation, if you like. */
  append(
    id: string,
    messages: readonly Message[],
    { signal, idempotencyKey, ...conditions }: Omit<AppendBody, "messages"> & WriteOptions = {},
  ): Promise<AppendAnswer> {
    return this.#post(["threads", id, "messages"], { messages, ...conditions }, { signal, idempotencyKey });
  }

  /** The last messages, or with `order: "oldest"` the first; the cursor goes on from there. */
  read(id: string, query: ReadMessagesQuery = {}, options: CallOptions = {}): Promise<MessageList> {
    return this.#get(["threads", id, "messages"], query, options);
  }

  /** All messages from the first on, or from behind `after`, page by page. */
  messages(
    id: string,
    query: Omit<ReadMessagesQuery, "order" | "before"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<StoredMessage, void> {
    const page = (cursor?: string) => this.read(id, { ...query, order: "oldest", cursor }, options);
    return itemsOf(page, query.cursor);
  }

  /** The same in one call, as a stream. Throws where it breaks off: it never ends short. */
  stream(
    id: string,
    query: Pick<ReadMessagesQuery, "after" | "view"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<StoredMessage, void> {
    return this.#http.lines({ method: "GET", path: ["v1", "threads", id, "messages"], query, ...options });
  }

  deleteMessage(id: string, seq: number, options: CallOptions = {}): Promise<void> {
    return this.#delete([id, "messages", String(seq)], options);
  }

  /** A thread that shares the messages up to `at` (all of them unless set), and goes on by itself. */
  fork(id: string, fields: ForkBody = {}, options: WriteOptions = {}): Promise<Thread> {
    return this.#post(["threads", id, "fork"], fields, options);
  }

  /** Lets a summary stand for a range of messages in the view `compacted`. */
  compact(id: string, compaction: CompactBody, options: WriteOptions = {}): Promise<Compaction> {
    return this.#post(["threads", id, "compactions"], compaction, options);
  }

  compactions(
    id: string,
    query: ListCompactionsQuery = {},
    options: CallOptions = {},
  ): Promise<CompactionList> {
    return this.#get(["threads", id, "compactions"], query, options);
  }

  /** All compactions, page by page. */
  allCompactions(
    id: string,
    query: ListCompactionsQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<Compaction, void> {
    return itemsOf((cursor) => this.compactions(id, { ...query, cursor }, options), query.cursor);
  }

  /** The view `compacted` shows again what it stood for. */
  deleteCompaction(id: string, compaction: string, options: CallOptions = {}): Promise<void> {
    return this.#delete([id, "compactions", compaction], options);
  }

  /** Whether the whole conversation as you have it continues the stored one. */
  validate(id: string, conversation: ValidateBody, options: CallOptions = {}): Promise<Verdict> {
    const path = ["v1", "threads", id, "validate"];
    return this.#http.send({ method: "POST", path, json: conversation, repeatable: true, ...options });
  }

  #get<T>(path: string[], query: ListThreadsQuery | ReadMessagesQuery, { signal }: CallOptions): Promise<T> {
    return this.#http.send({ method: "GET", path: ["v1", ...path], query, signal });
  }

  #post<T>(path: string[], json: unknown, options: WriteOptions): Promise<T> {
    const { signal } = options;
    return this.#http.send({ method: "POST", path: ["v1", ...path], json, headers: onceOf(options), signal });
  }

  #delete(path: string[], { signal }: CallOptions): Promise<void> {
    return this.#http.send({ method: "DELETE", path: ["v1", "threads", ...path], signal });
  }
}
