import { DurableObject } from "cloudflare:workers";
import { type Bindings, type Ports, portsOf } from "../src/platform/bindings.ts";
import type { Continuation, ContinuationOptions } from "../src/domain/conversation/continuation.ts";
import type { Condition } from "../src/domain/conditions.ts";
import { ok, type Result } from "../src/domain/errors.ts";
import type { UserHash } from "../src/domain/ids.ts";
import type { Lexicon } from "../src/domain/ranking/lexicon.ts";
import type { Owner, ThreadOwner } from "../src/domain/memory/record.ts";
import type { ImportedVersion } from "../src/domain/transfer/memory-lines.ts";
import type { WrittenEntry } from "../src/domain/schema/entry.ts";
import type { Erasure } from "../src/domain/schema/erasure.ts";
import type { ForgetMemoriesBody, Forgotten } from "../src/domain/schema/memory-filter.ts";
import type { Memory, PatchMemoryBody } from "../src/domain/schema/memory.ts";
import type { Hit } from "../src/domain/schema/recall.ts";
import type { Reindex } from "../src/domain/schema/reindex.ts";
import type { CreateThreadBody, ForkBody, PatchThreadBody, Thread } from "../src/domain/schema/thread.ts";
import { type Chore, Chores } from "./storage/chores.ts";
import { EntryStore } from "./storage/entry-store.ts";
import type { Served } from "./storage/contract.ts";
import { migrate } from "./storage/migrate.ts";
import { Answers } from "./storage/answers.ts";
import { Entries } from "./user-memory/entries/entries.ts";
import { WakeUp } from "./storage/wake-up.ts";
import { Conversations } from "./user-memory/threads/conversations.ts";
import { Embedding } from "./user-memory/vectorize/embedding.ts";
import { Emptying } from "./user-memory/threads/emptying.ts";
import { Eraser } from "./user-memory/erasure/eraser.ts";
import { Exporter } from "./user-memory/transfer/exporter.ts";
import { FreePages } from "./user-memory/core/free-pages.ts";
import { Generation } from "./user-memory/core/generation.ts";
import { CATALOGUE_WITHIN_MS, OwnerNote } from "./user-memory/core/owner-note.ts";
import { Importer } from "./user-memory/transfer/importer.ts";
import { MemoryIndex } from "./user-memory/memories/memory-index.ts";
import { MemoryTable } from "./user-memory/memories/memory-table.ts";
import { MemoryVectors } from "./user-memory/vectorize/memory-vectors.ts";
import { MemoryWriter } from "./user-memory/memories/memory-writer.ts";
import { messagesJson, type PageJson } from "../src/domain/page-json.ts";
import { QuotaGuard } from "./user-memory/core/quota-guard.ts";
import { Reindexer } from "./user-memory/transfer/reindexer.ts";
import { migrations } from "./user-memory/schema.ts";
import { Recaller } from "./user-memory/recall/recaller.ts";
import { Search } from "./user-memory/recall/search.ts";
import { SearchIndex } from "./user-memory/search-index/search-index.ts";
import { ThreadMessages } from "./user-memory/threads/thread-messages.ts";
import { ThreadStores } from "./user-memory/threads/thread-stores.ts";
import { Transactions } from "./user-memory/core/transactions.ts";
import { WordMerger } from "./user-memory/search-index/word-merger.ts";
import type { Entry, EntryPage, EntryWrite, Once } from "./storage/contract.ts";
import type { MessagePage } from "../src/domain/page-json.ts";
import type {
  CompactionRequest,
  UserMemoryRpc,
  Append,
  Appended,
  CompactionPage,
  CompactionsQuery,
  EntryOperation,
  EntryResult,
  ExportPage,
  ExportPlace,
  ImportItem,
  Imported,
  ImportedMemories,
  ListedEntries,
  ListedThreads,
  MemoryChange,
  MessagesQuery,
  Numbered,
  Prepared,
  Recall,
  Recalled,
  Remembered,
  Resumed,
  ThreadPage,
} from "./user-memory/contract.ts";

/**
 * All that Cairn keeps of one user with strong consistency: threads, entries and the search index; and the one
 * writer of the user's memories in D1. Only the RPC surface and the alarm are here; the parts own their SQL.
 */
export class UserMemory extends DurableObject<Bindings> implements Served<UserMemoryRpc> {
  readonly #ports: Ports;
  readonly #wakeUp: WakeUp;
  readonly #chores: Chores;
  readonly #entries: Entries;
  readonly #answers: Answers;
  readonly #transactions: Transactions;
  readonly #conversations: Conversations;
  readonly #messages: ThreadMessages;
  readonly #index: SearchIndex;
  readonly #vectors: MemoryVectors;
  readonly #embedding: Embedding;
  readonly #recaller: Recaller;
  readonly #memoryTable: MemoryTable;
  readonly #memoryIndex: MemoryIndex;
  readonly #memories: MemoryWriter;
  readonly #reindexer: Reindexer;
  readonly #owner: OwnerNote;
  readonly #generation: Generation;
  readonly #words: WordMerger;
  readonly #pages: FreePages;
  readonly #emptying: Emptying;
  readonly #eraser: Eraser;
  readonly #exporter: Exporter;
  readonly #importer: Importer;

  constructor(ctx: DurableObjectState, env: Bindings, ports: Ports = portsOf(env)) {
    super(ctx, env);
    const { storage } = ctx;
    const isNew = migrate(storage, migrations);
    this.#ports = ports;
    this.#wakeUp = new WakeUp(storage);
    this.#chores = new Chores(this.#wakeUp, ports.now);
    this.#answers = new Answers(storage.sql);
    this.#memoryTable = new MemoryTable(storage.sql);
    const [table, wakeUp] = [this.#memoryTable, this.#wakeUp];
    this.#vectors = new MemoryVectors({
      sql: storage.sql,
      table,
      wakeUp,
      vectors: ports.vectors,
      messages: ports.recall.messageIndexing === "vectorize",
      memory: {
        bytes: ports.vectorBytes,
        budget: ports.vectorBudget,
        owner: ctx.id.toString(),
        now: ports.now,
      },
      now: ports.now,
    });
    this.#words = new WordMerger({ sql: storage.sql, wakeUp, now: ports.now });
    const words = this.#words;
    this.#pages = new FreePages(storage.sql);
    const pages = this.#pages;
    this.#index = new SearchIndex(storage.sql, this.#vectors.store, words);
    const { records, catalogue, unlisted, now } = ports;
    const quota = new QuotaGuard(storage.sql, ports, pages);
    this.#owner = new OwnerNote(storage.sql);
    this.#generation = new Generation(storage.sql, () => this.#conversations.catalogueAnew());
    if (isNew) this.#generation.begin(ports.now());
    const [owner, generation] = [this.#owner, this.#generation];
    const stores = new ThreadStores(storage.sql);
    const answers = this.#answers;
    const byMeaning = ports.recall.messageIndexing !== "lexical";
    const shared = { storage, stores, answers, index: this.#index, byMeaning, wakeUp, quota, now };
    this.#transactions = new Transactions(shared);
    const transactions = this.#transactions;
    const entries = new EntryStore(storage.sql);
    this.#entries = new Entries({ ...shared, entries, transactions });
    const { messages } = stores;
    this.#emptying = new Emptying({ ...shared, sql: storage.sql, messages, transactions });
    const emptying = this.#emptying;
    this.#conversations = new Conversations({
      ...shared,
      catalogue,
      unlisted,
      owner,
      generation,
      transactions,
      emptying,
    });
    this.#messages = new ThreadMessages({
      ...shared,
      transactions,
      touched: (id) => this.#conversations.touched(id),
    });
    this.#memoryIndex = new MemoryIndex(this.#index, table);
    const index = this.#memoryIndex;
    const memory = {
      sql: storage.sql,
      transactions,
      records,
      table,
      index,
      answers,
      entries,
      wakeUp,
      quota,
      now,
      generation,
    };
    const fenced = () => this.#eraser.fenced();
    this.#memories = new MemoryWriter({ ...memory, note: owner, fenced, embedder: ports.embedder });
    const { model } = ports.embedder;
    const lexicon = () => this.#lexicon();
    this.#embedding = new Embedding({ ...shared, transactions, embedder: ports.embedder, lexicon });
    this.#recaller = new Recaller({
      ...shared,
      sql: storage.sql,
      search: new Search(storage.sql, this.#index),
      table,
      vectors: this.#vectors,
      messages: this.#messages,
      large: ports.vectors,
      ownerId: () => owner.id() ?? table.owner()?.id ?? null,
      lexicon,
      meaning: () => this.#embedding.meaning(),
      formerEmbedders: ports.formerEmbedders,
    });
    const [vectors, writer] = [this.#vectors, this.#memories];
    this.#reindexer = new Reindexer({
      ...memory,
      vectors,
      writer,
      model,
      conversations: this.#conversations,
    });
    this.#exporter = new Exporter({ sql: storage.sql, stores, entries, generation, now });
    this.#importer = new Importer({
      ...shared,
      sql: storage.sql,
      entries,
      transactions,
      messages: this.#messages,
      conversations: this.#conversations,
      generation,
    });
    this.#eraser = new Eraser({
      ...memory,
      storage,
      records: ports.erasures,
      receipts: ports.receipts,
      conversations: this.#conversations,
      emptying,
      words,
      pages,
      index: this.#index,
      owner,
      vectors,
      writer,
      restart: async () => {
        await storage.sync();
        ctx.abort("an erasure begins with a new start");
      },
      abort: () => ctx.abort("the storage was not made anew"),
    });
    void ctx.blockConcurrencyWhile(async () => {
      await this.#wakeUp.load();
      this.#eraser.start();
      // What the migrations have begun, and what an alarm left that failed too often.
      const meaning = this.#embedding.meaning();
      // The first recall or alarm begins with what was here before; from then on, each deploy's meaning is followed.
      if (meaning !== null && this.#index.isOtherwise(meaning) && this.#index.requeue(meaning))
        this.#wakeUp.by(ports.now());
      for (const due of [this.#reindexer, this.#memories, this.#emptying, this.#words, this.#eraser])
        this.#wakeUp.by(due.nextDue());
      this.#wakeUp.by(this.#vectors.nextDue(meaning?.model ?? null));
    });
  }

  // Entries

  getEntry(key: string): Entry | null {
    return this.#entries.get(key);
  }

  setEntry(write: EntryWrite, owner: Owner): Result<WrittenEntry> {
    this.#noteOwner(owner, "entry");
    return this.#entries.set(write);
  }

  deleteEntry(key: string, condition: Condition): Result<boolean> {
    return this.#entries.delete(key, condition);
  }

  /** Answers how many live entries are gone. */
  deleteEntries(prefix: string): number {
    return this.#entries.deletePrefix(prefix);
  }

  listEntries(page: EntryPage, count: boolean): ListedEntries {
    return this.#entries.list(page, count);
  }

  /** All operations in order, or none of them. */
  batchEntries(operations: readonly EntryOperation[], owner: Owner, once?: Once): Result<EntryResult[]> {
    if (operations.some(({ op }) => op === "set")) this.#noteOwner(owner, "entry");
    return this.#entries.batch(operations, once);
  }

  // Threads

  createThread(
    owner: ThreadOwner,
    id: string,
    request: { fields: CreateThreadBody; once?: Once },
  ): Promise<Result<Thread>> {
    return this.#conversations.create(owner, id, request);
  }

  resumeThread(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Result<Resumed>> {
    return this.#conversations.resume(owner, id, fields);
  }

  getThread(id: string): Result<Thread> {
    return this.#conversations.get(id);
  }

  listThreads(page: ThreadPage): ListedThreads {
    return this.#conversations.list(page);
  }

  patchThread(id: string, fields: PatchThreadBody): Promise<Result<Thread>> {
    return this.#conversations.patch(id, fields);
  }

  deleteThread(id: string): Promise<Result<null>> {
    return this.#conversations.delete(id);
  }

  forkThread(
    id: string,
    forkId: string,
    request: { fields: ForkBody; once?: Once },
  ): Promise<Result<Thread>> {
    return this.#conversations.fork(id, forkId, request);
  }

  /** All or none; found by their words when this returns. */
  appendMessages(id: string, append: Append, once?: Once): Result<Appended> {
    return this.#messages.append(id, append, once);
  }

  readMessages(id: string, query: MessagesQuery): Result<MessagePage> {
    return this.#messages.read(id, query);
  }

  /** The same page as JSON, its messages in the bytes that they were stored in. */
  readMessagesJson(id: string, query: MessagesQuery, separator: string): Result<PageJson<number>> {
    const page = this.#messages.read(id, query);
    return page.ok ? ok(messagesJson(page.value, separator)) : page;
  }

  deleteMessage(id: string, seq: number): Result<null> {
    return this.#messages.deleteMessage(id, seq);
  }

  compactThread(
    id: string,
    range: CompactionRequest,
    once?: Once,
  ): Result<{ id: string; createdAt: number }> {
    return this.#messages.compact(id, range, once);
  }

  listCompactions(id: string, query: CompactionsQuery): Result<CompactionPage> {
    return this.#messages.compactions(id, query);
  }

  deleteCompaction(id: string, compaction: string): Result<null> {
    return this.#messages.deleteCompaction(id, compaction);
  }

  /** Each body is a message of the conversation as the caller has it, as JSON in UTF-8. */
  validateThread(
    id: string,
    bodies: readonly Uint8Array[],
    options: ContinuationOptions,
  ): Result<Continuation> {
    return this.#messages.validate(id, bodies, options);
  }

  // Memories

  remember(
    owner: Owner,
    request: { memories: readonly Prepared[]; once?: Once },
  ): Promise<Result<Remembered[]>> {
    this.#noteOwner(owner, "memory");
    return this.#memories.remember(owner, request);
  }

  patchMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { body: PatchMemoryBody },
  ): Promise<Result<Memory>> {
    return this.#memories.patch(owner, id, change);
  }

  restoreMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { version: number },
  ): Promise<Result<Memory>> {
    return this.#memories.restore(owner, id, change);
  }

  releaseMemory(owner: Owner, id: string, change: MemoryChange): Promise<Result<Memory>> {
    return this.#memories.release(owner, id, change);
  }

  forget(owner: Owner, id: string, condition?: Condition): Promise<Result<boolean>> {
    return this.#memories.forget(owner, id, condition);
  }

  forgetMemories(owner: Owner, request: ForgetMemoriesBody): Promise<Result<Forgotten>> {
    return this.#memories.forgetMatching(owner, request);
  }

  forgetAllMemories(owner: Owner): Promise<Result<null>> {
    return this.#memories.forgetAll(owner);
  }

  // Erasure

  /** Nothing of the user's is read any more when this returns, and the alarm goes on until every store is empty. */
  eraseUser(owner: Owner): Promise<Result<Erasure>> {
    return this.#eraser.eraseUser(owner);
  }

  eraseThread(owner: Owner, threadId: string): Promise<Result<Erasure>> {
    return this.#eraser.eraseThread(owner, threadId);
  }

  eraseScope(owner: Owner, scope: string): Promise<Result<Erasure>> {
    return this.#eraser.eraseScope(owner, scope);
  }

  /** Goes on with the erasures that are under way, whatever became of the alarm, and of their rows here. For the cron. */
  async wakeErasures(ids: readonly string[] = []): Promise<void> {
    // One that failed too often is gone, and nobody here was told.
    await this.#wakeUp.load();
    for (const id of ids) await this.#eraser.takeOver(id);
    this.#wakeUp.by(this.#eraser.nextDue());
  }

  // Export and import

  /** The next lines of threads and entries, from the first on; `not_found` once the user was erased. */
  exportPage(place?: ExportPlace): Result<ExportPage> {
    return this.#exporter.page(place);
  }

  /** How often the user was erased: an export, or an import, is of one time between. */
  epoch(): number {
    return this.#generation.epoch;
  }

  /** Takes lines in, up to the first that cannot be. */
  async importItems(owner: Owner, given: { epoch: number; items: readonly ImportItem[] }): Promise<Imported> {
    const taken = await this.#importer.take(owner, given);
    // Nobody of whom nothing is kept is listed as a user.
    if (Object.keys(taken.counts.imported).length > 0) this.#noteOwner(owner, "entry");
    return taken;
  }

  importMemories(
    owner: Owner,
    given: { epoch: number; memories: readonly (readonly ImportedVersion[])[] },
  ): Promise<Result<ImportedMemories>> {
    if (given.epoch === this.epoch()) this.#noteOwner(owner, "memory");
    return this.#memories.import(owner, given);
  }

  /** One that is under way, or null. */
  erasureState(id: string): Erasure | null {
    return this.#eraser.state(id);
  }

  /** Whether a version is found by its meaning yet, or by its words only. */
  indexingOf(version: number): "lexical" | "full" {
    return this.#memoryIndex.stateOf(version);
  }

  /** Begins to rebuild the index of memories from D1, and to embed anew what is of another model. */
  startReindex(owner: UserHash): Reindex {
    this.#reindexer.start(owner);
    const meaning = this.#embedding.meaning();
    if (meaning !== null) {
      this.#index.requeue(meaning);
      this.#vectors.putMessagesAgain(meaning.model);
    }
    this.#wakeUp.by(this.#ports.now());
    return this.reindexState();
  }

  reindexState(): Reindex {
    const vectorize = this.#ports.vectors === null ? {} : { vectorize: this.#vectors.outbox.pending() };
    return { ...this.#reindexer.state(), pending: this.#index.freshness().pending, ...vectorize };
  }

  recall(query: Recall): Promise<Result<Recalled>> {
    return this.#recaller.recall(query);
  }

  /** Those of some documents that a query means, with how near they are: what a search of the whole tenant has named. */
  numbered(query: Numbered): Hit[] {
    return this.#recaller.numbered(query);
  }

  #noteOwner(owner: Owner, by: keyof typeof CATALOGUE_WITHIN_MS): void {
    this.#wakeUp.by(this.#owner.note(owner, this.#ports.now() + CATALOGUE_WITHIN_MS[by]));
  }

  /** The word model, or null where there is none: recall does without it then. */
  async #lexicon(): Promise<Lexicon | null> {
    try {
      return await this.#ports.lexicon();
    } catch (error) {
      console.error({ message: "the word model is not to be had", error: String(error) });
      return null;
    }
  }

  /** Embeds what waits for a vector, sweeps what has expired, mends what D1 has not confirmed. Idempotent, bounded. */
  override alarm(): Promise<void> {
    return this.#chores.run(this.#alarmChores());
  }

  #alarmChores(): Chore[] {
    const { now } = this.#ports;
    const model = () => this.#embedding.meaning()?.model ?? null;
    let embedAgain: number | null = null;
    let cutAgain = false;
    return [
      { name: "size", run: () => this.#pages.note(), nextDue: () => null },
      {
        name: "embedding",
        run: async () => {
          const meaning = this.#embedding.meaning();
          if (meaning !== null) this.#index.requeue(meaning);
          embedAgain = await this.#embedding.embed();
        },
        // A reindex may have brought more.
        nextDue: () => embedAgain ?? (this.#index.unembedded(1).length > 0 ? now() : null),
      },
      {
        name: "word pieces",
        run: async () => {
          cutAgain = await this.#embedding.cut();
        },
        nextDue: () => (cutAgain ? now() : null),
      },
      { name: "entries", run: () => this.#entries.sweep(), nextDue: () => this.#entries.nextSweep() },
      {
        name: "answers",
        run: () => this.#answers.sweep(now()),
        nextDue: () => this.#answers.expired.next(now()),
      },
      {
        name: "catalogue",
        run: () => this.#conversations.catalogueDue(),
        nextDue: () => this.#conversations.nextDue(),
      },
      { name: "memories", run: () => this.#memories.alarm(), nextDue: () => this.#memories.nextDue() },
      { name: "reindex", run: () => this.#reindexer.alarm(), nextDue: () => this.#reindexer.nextDue() },
      {
        name: "vectors",
        run: () => this.#vectors.drain(model()),
        nextDue: () => this.#vectors.nextDue(model()),
      },
      { name: "messages", run: () => this.#emptying.alarm(), nextDue: () => this.#emptying.nextDue() },
      { name: "words", run: () => this.#words.alarm(), nextDue: () => this.#words.nextDue() },
      { name: "erasures", run: () => this.#eraser.alarm(), nextDue: () => this.#eraser.nextDue() },
    ];
  }
}
