import {
  type ContinuationOptions,
  type Continuation,
  validateContinuation,
} from "../../src/conversation/continuation.ts";
import type { ThreadRow } from "../../src/d1/tables.ts";
import type { ThreadCatalogue } from "../../src/d1/thread-catalogue.ts";
import { type Failure, fail, ok, type Result } from "../../src/errors.ts";
import { newVersion } from "../../src/ids.ts";
import { limits } from "../../src/limits.ts";
import { searchableText } from "../../src/memory/message-text.ts";
import type { ThreadOwner } from "../../src/memory/record.ts";
import type {
  CreateThreadBody,
  ForkBody,
  Message,
  PatchThreadBody,
  Thread,
} from "../../src/schema/thread.ts";
import type { WakeUp } from "../wake-up.ts";
import type { Once } from "./answers.ts";
import { CatalogueWriter } from "./catalogue-writer.ts";
import {
  type Compaction,
  type CompactionPage,
  type CompactionsQuery,
  CompactionStore,
} from "./compaction-store.ts";
import { Lineage } from "./lineage.ts";
import { MessageStore } from "./message-store.ts";
import { positionOf, type PositionRange } from "./position.ts";
import type { SearchIndex } from "./search-index.ts";
import { type MessagePage, type MessagesQuery, parsed, ThreadReader } from "./thread-reader.ts";
import { type StoredThread, type ThreadPage, ThreadStore } from "./thread-store.ts";
import type { Transactions } from "./transactions.ts";

/** An append: each body is a message as JSON in UTF-8. */
export type Append = {
  bodies: readonly Uint8Array[];
  expectedLength?: number;
  /** `bodies` are then the whole conversation, checked against the stored one. */
  validate?: ContinuationOptions;
};
export type Appended = { length: number; firstSeq?: number; lastSeq?: number };
/** `next` is where the following page begins, if there is one. */
export type ListedThreads = { threads: Thread[]; next?: readonly [time: number, n: number] };
export type Resumed = { thread: Thread; created: boolean };
/** What a message's document keeps besides its text. */
export type MessageRecord = { role: string };

type Parts = {
  storage: DurableObjectStorage;
  transactions: Transactions;
  index: SearchIndex;
  catalogue: ThreadCatalogue;
  wakeUp: WakeUp;
  now: () => number;
};

/** What is appended within this time is embedded together. */
const EMBED_AFTER_MS = 1_000;

/** A user's conversations: every operation whole or not at all, with the search index and the catalogue in step. */
export class Conversations {
  readonly #parts: Parts;
  readonly #threads: ThreadStore;
  readonly #messages: MessageStore;
  readonly #compactions: CompactionStore;
  readonly #lineage: Lineage;
  readonly #reader: ThreadReader;
  readonly #catalogue: CatalogueWriter;

  constructor(parts: Parts) {
    const { sql } = parts.storage;
    this.#parts = parts;
    this.#threads = new ThreadStore(sql);
    this.#messages = new MessageStore(sql);
    this.#compactions = new CompactionStore(sql);
    this.#lineage = new Lineage(sql, this.#threads, this.#messages);
    this.#reader = new ThreadReader(this.#messages, this.#lineage, this.#compactions);
    const rowOf = (id: string) => this.#catalogueRow(id);
    this.#catalogue = new CatalogueWriter({ sql, catalogue: parts.catalogue, rowOf, now: parts.now });
  }

  async create(
    owner: ThreadOwner,
    id: string,
    { fields, once }: { fields: CreateThreadBody; once?: Once },
  ): Promise<Result<Thread>> {
    return this.#catalogued(
      id,
      this.#parts.transactions.run(once, () => {
        this.#noteOwner(owner);
        return ok(this.#changed(this.#threads.create(id, fields, { now: this.#parts.now() })));
      }),
    );
  }

  /** The agent's latest thread, or a new one, in one step: many first calls at once make one thread. */
  async resume(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Resumed> {
    const latest = this.#threads.latest(fields.agent ?? null);
    if (latest !== null) return { thread: this.#view(latest), created: false };
    const made = await this.create(owner, id, { fields });
    if (!made.ok) throw new Error("a thread without an idempotency key cannot fail to be made");
    return { thread: made.value, created: true };
  }

  get(id: string): Result<Thread> {
    const thread = this.#threads.get(id);
    return thread === null ? fail("not_found") : ok(this.#view(thread));
  }

  list(page: ThreadPage): ListedThreads {
    const stored = this.#threads.list({ ...page, limit: page.limit + 1 });
    const shown = stored.slice(0, page.limit);
    const last = shown.at(-1);
    const threads = shown.map((thread) => this.#view(thread));
    return stored.length > shown.length && last
      ? { threads, next: [page.order === "updated" ? last.updatedAt : last.createdAt, last.n] }
      : { threads };
  }

  async patch(id: string, fields: PatchThreadBody): Promise<Result<Thread>> {
    return this.#catalogued(
      id,
      this.#with(id, undefined, (thread) =>
        ok(this.#changed(this.#threads.patch(thread, fields, this.#parts.now()))),
      ),
    );
  }

  async delete(id: string): Promise<Result<null>> {
    return this.#catalogued(
      id,
      this.#with(id, undefined, (thread) => {
        this.#compactions.deleteAll(thread);
        this.#unindex(this.#lineage.deleteThread(thread));
        this.#catalogue.changed(id);
        return ok(null);
      }),
    );
  }

  /** A new thread that shares the messages up to one of this thread's. */
  async fork(
    id: string,
    forkId: string,
    { fields, once }: { fields: ForkBody; once?: Once },
  ): Promise<Result<Thread>> {
    return this.#catalogued(
      id,
      this.#with(id, once, (origin) => {
        const { at = this.#lastSeq(origin), ...given } = fields;
        if (at > 0 && this.#lineage.position(origin, at) === null) return missing("body.at");
        const length = this.#lineage.count(origin, at);
        const shared = { parent: this.#lineage.owner(origin, at), forkSeq: at, forkedFrom: id, length };
        const fork = this.#threads.create(
          forkId,
          { ...origin, ...given },
          { now: this.#parts.now(), fork: shared },
        );
        this.#lineage.inheritHidden(fork, origin);
        this.#compactions.inherit(fork, origin);
        return ok(this.#changed(fork));
      }),
    );
  }

  append(id: string, append: Append, once?: Once): Result<Appended> {
    return this.#with(id, once, (thread) => {
      const fresh = this.#newBodies(thread, append);
      if (!fresh.ok) return fresh;
      const bodies = fresh.value;
      const now = this.#parts.now();
      const first = this.#threads.extend(thread, bodies.length, now);
      for (const [i, body] of bodies.entries()) this.#write(positionOf(thread.n, first + i), body, now);
      this.#catalogue.touched(id);
      this.#parts.wakeUp.by(this.#catalogue.nextDue());
      const length = thread.length + bodies.length;
      return ok(
        bodies.length === 0 ? { length } : { length, firstSeq: first, lastSeq: first + bodies.length - 1 },
      );
    });
  }

  read(id: string, query: MessagesQuery): Result<MessagePage> {
    const thread = this.#threads.get(id);
    return thread === null ? fail("not_found") : ok(this.#reader.page(thread, query));
  }

  deleteMessage(id: string, seq: number): Result<null> {
    return this.#with(id, undefined, (thread) => {
      const position = this.#lineage.position(thread, seq);
      if (position === null) return fail("not_found");
      this.#unindex(this.#lineage.deleteMessage(thread, position));
      this.#threads.shorten(thread, this.#parts.now());
      this.#catalogue.touched(id);
      this.#parts.wakeUp.by(this.#catalogue.nextDue());
      return ok(null);
    });
  }

  /** Lets a summary stand for a range of messages in the compacted view. */
  compact(
    id: string,
    range: Pick<Compaction, "from" | "to" | "summary">,
    once?: Once,
  ): Result<{ id: string; createdAt: number }> {
    return this.#with(id, once, (thread) => {
      if (range.from > range.to) return missing("body.from");
      if (this.#lineage.position(thread, range.to) === null) return missing("body.to");
      const compaction = { ...range, id: newVersion(), createdAt: this.#parts.now() };
      const added = this.#compactions.add(thread, compaction);
      return added.ok ? ok({ id: compaction.id, createdAt: compaction.createdAt }) : added;
    });
  }

  compactions(id: string, query: CompactionsQuery): Result<CompactionPage> {
    const thread = this.#threads.get(id);
    return thread === null ? fail("not_found") : ok(this.#compactions.list(thread, query));
  }

  /** Whether the whole conversation as a caller has it continues the stored one. */
  validate(id: string, bodies: readonly Uint8Array[], options: ContinuationOptions): Result<Continuation> {
    const thread = this.#threads.get(id);
    return thread === null ? fail("not_found") : ok(this.#continuation(thread, bodies, options));
  }

  /** Where the messages of a thread lie, for a search within it. */
  rangesOf(id: string): PositionRange[] | null {
    const thread = this.#threads.get(id);
    return thread === null
      ? null
      : this.#lineage.segments(thread).map(({ n, from, to }) => [positionOf(n, from), positionOf(n, to)]);
  }

  /** The id of the thread to show a found message in: the one that was searched, or any that has it. */
  threadOf(position: number, searched?: string): string | null {
    if (searched === undefined) return this.#lineage.holder(position)?.id ?? null;
    const thread = this.#threads.get(searched);
    return thread !== null && this.#lineage.shows(thread, position) ? thread.id : null;
  }

  /** Writes what is due in the catalogue, for the alarm. */
  catalogueDue(): Promise<void> {
    return this.#catalogue.drain();
  }

  nextDue(): number | null {
    return this.#catalogue.nextDue();
  }

  #with<T>(id: string, once: Once | undefined, act: (thread: StoredThread) => Result<T>): Result<T> {
    return this.#parts.transactions.run(once, () => {
      const thread = this.#threads.get(id);
      return thread === null ? fail("not_found") : act(thread);
    });
  }

  /** Brings the catalogue up to date before the caller hears of the change. */
  async #catalogued<T>(id: string, result: Result<T>): Promise<Result<T>> {
    this.#parts.wakeUp.by(this.#catalogue.nextDue());
    if (result.ok) await this.#catalogue.drain(id);
    return result;
  }

  #changed(thread: StoredThread): Thread {
    this.#catalogue.changed(thread.id);
    return this.#view(thread);
  }

  /** What of an append is to be written, once its conditions are met. */
  #newBodies(
    thread: StoredThread,
    { bodies, expectedLength, validate }: Append,
  ): Result<readonly Uint8Array[]> {
    if (expectedLength !== undefined && expectedLength !== thread.length)
      return fail("length_mismatch", {
        message: `The thread holds ${thread.length} messages, not ${expectedLength}.`,
      });
    if (validate === undefined) return ok(bodies);
    const verdict = this.#continuation(thread, bodies, validate);
    if (!verdict.ok) return refused(verdict);
    const fresh = bodies.slice(thread.length);
    return fresh.length <= limits.messagesPerAppend ? ok(fresh) : fail("too_many_messages");
  }

  #continuation(
    thread: StoredThread,
    bodies: readonly Uint8Array[],
    options: ContinuationOptions,
  ): Continuation {
    const incoming = bodies.map((body) => JSON.parse(new TextDecoder().decode(body)) as Message);
    return validateContinuation(this.#persisted(thread), incoming, options);
  }

  *#persisted(thread: StoredThread): Generator<Message> {
    for (const message of this.#reader.walk(thread, { order: "oldest", view: "raw" })) yield parsed(message);
  }

  #write(position: number, body: Uint8Array, now: number): void {
    this.#messages.write(position, body, now);
    const message = JSON.parse(new TextDecoder().decode(body)) as Message;
    const text = searchableText(message);
    if (text === "") return;
    const record = JSON.stringify({ role: message.role } satisfies MessageRecord);
    this.#parts.index.putMessage({ n: position, kind: "message", text, record, createdAt: now });
    this.#parts.wakeUp.by(now + EMBED_AFTER_MS);
  }

  #unindex(ranges: readonly PositionRange[]): void {
    for (const [from, to] of ranges) this.#parts.index.removeRange(from, to);
  }

  #lastSeq(thread: StoredThread): number {
    const [last] = this.#reader.walk(thread, { order: "newest", view: "raw" }).take(1);
    return last?.seq ?? 0;
  }

  #catalogueRow(id: string): ThreadRow | null {
    const thread = this.#threads.get(id);
    if (thread === null) return null;
    const {
      userId = null,
      agent = null,
      resourceSlug = null,
      recordId = null,
      metadata = null,
    } = this.#view(thread);
    const { title, createdAt, updatedAt } = thread;
    const userHash = id.slice(0, id.indexOf("."));
    return { id, userHash, userId, title, agent, resourceSlug, recordId, metadata, createdAt, updatedAt };
  }

  #noteOwner({ id }: ThreadOwner): void {
    if (id === null) return;
    this.#parts.storage.sql.exec(
      "INSERT INTO owner (id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM owner)",
      id,
    );
  }

  #view({
    n: _n,
    lastSeq: _lastSeq,
    parent: _parent,
    forkSeq: _forkSeq,
    deleted: _deleted,
    ...thread
  }: StoredThread): Thread {
    const [owner] = this.#parts.storage.sql.exec<{ id: string }>("SELECT id FROM owner").toArray();
    return { ...thread, ...(owner && { userId: owner.id }) };
  }
}

const missing = (path: string): Failure =>
  fail("invalid_request", { details: [{ path, message: "is no message of this thread" }] });

const refused = ({ code, reason, index }: Exclude<Continuation, { ok: true }>): Failure =>
  fail("invalid_continuation", {
    message: reason,
    details: [{ path: index === undefined ? "body" : `body.messages[${index}]`, message: reason, code }],
  });
