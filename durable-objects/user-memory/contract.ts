/**
 * The calls that a user's object takes, and the plain data that they carry. The Worker imports nothing else of the object.
 */
import type { Condition } from "../../src/domain/conditions.ts";
import type { Continuation, ContinuationOptions } from "../../src/domain/conversation/continuation.ts";
import type { Failure, Result } from "../../src/domain/errors.ts";
import type { UserHash } from "../../src/domain/ids.ts";
import type { Candidate, Owner, ThreadOwner } from "../../src/domain/memory/record.ts";
import type { MessagePage, PageJson, ReadMessage } from "../../src/domain/page-json.ts";
import type { Weights } from "../../src/domain/ranking/rank.ts";
import type { WrittenEntry } from "../../src/domain/schema/entry.ts";
import type { Erasure } from "../../src/domain/schema/erasure.ts";
import type { ForgetMemoriesBody, Forgotten, MemoryFilter } from "../../src/domain/schema/memory-filter.ts";
import type { Memory, PatchMemoryBody } from "../../src/domain/schema/memory.ts";
import type { Hit, RecallAnswer, RecallKind } from "../../src/domain/schema/recall.ts";
import type { Reindex } from "../../src/domain/schema/reindex.ts";
import type { CreateThreadBody, ForkBody, PatchThreadBody, Thread } from "../../src/domain/schema/thread.ts";
import type { ImportCounts, ObjectLine } from "../../src/domain/schema/transfer.ts";
import type { ImportedVersion } from "../../src/domain/transfer/memory-lines.ts";
import type { QueryVector } from "../../src/platform/embeddings/embedder.ts";
import type { Entry, EntryPage, EntryWrite, Once } from "../storage/contract.ts";

export type { Entry, EntryPage, EntryWrite, MessagePage, Once, PageJson, ReadMessage };

// Entries

/** A page, its items as JSON; `count`: of all under the prefix, if it was asked for. */
export type ListedEntries = PageJson<string> & { count: number | null };

export type EntryOperation =
  | { op: "get"; key: string }
  | ({ op: "set" } & EntryWrite)
  | { op: "delete"; key: string; condition: Condition };

/** Without its key, which the request has: an answer that is kept is one row, and a row of SQLite takes 2 MB. */
export type EntryResult =
  | { entry: Entry | null }
  | { version: string; expiresAt?: number }
  | { deleted: boolean };

export interface EntriesRpc {
  getEntry(key: string): Promise<Entry | null>;
  setEntry(write: EntryWrite, owner: Owner): Promise<Result<WrittenEntry>>;
  deleteEntry(key: string, condition: Condition): Promise<Result<boolean>>;
  /** Answers how many live entries are gone. */
  deleteEntries(prefix: string): Promise<number>;
  listEntries(page: EntryPage, count: boolean): Promise<ListedEntries>;
  /** All operations in order, or none of them. */
  batchEntries(
    operations: readonly EntryOperation[],
    owner: Owner,
    once?: Once,
  ): Promise<Result<EntryResult[]>>;
}

// Threads

export type ThreadOrder = "updated" | "created";

/** `after`: the last thread's time of the order, and its number. */
export type ThreadPage = {
  order: ThreadOrder;
  agent?: string;
  after?: readonly [time: number, n: number];
  limit: number;
};

/** `next` is where the following page begins, if there is one. */
export type ListedThreads = { threads: Thread[]; next?: readonly [time: number, n: number] };

export type Resumed = { thread: Thread; created: boolean };

/** An append: each body is a message as JSON in UTF-8. */
export type Append = {
  bodies: readonly Uint8Array[];
  expectedLength?: number;
  /** When they were said; now unless set. */
  createdAt?: number;
  /** `bodies` are then the whole conversation, checked against the stored one. */
  validate?: ContinuationOptions;
};

export type Appended = { length: number; firstSeq?: number; lastSeq?: number };

export type Order = "newest" | "oldest";

export type MessagesQuery = {
  /** `newest`: the last ones before `from`; `oldest`: the first ones after it. */
  order: Order;
  from?: number;
  limit: number;
  /** `compacted`: summaries in the place of what they stand for. */
  view: "raw" | "compacted";
  /** Never cuts a page between a tool call and its results, as long as they are no more than `limits.turnBytes`. */
  wholeTurns: boolean;
};

/** What a summary stands for: the messages from one seq to the other. */
export type CompactionRange = { id: string; from: number; to: number; createdAt: number };

/** With the summary: a message as JSON in UTF-8. */
export type Compaction = CompactionRange & { summary: Uint8Array };

export type CompactionsQuery = { after?: readonly [from: number, id: string]; limit: number };

export type CompactionPage = { items: Compaction[]; more: boolean };

/** What a compaction is made of; its id and time are the object's. */
export type CompactionRequest = Pick<Compaction, "from" | "to" | "summary">;

export interface ThreadsRpc {
  createThread(
    owner: ThreadOwner,
    id: string,
    request: { fields: CreateThreadBody; once?: Once },
  ): Promise<Result<Thread>>;
  resumeThread(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Result<Resumed>>;
  getThread(id: string): Promise<Result<Thread>>;
  listThreads(page: ThreadPage): Promise<ListedThreads>;
  patchThread(id: string, fields: PatchThreadBody): Promise<Result<Thread>>;
  deleteThread(id: string): Promise<Result<null>>;
  forkThread(id: string, forkId: string, request: { fields: ForkBody; once?: Once }): Promise<Result<Thread>>;
  /** All or none; found by their words when this returns. */
  appendMessages(id: string, append: Append, once?: Once): Promise<Result<Appended>>;
  readMessages(id: string, query: MessagesQuery): Promise<Result<MessagePage>>;
  /** The same page as JSON, its messages in the bytes that they were stored in. */
  readMessagesJson(id: string, query: MessagesQuery, separator: string): Promise<Result<PageJson<number>>>;
  deleteMessage(id: string, seq: number): Promise<Result<null>>;
  compactThread(
    id: string,
    range: CompactionRequest,
    once?: Once,
  ): Promise<Result<{ id: string; createdAt: number }>>;
  listCompactions(id: string, query: CompactionsQuery): Promise<Result<CompactionPage>>;
  deleteCompaction(id: string, compaction: string): Promise<Result<null>>;
  /** Each body is a message of the conversation as the caller has it, as JSON in UTF-8. */
  validateThread(
    id: string,
    bodies: readonly Uint8Array[],
    options: ContinuationOptions,
  ): Promise<Result<Continuation>>;
}

// Memories

/** A memory to remember, with the vector of what is embedded of it, and a condition on the memory that it is one with. */
export type Prepared = Candidate & { vector: QueryVector; condition?: Condition };

/** A change of one memory, under a condition on its version. */
export type MemoryChange = { condition: Condition; once?: Once };

export type Remembered = { memory: Memory; created: boolean };

export interface MemoriesRpc {
  remember(
    owner: Owner,
    request: { memories: readonly Prepared[]; once?: Once },
  ): Promise<Result<Remembered[]>>;
  patchMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { body: PatchMemoryBody },
  ): Promise<Result<Memory>>;
  restoreMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { version: number },
  ): Promise<Result<Memory>>;
  releaseMemory(owner: Owner, id: string, change: MemoryChange): Promise<Result<Memory>>;
  forget(owner: Owner, id: string, condition?: Condition): Promise<Result<boolean>>;
  forgetMemories(owner: Owner, request: ForgetMemoriesBody): Promise<Result<Forgotten>>;
  forgetAllMemories(owner: Owner): Promise<Result<null>>;
  /** `full`: the version is found by its meaning too, and not by its words only. */
  indexingOf(version: number): Promise<"lexical" | "full">;
}

// Recall

export type SearchRequest = {
  query: string;
  k: number;
  kinds?: RecallKind[];
  /** Only memories that it fits; messages have none of its fields but when they were said. */
  filter?: Omit<MemoryFilter, "kinds" | "status">;
  /** What "last week" in the question is in relation to; now unless given. */
  referenceDate?: number;
  weights?: Weights;
  /** Each hit says what its score is made of. */
  explain?: boolean;
};

/** A recall as the object is asked for it. `owner`: whose object this is. */
export type Recall = SearchRequest & {
  owner: UserHash;
  queryVector: QueryVector;
  /** How long the caller waited for the query's vector, in milliseconds. */
  embeddedMs?: number;
  threadId?: string;
  asOf?: number;
  validAt?: number;
  /** How many messages on each side a hit brings along. */
  window?: number;
  /** How long the large index may take, in milliseconds. */
  deadlineMs?: number;
};

/** `full`: what the weights of all features add up to that this user's documents have; scores are shares of it. */
export type Recalled = Omit<RecallAnswer, "degraded"> & { full: number };

/** Documents by their numbers, to be compared with a query. */
export type ScoreRequest = Pick<Recall, "queryVector" | "kinds" | "filter" | "asOf" | "validAt"> & {
  numbers: readonly number[];
};

export interface RecallRpc {
  recall(query: Recall): Promise<Result<Recalled>>;
  /** The documents of these numbers that fit a query, with their cosine: a search of the whole tenant has named them. */
  scoreDocuments(query: ScoreRequest): Promise<Hit[]>;
  /** Begins to rebuild the index of memories from D1, and to embed anew what is of another model. */
  startReindex(owner: UserHash): Promise<Reindex>;
  reindexState(): Promise<Reindex>;
}

// Export and import

/** Where an export is: behind a thread's row, or one of its rows, or an entry. `upTo`: the last thread there was when it began. */
export type ExportPlace = { epoch: number; upTo: number; at: Spot };

export type Spot =
  | { part: "thread"; n: number }
  | (Section & { part: "hidden" | "message"; after: number })
  | (Section & { part: "compaction"; after: readonly [from: number, id: string] })
  | { part: "entry"; after: string | null; head?: Head };

/** The entry of the value whose parts are being told. */
export type Head = { key: string; version: string };

/**
 * The rows of a thread, up to the last message that its line told of, and to the last compaction there was then: what was
 * said since would not fit to that line, and a new compaction may cut through one that was told of, and is deleted by now.
 */
export type Section = { n: number; forkSeq: number; lastSeq: number; compactedAt: number };

/** Lines in UTF-8, each with its line break. Without `next` they are the last. */
export type ExportPage = { lines: Uint8Array; count: number; epoch: number; next?: ExportPlace };

/**
 * A line, with the value that it carries in the bytes that it was written in. `came`: the same import has brought the thread
 * that it is of, or that it is a fork of.
 */
export type ObjectItem = { line: ObjectLine; value?: Uint8Array; came?: true };

/** `threadEnd`: all of a thread has come. */
export type ImportItem = ObjectItem | { line: { type: "threadEnd"; threadId: string } };

/** What became of some lines; `failed` is the first that could not be taken, and nothing after it was tried. */
export type Imported = { counts: ImportCounts; failed?: { index: number; failure: Failure } };

/**
 * Versions that were put, that were there, and that have expired meanwhile; `failed` is the first memory that could not be
 * taken, and none after it was tried.
 */
export type ImportedMemories = {
  imported: number;
  there: number;
  expired: number;
  failed?: { index: number; failure: Failure };
};

export interface TransferRpc {
  /** The next lines of threads and entries, from the first on; `not_found` once the user was erased. */
  exportPage(place?: ExportPlace): Promise<Result<ExportPage>>;
  /** How often the user was erased: an export, or an import, is of one time between. */
  epoch(): Promise<number>;
  /** Takes lines in, up to the first that cannot be. */
  importItems(owner: Owner, given: { epoch: number; items: readonly ImportItem[] }): Promise<Imported>;
  importMemories(
    owner: Owner,
    given: { epoch: number; memories: readonly (readonly ImportedVersion[])[] },
  ): Promise<Result<ImportedMemories>>;
}

// Erasure

export interface ErasureRpc {
  /** Nothing of the user's is read any more when this returns, and the alarm goes on until every store is empty. */
  eraseUser(owner: Owner): Promise<Result<Erasure>>;
  eraseThread(owner: Owner, threadId: string): Promise<Result<Erasure>>;
  eraseScope(owner: Owner, scope: string): Promise<Result<Erasure>>;
  /** Goes on with the erasures that are under way, whatever became of the alarm, and of their rows here. For the cron. */
  wakeErasures(ids?: readonly string[]): Promise<void>;
  /** One that is under way, or null. */
  erasureState(id: string): Promise<Erasure | null>;
}

/** A user's object as its callers see it. */
export type UserMemoryRpc = EntriesRpc & ThreadsRpc & MemoriesRpc & RecallRpc & TransferRpc & ErasureRpc;
