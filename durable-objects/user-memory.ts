import { DurableObject } from "cloudflare:workers";
import { type Bindings, type Ports, portsOf } from "../src/platform/bindings.ts";
import type { Continuation, ContinuationOptions } from "../src/domain/conversation/continuation.ts";
import type { Condition } from "../src/domain/conditions.ts";
import { ok, type Result } from "../src/domain/errors.ts";
import type { UserHash } from "../src/domain/ids.ts";
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
import { assemble, type UserMemoryParts } from "./user-memory/assemble.ts";
import type { Entry, EntryPage, EntryWrite, Once, Served } from "./storage/contract.ts";
import { CATALOGUE_WITHIN_MS } from "./user-memory/core/owner-note.ts";
import { type MessagePage, messagesJson, type PageJson } from "../src/domain/page-json.ts";
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
  readonly #parts: UserMemoryParts;
  readonly #chores: Chores;

  constructor(ctx: DurableObjectState, env: Bindings, ports: Ports = portsOf(env)) {
    super(ctx, env);
    this.#ports = ports;
    this.#parts = assemble(ctx, ports);
    this.#chores = new Chores(this.#parts.wakeUp, ports.now);
    void ctx.blockConcurrencyWhile(async () => {
      await this.#parts.wakeUp.load();
      // What the migrations have begun, and what an alarm left that failed too often.
      const meaning = this.#parts.embedding.meaning();
      // The first recall or alarm begins with what was here before; from then on, each deploy's meaning is followed.
      if (meaning !== null && this.#parts.index.isOtherwise(meaning) && this.#parts.index.requeue(meaning))
        this.#parts.wakeUp.by(ports.now());
      for (const due of [
        this.#parts.reindexer,
        this.#parts.memories,
        this.#parts.emptying,
        this.#parts.words,
        this.#parts.eraser,
      ])
        this.#parts.wakeUp.by(due.nextDue());
      this.#parts.wakeUp.by(this.#parts.vectors.nextDue(meaning?.model ?? null));
    });
  }

  // Entries

  getEntry(key: string): Entry | null {
    return this.#parts.entries.get(key);
  }

  setEntry(write: EntryWrite, owner: Owner): Result<WrittenEntry> {
    this.#noteOwner(owner, "entry");
    return this.#parts.entries.set(write);
  }

  deleteEntry(key: string, condition: Condition): Result<boolean> {
    return this.#parts.entries.delete(key, condition);
  }

  deleteEntries(prefix: string): number {
    return this.#parts.entries.deletePrefix(prefix);
  }

  listEntries(page: EntryPage, count: boolean): ListedEntries {
    return this.#parts.entries.list(page, count);
  }

  batchEntries(operations: readonly EntryOperation[], owner: Owner, once?: Once): Result<EntryResult[]> {
    if (operations.some(({ op }) => op === "set")) this.#noteOwner(owner, "entry");
    return this.#parts.entries.batch(operations, once);
  }

  // Threads

  createThread(
    owner: ThreadOwner,
    id: string,
    request: { fields: CreateThreadBody; once?: Once },
  ): Promise<Result<Thread>> {
    return this.#parts.conversations.create(owner, id, request);
  }

  resumeThread(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Result<Resumed>> {
    return this.#parts.conversations.resume(owner, id, fields);
  }

  getThread(id: string): Result<Thread> {
    return this.#parts.conversations.get(id);
  }

  listThreads(page: ThreadPage): ListedThreads {
    return this.#parts.conversations.list(page);
  }

  patchThread(id: string, fields: PatchThreadBody): Promise<Result<Thread>> {
    return this.#parts.conversations.patch(id, fields);
  }

  deleteThread(id: string): Promise<Result<null>> {
    return this.#parts.conversations.delete(id);
  }

  forkThread(
    id: string,
    forkId: string,
    request: { fields: ForkBody; once?: Once },
  ): Promise<Result<Thread>> {
    return this.#parts.conversations.fork(id, forkId, request);
  }

  appendMessages(id: string, append: Append, once?: Once): Result<Appended> {
    return this.#parts.messages.append(id, append, once);
  }

  readMessages(id: string, query: MessagesQuery): Result<MessagePage> {
    return this.#parts.messages.read(id, query);
  }

  readMessagesJson(id: string, query: MessagesQuery, separator: string): Result<PageJson<number>> {
    const page = this.#parts.messages.read(id, query);
    return page.ok ? ok(messagesJson(page.value, separator)) : page;
  }

  deleteMessage(id: string, seq: number): Result<null> {
    return this.#parts.messages.deleteMessage(id, seq);
  }

  compactThread(
    id: string,
    range: CompactionRequest,
    once?: Once,
  ): Result<{ id: string; createdAt: number }> {
    return this.#parts.messages.compact(id, range, once);
  }

  listCompactions(id: string, query: CompactionsQuery): Result<CompactionPage> {
    return this.#parts.messages.compactions(id, query);
  }

  deleteCompaction(id: string, compaction: string): Result<null> {
    return this.#parts.messages.deleteCompaction(id, compaction);
  }

  validateThread(
    id: string,
    bodies: readonly Uint8Array[],
    options: ContinuationOptions,
  ): Result<Continuation> {
    return this.#parts.messages.validate(id, bodies, options);
  }

  // Memories

  remember(
    owner: Owner,
    request: { memories: readonly Prepared[]; once?: Once },
  ): Promise<Result<Remembered[]>> {
    this.#noteOwner(owner, "memory");
    return this.#parts.memories.remember(owner, request);
  }

  patchMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { body: PatchMemoryBody },
  ): Promise<Result<Memory>> {
    return this.#parts.memories.patch(owner, id, change);
  }

  restoreMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { version: number },
  ): Promise<Result<Memory>> {
    return this.#parts.memories.restore(owner, id, change);
  }

  releaseMemory(owner: Owner, id: string, change: MemoryChange): Promise<Result<Memory>> {
    return this.#parts.memories.release(owner, id, change);
  }

  forget(owner: Owner, id: string, condition?: Condition): Promise<Result<boolean>> {
    return this.#parts.memories.forget(owner, id, condition);
  }

  forgetMemories(owner: Owner, request: ForgetMemoriesBody): Promise<Result<Forgotten>> {
    return this.#parts.memories.forgetMatching(owner, request);
  }

  forgetAllMemories(owner: Owner): Promise<Result<null>> {
    return this.#parts.memories.forgetAll(owner);
  }

  // Erasure

  eraseUser(owner: Owner): Promise<Result<Erasure>> {
    return this.#parts.eraser.eraseUser(owner);
  }

  eraseThread(owner: Owner, threadId: string): Promise<Result<Erasure>> {
    return this.#parts.eraser.eraseThread(owner, threadId);
  }

  eraseScope(owner: Owner, scope: string): Promise<Result<Erasure>> {
    return this.#parts.eraser.eraseScope(owner, scope);
  }

  async wakeErasures(ids: readonly string[] = []): Promise<void> {
    // One that failed too often is gone, and nobody here was told.
    await this.#parts.wakeUp.load();
    for (const id of ids) await this.#parts.eraser.takeOver(id);
    this.#parts.wakeUp.by(this.#parts.eraser.nextDue());
  }

  // Export and import

  exportPage(place?: ExportPlace): Result<ExportPage> {
    return this.#parts.exporter.page(place);
  }

  epoch(): number {
    return this.#parts.generation.epoch;
  }

  async importItems(owner: Owner, given: { epoch: number; items: readonly ImportItem[] }): Promise<Imported> {
    const taken = await this.#parts.importer.take(owner, given);
    // Nobody of whom nothing is kept is listed as a user.
    if (Object.keys(taken.counts.imported).length > 0) this.#noteOwner(owner, "entry");
    return taken;
  }

  importMemories(
    owner: Owner,
    given: { epoch: number; memories: readonly (readonly ImportedVersion[])[] },
  ): Promise<Result<ImportedMemories>> {
    if (given.epoch === this.epoch()) this.#noteOwner(owner, "memory");
    return this.#parts.memories.import(owner, given);
  }

  erasureState(id: string): Erasure | null {
    return this.#parts.eraser.state(id);
  }

  /** Whether a version is found by its meaning yet, or by its words only. */
  indexingOf(version: number): "lexical" | "full" {
    return this.#parts.memoryIndex.stateOf(version);
  }

  startReindex(owner: UserHash): Reindex {
    this.#parts.reindexer.start(owner);
    const meaning = this.#parts.embedding.meaning();
    if (meaning !== null) {
      this.#parts.index.requeue(meaning);
      this.#parts.vectors.putMessagesAgain(meaning.model);
    }
    this.#parts.wakeUp.by(this.#ports.now());
    return this.reindexState();
  }

  reindexState(): Reindex {
    const vectorize = this.#ports.vectors === null ? {} : { vectorize: this.#parts.vectors.outbox.pending() };
    return { ...this.#parts.reindexer.state(), pending: this.#parts.index.freshness().pending, ...vectorize };
  }

  recall(query: Recall): Promise<Result<Recalled>> {
    return this.#parts.recaller.recall(query);
  }

  /** Those of some documents that a query means, with how near they are: what a search of the whole tenant has named. */
  numbered(query: Numbered): Hit[] {
    return this.#parts.recaller.numbered(query);
  }

  #noteOwner(owner: Owner, by: keyof typeof CATALOGUE_WITHIN_MS): void {
    this.#parts.wakeUp.by(this.#parts.owner.note(owner, this.#ports.now() + CATALOGUE_WITHIN_MS[by]));
  }

  /** Embeds what waits for a vector, sweeps what has expired, mends what D1 has not confirmed. Idempotent, bounded. */
  override alarm(): Promise<void> {
    return this.#chores.run(this.#alarmChores());
  }

  #alarmChores(): Chore[] {
    const { now } = this.#ports;
    const model = () => this.#parts.embedding.meaning()?.model ?? null;
    let embedAgain: number | null = null;
    let cutAgain = false;
    return [
      { name: "size", run: () => this.#parts.pages.note(), nextDue: () => null },
      {
        name: "embedding",
        run: async () => {
          const meaning = this.#parts.embedding.meaning();
          if (meaning !== null) this.#parts.index.requeue(meaning);
          embedAgain = await this.#parts.embedding.embed();
        },
        // A reindex may have brought more.
        nextDue: () => embedAgain ?? (this.#parts.index.unembedded(1).length > 0 ? now() : null),
      },
      {
        name: "word pieces",
        run: async () => {
          cutAgain = await this.#parts.embedding.cut();
        },
        nextDue: () => (cutAgain ? now() : null),
      },
      {
        name: "entries",
        run: () => this.#parts.entries.sweep(),
        nextDue: () => this.#parts.entries.nextSweep(),
      },
      {
        name: "answers",
        run: () => this.#parts.answers.sweep(now()),
        nextDue: () => this.#parts.answers.expired.next(now()),
      },
      {
        name: "catalogue",
        run: () => this.#parts.conversations.catalogueDue(),
        nextDue: () => this.#parts.conversations.nextDue(),
      },
      {
        name: "memories",
        run: () => this.#parts.memories.alarm(),
        nextDue: () => this.#parts.memories.nextDue(),
      },
      {
        name: "reindex",
        run: () => this.#parts.reindexer.alarm(),
        nextDue: () => this.#parts.reindexer.nextDue(),
      },
      {
        name: "vectors",
        run: () => this.#parts.vectors.drain(model()),
        nextDue: () => this.#parts.vectors.nextDue(model()),
      },
      {
        name: "messages",
        run: () => this.#parts.emptying.alarm(),
        nextDue: () => this.#parts.emptying.nextDue(),
      },
      { name: "words", run: () => this.#parts.words.alarm(), nextDue: () => this.#parts.words.nextDue() },
      {
        name: "erasures",
        run: () => this.#parts.eraser.alarm(),
        nextDue: () => this.#parts.eraser.nextDue(),
      },
    ];
  }
}
