import type { Neighbour } from "./lineage.ts";
import {
  type Continuation,
  type ContinuationOptions,
  validateContinuation,
} from "../../../src/domain/conversation/continuation.ts";
import {
  isOfOwner,
  type Speakers,
  UNNAMED,
  withSpeakers,
} from "../../../src/domain/conversation/speakers.ts";
import { fail, type Failure, fieldOverLimit, ok, type Result } from "../../../src/domain/errors.ts";
import { newVersion } from "../../../src/domain/ids.ts";
import { limits } from "../../../src/domain/limits.ts";
import { isPerson } from "../../../src/domain/memory/trust.ts";
import type { Trust } from "../../../src/domain/schema/provenance.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { positionOf, type PositionRange, positionsOf, seqOf, threadNumberOf } from "../core/position.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import { ONLY_WORDS, type SearchIndex } from "../search-index/search-index.ts";
import type { IndexedText } from "../search-index/vector-store.ts";
import { parsed } from "./message-documents.ts";
import type { StoredThread } from "./thread-row.ts";
import { changeThread, missing, type ThreadStores } from "./thread-stores.ts";
import type { Transactions } from "../core/transactions.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";
import { type MessagePage, messagesJson } from "../../../src/domain/page-json.ts";
import type {
  Append,
  Appended,
  Compaction,
  CompactionPage,
  CompactionsQuery,
  LastMessages,
  MessagesQuery,
} from "../../../src/contract/user-memory.ts";

type ThreadMessagesDependencies = {
  stores: ThreadStores;
  transactions: Transactions;
  index: SearchIndex;
  /** Tells the catalogue that messages were added or deleted. */
  messagesChanged: (threadId: string) => void;
  /** Called in the transaction that deletes a message of a thread. */
  messageDeleted: (thread: StoredThread, seq: number) => void;
  /** True if messages are found by their meaning at all. */
  byMeaning: boolean;
  /** The vector and the word pieces of a text; undefined unless the models are in memory. */
  indexNow: (text: string) => IndexedText | undefined;
  /** The log that an append takes along in its thread's row; null if the row keeps the one it has. */
  recallLog: { intoThread(thread: number): string | null };
  alarms: AlarmScheduler;
  quota: QuotaGuard;
  now: () => number;
};

/** Messages that are appended within this time are embedded together. */
const EMBED_AFTER_MS = 1_000;
/** Characters of one call that are embedded at once, which takes some milliseconds. The alarm embeds the rest. */
export const embeddedAtOnce = (): { characters: number } => ({ characters: 20_000 });

/** Reads and writes the messages of a user's threads, and keeps the search index in step. Each write is atomic. */
export class ThreadMessages {
  readonly #deps: ThreadMessagesDependencies;
  readonly #stores: ThreadStores;

  constructor(deps: ThreadMessagesDependencies) {
    this.#deps = deps;
    this.#stores = deps.stores;
  }

  append(id: string, append: Append, once?: IdempotencyKey, atOnce = embeddedAtOnce()): Result<Appended> {
    return this.#withinQuota(id, once, (thread) => {
      const fresh = this.#newBodies(thread, append);
      if (!fresh.ok) return fresh;
      const bodies = fresh.value;
      const now = this.#deps.now();
      const recalls = this.#deps.recallLog.intoThread(thread.n);
      const first = this.#stores.threads.extend(thread, bodies.length, { now, recalls });
      const { createdAt = now, trust } = append;
      const times = bodies.map((_, i) => (typeof createdAt === "number" ? createdAt : (createdAt[i] ?? now)));
      const waits = this.#write(thread, first, bodies, { times, trust, atOnce });
      if (waits) this.#deps.alarms.scheduleBy(now + EMBED_AFTER_MS);
      this.#deps.messagesChanged(id);
      const length = thread.length + bodies.length;
      return ok(
        bodies.length === 0 ? { length } : { length, firstSeq: first, lastSeq: first + bodies.length - 1 },
      );
    });
  }

  /** Writes an imported message at its seq. Returns whether it waits for a vector. */
  restore(
    thread: StoredThread,
    seq: number,
    { body, createdAt, trust }: { body: Uint8Array; createdAt: number; trust: Trust | undefined },
  ): boolean {
    // Whoever wrote it: names that are left out would make one of several the owner.
    return this.#write(thread, seq, [body], { times: [createdAt], trust, named: "user" });
  }

  read(id: string, query: MessagesQuery): Result<MessagePage> {
    return this.#read(id, (thread) => this.#stores.reader.page(thread, query));
  }

  /** The last messages, or fewer of them than `limit`; null if there is no such thread. */
  last(id: string, limit: number): LastMessages | null {
    const thread = this.#stores.threads.get(id);
    if (thread === null) return null;
    const query = { order: "newest", limit, view: "raw", wholeTurns: false } as const;
    const { json } = messagesJson(this.#stores.reader.page(thread, query), ",");
    return { json, length: thread.length, lastSeq: thread.lastSeq };
  }

  deleteMessage(id: string, seq: number): Result<null> {
    return changeThread(this.#deps, { id }, (thread) => {
      const position = this.#stores.lineage.position(thread, seq);
      if (position === null) return fail("not_found");
      this.#deps.index.removeRanges(this.#stores.shared.deleteMessage(thread, position));
      this.#stores.threads.shorten(thread, this.#deps.now());
      this.#stores.threads.endImport(thread);
      this.#deps.messageDeleted(thread, seq);
      this.#deps.messagesChanged(id);
      return ok(null);
    });
  }

  /**
   * Replaces a message at its seq; the former words leave the index with it. `createdAt`: the time of the former one. Returns false,
   * and replaces nothing, if other threads share the message.
   */
  replace(
    id: string,
    seq: number,
    { body, createdAt, trust }: { body: Uint8Array; createdAt: number; trust: Trust },
  ): Result<boolean> {
    return this.#withinQuota(id, undefined, (thread) => {
      const { lineage, shared, messages, threads } = this.#stores;
      const position = lineage.position(thread, seq);
      if (position === null) return fail("not_found");
      if (shared.isShared(thread, position)) return ok(false);
      messages.delete([position, position]);
      this.#deps.index.removeRanges([[position, position]]);
      const now = this.#deps.now();
      const atOnce = embeddedAtOnce();
      const waits = this.#write(thread, seq, [body], { times: [createdAt], trust, atOnce });
      if (waits) this.#deps.alarms.scheduleBy(now + EMBED_AFTER_MS);
      threads.extend(thread, 0, { now });
      threads.endImport(thread);
      this.#deps.messagesChanged(id);
      return ok(true);
    });
  }

  /** Adds a summary, which replaces a range of messages in the compacted view. */
  compact(
    id: string,
    range: Pick<Compaction, "from" | "to" | "summary">,
    once?: IdempotencyKey,
  ): Result<{ id: string; createdAt: number }> {
    return this.#withinQuota(id, once, (thread) => {
      if (range.from > range.to) return missing("body.from");
      if (this.#stores.lineage.position(thread, range.to) === null) return missing("body.to");
      const compaction = { ...range, id: newVersion(), createdAt: this.#deps.now() };
      const added = this.#stores.compactions.add(thread, compaction);
      return added.ok ? ok({ id: compaction.id, createdAt: compaction.createdAt }) : added;
    });
  }

  compactions(id: string, query: CompactionsQuery): Result<CompactionPage> {
    return this.#read(id, (thread) => this.#stores.compactions.list(thread, query));
  }

  /** Deletes a summary. The compacted view shows its messages again. */
  deleteCompaction(id: string, compaction: string): Result<null> {
    return changeThread(this.#deps, { id }, (thread) => {
      if (!this.#stores.compactions.delete(thread, compaction)) return fail("not_found");
      this.#stores.threads.endImport(thread);
      return ok(null);
    });
  }

  /** Checks that the caller's whole conversation continues the stored one. */
  validate(id: string, bodies: readonly Uint8Array[], options: ContinuationOptions): Result<Continuation> {
    return this.#read(id, (thread) => this.#continuation(thread, bodies, options));
  }

  /** The ranges of a thread's messages, for a search within it. */
  rangesOf(id: string): PositionRange[] | null {
    const thread = this.#stores.threads.get(id);
    return thread === null ? null : Array.from(this.#stores.lineage.segments(thread), positionsOf);
  }

  /** The id of the thread to show a found message in: the one that was searched, or any that has it. */
  threadOf(position: number, searched?: string): string | null {
    if (searched === undefined) return this.#stores.forks.holder(position);
    const thread = this.#stores.threads.get(searched);
    return thread !== null && !this.#stores.hidden.has(thread, position) ? thread.id : null;
  }

  /** The same of several messages; without those that no thread shows. */
  threadsOf(positions: readonly number[], searched?: string): Map<number, string> {
    const { forks, hidden } = this.#stores;
    // Most messages are shown by the thread that owns them: one look for all of these.
    const live =
      searched === undefined
        ? forks.liveAmong([...new Set(positions.map(threadNumberOf))])
        : new Map<number, string>();
    const hiddenOnes = new Set(hidden.among(positions));
    return new Map(
      positions.flatMap((position) => {
        const own = hiddenOnes.has(position) ? undefined : live.get(threadNumberOf(position));
        const id = own ?? this.threadOf(position, searched);
        return id === null ? [] : [[position, id] as const];
      }),
    );
  }

  /** The positions of the messages of a thread that stand at most so many places before and after one, in their order. */
  around(id: string, position: number, places: number): number[] {
    const thread = this.#stores.threads.get(id);
    if (thread === null) return [];
    const seq = seqOf(position);
    const around: number[] = [];
    for (let other = Math.max(1, seq - places); other <= Math.min(thread.lastSeq, seq + places); other++) {
      const there = other === seq ? null : this.#stores.lineage.position(thread, other);
      if (there !== null) around.push(there);
    }
    return around;
  }

  /** Finds the neighbours of messages, in the searched thread or in each message's own. */
  besides(positions: readonly number[], searched?: string): Neighbour {
    const thread = searched === undefined ? null : this.#stores.threads.get(searched);
    return this.#stores.lineage.besides(positions, thread);
  }

  /** The messages among these that the searched thread does not show, or that no thread shows. */
  unshown(positions: readonly number[], searched?: string): Set<number> {
    const hidden = this.#stores.hidden.among(positions);
    return new Set(hidden.filter((position) => this.threadOf(position, searched) === null));
  }

  /** The newest messages with standing instructions, then those with preferences alone. */
  standing(limit: number): number[] {
    return this.#stores.documents.standingPositions(limit);
  }

  #read<T>(id: string, answer: (thread: StoredThread) => T): Result<T> {
    const thread = this.#stores.threads.get(id);
    return thread === null ? fail("not_found") : ok(answer(thread));
  }

  /** Acts on a thread in one transaction, within the quota. */
  #withinQuota<T>(
    id: string,
    once: IdempotencyKey | undefined,
    act: (thread: StoredThread) => Result<T>,
  ): Result<T> {
    return changeThread(this.#deps, { id, once }, (thread) =>
      this.#deps.quota.withinQuota(["bytes"], () => act(thread)),
    );
  }

  /** The bodies of an append that are new, if its conditions hold. */
  #newBodies(
    thread: StoredThread,
    { bodies, expectedLength, ifLastSeq, validate }: Append,
  ): Result<readonly Uint8Array[]> {
    if (ifLastSeq !== undefined && ifLastSeq !== thread.lastSeq) return fail("precondition_failed");
    if (expectedLength !== undefined && expectedLength !== thread.length)
      return fail("length_mismatch", {
        message: `The thread holds ${thread.length} messages, not ${expectedLength}.`,
        details: [{ path: "body.expectedLength", message: `is not the thread's length, ${thread.length}` }],
      });
    if (validate === undefined) return ok(bodies);
    const verdict = this.#continuation(thread, bodies, validate);
    if (!verdict.ok) return refused(verdict);
    const fresh = bodies.slice(thread.length);
    if (fresh.length <= limits.messagesPerAppend) return ok(fresh);
    const most = limits.messagesPerAppend.toLocaleString("en-US");
    return fieldOverLimit("body.messages", `holds more than ${most} new messages`);
  }

  #continuation(
    thread: StoredThread,
    bodies: readonly Uint8Array[],
    options: ContinuationOptions,
  ): Continuation {
    const stored = this.#stores.reader.walk(thread, { order: "oldest", view: "raw" });
    return validateContinuation(
      stored.map(({ body }) => parsed(body)),
      bodies.map(parsed),
      options,
    );
  }

  /**
   * Writes messages from a seq on. `trust`: the writer's, a person's unless set; `named`: of whoever gave the names of users.
   * `atOnce`: the characters that may still be embedded now. Returns whether a message waits for a vector.
   */
  #write(
    thread: StoredThread,
    first: number,
    bodies: readonly Uint8Array[],
    {
      times,
      trust,
      named = trust,
      atOnce = { characters: 0 },
    }: {
      times: readonly number[];
      trust: Trust | undefined;
      named?: Trust | undefined;
      atOnce?: { characters: number };
    },
  ): boolean {
    const { index, byMeaning, indexNow } = this.#deps;
    const now = this.#deps.now();
    const messages = bodies.map((body) => ({ body, message: parsed(body) }));
    const speakers = this.#speakers(
      thread,
      messages.map(({ message }) => message),
      named,
    );
    const embeds = byMeaning && thread.indexing !== "lexical";
    let waits = false;
    for (const [i, { body, message }] of messages.entries()) {
      const position = positionOf(thread.n, first + i);
      const isOwner = isOfOwner(message, speakers);
      const createdAt = times[i] ?? now;
      const text = this.#stores.messages.write(position, body, { message, isOwner, createdAt, trust, now });
      if (text === "") continue;
      const isNow = (atOnce.characters -= text.length) >= 0;
      const indexed = embeds ? (isNow ? indexNow(text) : undefined) : ONLY_WORDS;
      index.put(position, text, indexed);
      waits ||= indexed === undefined;
    }
    return waits;
  }

  /** The speakers of a thread, with those that further messages bring. */
  #speakers(thread: StoredThread, messages: readonly Message[], named: Trust = "user"): Speakers {
    const speakers = withSpeakers(thread.speakers, messages, isPerson(named));
    if (speakers !== null && speakers !== thread.speakers) this.#stores.threads.setSpeakers(thread, speakers);
    return speakers ?? UNNAMED;
  }
}

const refused = ({ code, reason, index }: Exclude<Continuation, { ok: true }>): Failure =>
  fail("invalid_continuation", {
    message: reason,
    details: [{ path: index === undefined ? "body" : `body.messages[${index}]`, message: reason, code }],
  });
