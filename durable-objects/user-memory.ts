import { DurableObject } from "cloudflare:workers";
import { type Bindings, type Ports, portsOf } from "../src/bindings.ts";
import { fail, ok, type Result } from "../src/errors.ts";
import { searchableText } from "../src/memory/message-text.ts";
import type { Owner } from "../src/memory/record.ts";
import type { WrittenEntry } from "../src/schema/entry.ts";
import type { RecallAnswer } from "../src/schema/recall.ts";
import type { CreateThreadBody, Message, Thread } from "../src/schema/thread.ts";
import { type Entry, type EntryPage, EntryStore, type EntryWrite, type ListedEntry } from "./entry-store.ts";
import { migrate } from "./migrate.ts";
import { WakeUp } from "./wake-up.ts";
import { hitOf, type MessageRecord } from "./user-memory/hit.ts";
import { MemoryWriter, type Remember, type Remembered } from "./user-memory/memory-writer.ts";
import { migrations } from "./user-memory/schema.ts";
import { SearchIndex, type SearchQuery } from "./user-memory/search-index.ts";
import {
  type MessagePage,
  type MessagesQuery,
  positionsOf,
  seqOf,
  type StoredThread,
  type ThreadPage,
  ThreadStore,
} from "./user-memory/thread-store.ts";

export type Recall = Omit<SearchQuery, "range"> & { threadId?: string };
export type Appended = { length: number; firstSeq?: number; lastSeq?: number };
/** `next` is where the following page begins, if there is one. */
export type ListedThreads = { threads: Thread[]; next?: readonly [updatedAt: number, n: number] };

/** How many documents one alarm embeds. */
const EMBED = 100;
/** What is appended within this time is embedded together. */
const EMBED_AFTER_MS = 1_000;
const EMBED_RETRY_MS = 30_000;

/**
 * All that Cairn keeps of one user with strong consistency: threads, entries and the search index; and the one
 * writer of the user's memories in D1. Only the RPC surface and the alarm are here; the parts own their SQL.
 */
export class UserMemory extends DurableObject<Bindings> {
  readonly #ports: Ports;
  readonly #wakeUp: WakeUp;
  readonly #entries: EntryStore;
  readonly #threads: ThreadStore;
  readonly #index: SearchIndex;
  readonly #memories: MemoryWriter;

  constructor(ctx: DurableObjectState, env: Bindings, ports: Ports = portsOf(env)) {
    super(ctx, env);
    const { storage } = ctx;
    migrate(storage, migrations);
    this.#ports = ports;
    this.#wakeUp = new WakeUp(storage);
    this.#entries = new EntryStore(storage.sql);
    this.#threads = new ThreadStore(storage.sql);
    this.#index = new SearchIndex(storage.sql);
    const { records, now } = ports;
    this.#memories = new MemoryWriter({ storage, index: this.#index, records, wakeUp: this.#wakeUp, now });
    void ctx.blockConcurrencyWhile(() => this.#wakeUp.load());
  }

  // Entries

  getEntry(key: string): Entry | null {
    return this.#entries.get(key, this.#ports.now());
  }

  setEntry(write: EntryWrite): WrittenEntry {
    const now = this.#ports.now();
    const written = this.#entries.set(write, now);
    if (write.ttlMs !== null) this.#wakeUp.by(this.#entries.expiry.next(now));
    return written;
  }

  deleteEntry(key: string): void {
    this.#entries.delete(key);
  }

  listEntries(page: EntryPage): { entries: ListedEntry[]; more: boolean } {
    return this.#entries.list(page, this.#ports.now());
  }

  // Threads

  createThread(owner: Owner, id: string, fields: CreateThreadBody): Thread {
    return this.ctx.storage.transactionSync(() => {
      this.#noteOwner(owner);
      return this.#view(this.#threads.create(id, fields, this.#ports.now()));
    });
  }

  getThread(id: string): Result<Thread> {
    const thread = this.#threads.get(id);
    return thread === null ? fail("not_found") : ok(this.#view(thread));
  }

  listThreads(page: ThreadPage): ListedThreads {
    const stored = this.#threads.list({ ...page, limit: page.limit + 1 });
    const shown = stored.slice(0, page.limit);
    const last = shown.at(-1);
    const threads = shown.map((thread) => this.#view(thread));
    return stored.length > shown.length && last ? { threads, next: [last.updatedAt, last.n] } : { threads };
  }

  deleteThread(id: string): Result<null> {
    return this.ctx.storage.transactionSync(() => {
      const positions = this.#threads.delete(id);
      if (positions === null) return fail("not_found");
      this.#index.removeRange(...positions);
      return ok(null);
    });
  }

  /** All or none. Each body is a message as JSON in UTF-8; it is found by its words when this returns. */
  appendMessages(id: string, bodies: readonly Uint8Array[]): Result<Appended> {
    const thread = this.#threads.get(id);
    if (thread === null) return fail("not_found");
    const now = this.#ports.now();
    const positions = this.ctx.storage.transactionSync(() => {
      const placed = this.#threads.append(thread, bodies, now);
      for (const [i, body] of bodies.entries()) this.#indexMessage(placed[i] ?? 0, body, now);
      return placed;
    });
    const length = thread.length + positions.length;
    const [first, last] = [positions.at(0), positions.at(-1)];
    return ok(first && last ? { length, firstSeq: seqOf(first), lastSeq: seqOf(last) } : { length });
  }

  readMessages(id: string, query: MessagesQuery): Result<MessagePage> {
    const thread = this.#threads.get(id);
    return thread === null ? fail("not_found") : ok(this.#threads.read(thread, query));
  }

  // Memories

  remember(owner: Owner, request: Remember): Promise<Result<Remembered>> {
    this.#noteOwner(owner);
    return this.#memories.remember(owner, request);
  }

  forget(owner: Owner, id: string): Promise<Result<boolean>> {
    return this.#memories.forget(owner, id);
  }

  recall({ threadId, ...query }: Recall): Result<RecallAnswer> {
    const thread = threadId === undefined ? undefined : this.#threads.get(threadId);
    if (thread === null)
      return fail("not_found", {
        details: [{ path: "body.threadId", message: "is no thread of this user" }],
      });
    if (this.#index.requeueOtherModels(query.queryVector.model)) this.#wakeUp.by(this.#ports.now());
    const { found, arms } = this.#index.search({ ...query, ...(thread && { range: positionsOf(thread) }) });
    return ok({
      hits: found.map((one) => hitOf(one, this.#threads)),
      arms,
      degraded: arms.some(({ status }) => status === "failed"),
      freshness: this.#index.freshness(),
    });
  }

  /** Mends unconfirmed memory writes, embeds what waits for a vector, sweeps expired entries. Idempotent, bounded. */
  override async alarm(): Promise<void> {
    this.#wakeUp.rang();
    await this.#memories.settle();
    const embedAgain = await this.#embed();
    const now = this.#ports.now();
    this.#entries.expiry.sweep(now);
    for (const due of [this.#memories.nextDue(), embedAgain, this.#entries.expiry.next(now)])
      this.#wakeUp.by(due);
  }

  /** Embeds some of the documents that wait for it. Answers when to go on, or null if none is left. */
  async #embed(): Promise<number | null> {
    const documents = this.#index.unembedded(EMBED);
    if (documents.length === 0) return null;
    const { embedder, now } = this.#ports;
    try {
      const vectors = await embedder.embed(documents.map(({ text }) => text));
      this.ctx.storage.transactionSync(() => {
        for (const [i, { n }] of documents.entries()) this.#index.attach(n, embedder, vectors[i] ?? null);
      });
    } catch (error) {
      console.error({ message: "the embedder failed", model: embedder.model, error: String(error) });
      return now() + EMBED_RETRY_MS;
    }
    return documents.length < EMBED ? null : now();
  }

  #indexMessage(n: number, body: Uint8Array, createdAt: number): void {
    const message = JSON.parse(new TextDecoder().decode(body)) as Message;
    const text = searchableText(message);
    if (text === "") return;
    const record: MessageRecord = { role: message.role };
    this.#index.putMessage({ n, kind: "message", text, record: JSON.stringify(record), createdAt });
    this.#wakeUp.by(createdAt + EMBED_AFTER_MS);
  }

  #noteOwner({ id }: Owner): void {
    this.ctx.storage.sql.exec("INSERT INTO owner (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM owner)", id);
  }

  #view({ n: _n, ...thread }: StoredThread): Thread {
    const { id: userId } = this.ctx.storage.sql.exec<{ id: string }>("SELECT id FROM owner").one();
    return { ...thread, userId };
  }
}
