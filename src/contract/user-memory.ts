/**
 * The calls of a user's object, and the plain data that they carry. The Worker imports nothing else of the object.
 */
import type { Precondition } from "../domain/conditions.ts";
import type { ContextItem, Place } from "../domain/context/item.ts";
import type { LayerName } from "../domain/context/layers/rules.ts";
import type { PlannedLayer } from "../domain/context/plan.ts";
import type { TokenizerName } from "../domain/context/tokens.ts";
import type { Continuation, ContinuationOptions } from "../domain/conversation/continuation.ts";
import type { Failure, Result } from "../domain/errors.ts";
import type { UserHash } from "../domain/ids.ts";
import type { NewMemory, Owner, ThreadOwner, Writer } from "../domain/memory/record.ts";
import type { MessagePage, PageJson, ReadMessage } from "../domain/page-json.ts";
import type { Weights } from "../domain/ranking/rank.ts";
import type {
  ContextAnswer,
  ContextFormat,
  ContextLayer,
  ContextProfile,
  ContextSection,
} from "../domain/schema/context.ts";
import type { Changes } from "../domain/schema/changes.ts";
import type { WrittenEntry } from "../domain/schema/entry.ts";
import type { Erasure } from "../domain/schema/erasure.ts";
import type { Extracted, ExtractKind, Ingest, Ingested } from "../domain/schema/ingest.ts";
import type { ForgetMemoriesBody, Forgotten, MemoryFilter } from "../domain/schema/memory-filter.ts";
import type { Memory, PatchMemoryBody, Similar, Superseded } from "../domain/schema/memory.ts";
import type { Restore } from "../domain/schema/restore.ts";
import type { ReviewedMemory } from "../domain/schema/review.ts";
import type { Trust } from "../domain/schema/provenance.ts";
import type { Answerable, RecallAnswer, RecallKind, TimeMode } from "../domain/schema/recall.ts";
import type { Reindex } from "../domain/schema/reindex.ts";
import type { Retention, UserRetention } from "../domain/schema/retention.ts";
import type { CreateThreadBody, ForkBody, PatchThreadBody, Thread } from "../domain/schema/thread.ts";
import type { UserSummary } from "../domain/schema/statistics.ts";
import type { MemoryUsage, Outcome, OutcomeBody } from "../domain/schema/usage.ts";
import type { ExportHeader, ImportCounts, ObjectLine } from "../domain/schema/transfer.ts";
import type { ImportedVersion } from "../domain/transfer/memory-lines.ts";
import type { TextEmbedding } from "../domain/embedding.ts";
import type { Entry, EntryPage, EntryWrite, IdempotencyKey } from "./storage.ts";

export type { Entry, EntryWrite, IdempotencyKey, PageJson };

// Entries

/** A page, its items as JSON; `count`: of all entries under the prefix, if requested. */
export type ListedEntries = PageJson<string> & { count: number | null };

export type EntryOperation =
  | { op: "get"; key: string }
  | ({ op: "set" } & EntryWrite)
  | { op: "delete"; key: string; condition: Precondition }
  | { op: "messages"; threadId: string; limit: number }
  | ({ op: "append"; threadId: string } & Append);

/** Without the key, which the request has: a stored answer is one row, and a row of SQLite takes 2 MB. */
export type EntryResult =
  | { entry: Entry | null }
  | { version: string; expiresAt?: number }
  | { deleted: boolean }
  | { last: LastMessages | null }
  | { appended: Appended };

export interface EntriesRpc {
  getEntry(key: string): Promise<Entry | null>;
  setEntry(write: EntryWrite, owner: Owner): Promise<Result<WrittenEntry>>;
  deleteEntry(key: string, condition: Precondition): Promise<Result<boolean>>;
  /** Returns how many live entries it deleted. */
  deleteEntries(prefix: string): Promise<number>;
  listEntries(page: EntryPage, count: boolean): Promise<ListedEntries>;
  /** All operations in order, or none of them. */
  batchEntries(
    operations: readonly EntryOperation[],
    owner: Owner,
    once?: IdempotencyKey,
  ): Promise<Result<EntryResult[]>>;
}

// Threads

/** `after`: the time and the number of the last thread of the page before. */
export type ThreadPage = {
  order: "updated" | "created";
  agent?: string;
  after?: readonly [time: number, n: number];
  limit: number;
};

/** `next`: where the following page begins, if there is one. */
export type ListedThreads = { threads: Thread[]; next?: readonly [time: number, n: number] };

export type Resumed = { thread: Thread; created: boolean };

/** An append: each body is a message as JSON in UTF-8. */
export type Append = {
  bodies: readonly Uint8Array[];
  expectedLength?: number;
  /** Appends only if the thread has given no higher seq. */
  ifLastSeq?: number;
  /** The time of all messages, or of each; now unless set. */
  createdAt?: number | readonly number[];
  /** If set, `bodies` are the whole conversation, checked against the stored one. */
  validate?: ContinuationOptions;
  /** The caller's trust; a person's unless set. Instructions in what others append are not marked. */
  trust?: Trust;
};

export type Appended = { length: number; firstSeq?: number; lastSeq?: number };

/** The last messages of a thread as JSON, its length, and the highest seq that it has given. */
export type LastMessages = { json: Uint8Array; length: number; lastSeq: number };

export type Order = "newest" | "oldest";

export type MessagesQuery = {
  /** `newest`: the last messages before `from`; `oldest`: the first messages after it. */
  order: Order;
  from?: number;
  limit: number;
  /** `compacted`: summaries replace the messages that they stand for. */
  view: "raw" | "compacted";
  /** Keeps a tool call and its results on one page, up to `limits.turnBytes`. */
  wholeTurns: boolean;
};

/** The messages that a summary stands for, by seq, both included. */
export type CompactionRange = { id: string; from: number; to: number; createdAt: number };

/** `summary`: a message as JSON in UTF-8. */
export type Compaction = CompactionRange & { summary: Uint8Array };

export type CompactionsQuery = { after?: readonly [from: number, id: string]; limit: number };

export type CompactionPage = { items: Compaction[]; more: boolean };

export interface ThreadsRpc {
  createThread(
    owner: ThreadOwner,
    id: string,
    request: { fields: CreateThreadBody; once?: IdempotencyKey },
  ): Promise<Result<Thread>>;
  resumeThread(owner: ThreadOwner, id: string, fields: CreateThreadBody): Promise<Result<Resumed>>;
  getThread(id: string): Promise<Result<Thread>>;
  listThreads(page: ThreadPage): Promise<ListedThreads>;
  patchThread(id: string, fields: PatchThreadBody): Promise<Result<Thread>>;
  deleteThread(id: string): Promise<Result<null>>;
  forkThread(
    id: string,
    forkId: string,
    request: { fields: ForkBody; once?: IdempotencyKey },
  ): Promise<Result<Thread>>;
  /** Appends all or none. They are found by their words when this returns. */
  appendMessages(id: string, append: Append, once?: IdempotencyKey): Promise<Result<Appended>>;
  readMessages(id: string, query: MessagesQuery): Promise<Result<MessagePage>>;
  /** The same page as JSON, its messages in their stored bytes. */
  readMessagesJson(id: string, query: MessagesQuery, separator: string): Promise<Result<PageJson<number>>>;
  deleteMessage(id: string, seq: number): Promise<Result<null>>;
  compactThread(
    id: string,
    range: Pick<Compaction, "from" | "to" | "summary">,
    once?: IdempotencyKey,
  ): Promise<Result<{ id: string; createdAt: number }>>;
  listCompactions(id: string, query: CompactionsQuery): Promise<Result<CompactionPage>>;
  deleteCompaction(id: string, compaction: string): Promise<Result<null>>;
  /** Each body is a message of the caller's conversation, as JSON in UTF-8. */
  validateThread(
    id: string,
    bodies: readonly Uint8Array[],
    options: ContinuationOptions,
  ): Promise<Result<Continuation>>;
}

// Memories

/** A memory to write, with its vector, and a condition on the stored memory that it is identical to. */
export type Prepared = NewMemory & { vector: TextEmbedding; condition?: Precondition };

/** `condition`: on the version of the memory. */
export type MemoryChange = { condition: Precondition; once?: IdempotencyKey; by: Writer };

/** `replaced`: the memory says this in place of something else. `superseded`: the facts that it ended, as they were. */
export type Remembered = {
  memory: Memory;
  created: boolean;
  replaced?: boolean;
  similar?: Similar[];
  superseded?: Superseded[];
};
/** A released, corrected or restored memory, with the facts that it ended. */
export type Released = Memory & Pick<Remembered, "superseded">;

/** A memory of a review, with a condition on its version. */
export type Reviewing = { id: string; condition: Precondition };
/** The place of a review of all that waits: after a memory, up to the last version when the review began. */
export type ReviewPlace = { upTo: number; at: number; version: number };
/** `matching`: a slice of what waits, those that wait longest first. */
export type ReviewRequest = { decision: "release" | "reject"; by: Writer } & (
  | { memories: readonly Reviewing[] }
  | { matching: { filter: MemoryFilter; after?: ReviewPlace; limit: number } }
);
export type ReviewedMany = { items: ReviewedMemory[]; next?: ReviewPlace };

export interface MemoriesRpc {
  remember(
    owner: Owner,
    request: { memories: readonly Prepared[]; once?: IdempotencyKey },
  ): Promise<Result<Remembered[]>>;
  patchMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { body: PatchMemoryBody },
  ): Promise<Result<Released>>;
  restoreMemory(
    owner: Owner,
    id: string,
    change: MemoryChange & { version: number },
  ): Promise<Result<Released>>;
  releaseMemory(owner: Owner, id: string, change: MemoryChange): Promise<Result<Released>>;
  /** Releases or rejects many, each with an outcome of its own. */
  reviewMemories(owner: Owner, request: ReviewRequest): Promise<Result<ReviewedMany>>;
  forget(owner: Owner, id: string, condition?: Precondition): Promise<Result<boolean>>;
  forgetMemories(owner: Owner, request: ForgetMemoriesBody): Promise<Result<Forgotten>>;
  forgetAllMemories(owner: Owner): Promise<Result<null>>;
  /** The memory that has this id, or that one became which waited in quarantine under it; null if there is none. */
  memoryIdOf(id: string): Promise<string | null>;
  /** `lexical`: the version is found by its words, and still waits for its vector. */
  indexingOf(version: number): Promise<"lexical" | "full">;
}

// Recall

export type SearchRequest = {
  query: string;
  k: number;
  /** Documents that each arm finds, `k` unless given; 32 at least, and 64 in a large index. */
  candidates?: number;
  kinds?: RecallKind[];
  /** The roles of messages; memories have none, and are not excluded. */
  roles?: string[];
  /** Messages match only the fields of their time. */
  filter?: Omit<MemoryFilter, "kinds" | "status">;
  /** The reference of "last week" in the query; now unless given. */
  referenceDate?: number;
  /** The time zone in which the days of the query begin; UTC unless given. */
  timeZone?: string;
  /** `off`: times that the query names have no effect. */
  timeMode?: TimeMode;
  weights?: Weights;
  /** Adds the parts of each score. */
  explain?: boolean;
};

/** `owner`: the user of this object. */
export type Recall = SearchRequest & {
  owner: UserHash;
  queryVector: TextEmbedding;
  /** Milliseconds that embedding the query took. */
  embeddedMs?: number;
  threadId?: string;
  asOf?: number;
  validAt?: number;
  /** Messages shown on each side of a hit. */
  window?: number;
  /** Milliseconds that Vectorize may take. */
  deadlineMs?: number;
  /** The hits that the caller is to show count as recalled, and the answer has a `recallId`. */
  shown?: { k: number; minScore: number; abstains: boolean };
  /** Which threshold `isAnswerable` compares with; that of `auto` unless set. */
  answerable?: Answerable;
};

/** `isAnswerable`: the confidence reaches the threshold of the deployment's model. */
export type Recalled = Omit<RecallAnswer, "degraded"> & { isAnswerable: boolean };

export interface RecallRpc {
  recall(query: Recall): Promise<Result<Recalled>>;
  /** Begins to rebuild the index of memories from D1, and to embed documents of another model again. */
  startReindex(owner: UserHash): Promise<Reindex>;
  reindexState(): Promise<Reindex>;
}

// Context

/** `query`: the searched part, and all of it as it was given. `recipe`: equal for requests that make equal stable blocks. */
export type ContextRequest = {
  owner: UserHash;
  query?: { text: string; given: string; vector: TextEmbedding; embeddedMs: number };
  threadId?: string;
  /** In place of `threadId`: the latest thread of an agent, or the one with this id, which then begins. */
  thread?: { agent: string; newId: string; owner: Owner };
  scope?: string;
  /** In tokens. */
  budget: number;
  layers: readonly PlannedLayer[];
  recipe: string;
  format: ContextFormat;
  sources?: boolean;
  snapshot?: { name: string; ttlMs: number };
  messages?: readonly string[];
  cacheTtlMs: number;
  tokenizer: TokenizerName;
  answerable: Answerable;
  referenceDate?: number;
  timeZone?: string;
  /** Asks for so many messages of the thread; the prompt's own messages are behind them. */
  history?: number;
  explain: boolean;
  /** Shared owners whose memories the layers that search have too. */
  owners?: readonly UserHash[];
  /** Somebody else reads a shared owner's memory: nothing is counted, and the answer has no `recallId`. */
  isUncounted?: boolean;
};

/** The places of a section. */
export type PlacedSection = { layer: LayerName; places: Place[] };

/** The finds of a layer's search in one object, the best first. `recalled`: of the layer `recalled`. */
export type LayerFound = {
  items: readonly ContextItem[];
  ms: number;
  status: ContextSection["status"];
  recalled?: { confidence: number; isAnswerable: boolean };
};

/** `history`: the last messages, with the blocks that they were sent with; `isStored`: the current one is among them. */
export type PromptContext = Omit<ContextAnswer, "history"> & { history?: ReadMessage[]; isStored?: boolean };

export interface ContextRpc {
  context(request: ContextRequest): Promise<Result<PromptContext>>;
  /** Searches this object alone, for another one's context: in the order of the layers that search. */
  searchLayers(request: ContextRequest): Promise<LayerFound[]>;
  /** The items at places of this object, those left out where nothing is any more. */
  contextItems(sections: readonly PlacedSection[]): Promise<(ContextItem & { layer: LayerName })[]>;
  /** A page of a thread; each message of the user with the block that it was sent with. */
  readPrompted(id: string, query: MessagesQuery): Promise<Result<MessagePage>>;
  contextProfile(name: string): Promise<ContextLayer[] | null>;
  listContextProfiles(): Promise<ContextProfile[]>;
  putContextProfile(owner: Owner, profile: ContextProfile): Promise<Result<null>>;
  deleteContextProfile(name: string): Promise<void>;
}

// Ingest

/**
 * `id`: of the ingest. `bodies`: messages as JSON in UTF-8, with the time of each. `session`: a hash of the caller's id of the
 * conversation (`isNamed`), or of its first message. `newThreadId`: of the thread that is created if there is none yet.
 */
export type IngestRequest = {
  id: string;
  threadId?: string;
  newThreadId: string;
  session?: { key: string; isNamed: boolean };
  bodies: readonly Uint8Array[];
  times?: readonly number[];
  kinds: readonly ExtractKind[];
  extracted?: Extracted;
  scope?: string;
  /** The names of the memory's owner in the thread. */
  owners?: readonly string[];
  /** The caller. What is extracted has at most the trust of a model. */
  by: Writer;
  /** Waits so long for the extraction. */
  waitMs?: number;
};

export interface IngestRpc {
  /** Stores the messages, all or none. The alarm extracts. */
  ingest(owner: Owner, request: IngestRequest, once?: IdempotencyKey): Promise<Result<Ingested>>;
  readIngest(id: string): Promise<Result<Ingest>>;
  retryIngest(id: string): Promise<Result<Ingest>>;
}

// Changes

export interface ChangesRpc {
  changes(page: { after?: string; limit: number }): Promise<Result<Changes>>;
  /** Lets the webhook try again at once. Returns false if there is nothing to send. */
  wakeWebhook(): Promise<boolean>;
}

// Usage

export interface UsageRpc {
  /** Counts the user's data, and the work that is under way. */
  summary(): Promise<UserSummary>;
  recallOutcome(id: string, outcome: OutcomeBody): Promise<Result<Outcome>>;
  memoryUsage(page: { after?: string; limit: number; unusedDays?: number }): Promise<MemoryUsage[]>;
}

// Export and import

/** The place of an export: after a thread, one of its rows, or an entry. `upTo`: the last thread when the export began. */
export type ExportPlace = { epoch: number; upTo: number; at: Spot };

export type Spot =
  | { part: "thread"; n: number }
  | (ExportedExtent & { part: "hidden" | "message"; after: number })
  | (ExportedExtent & { part: "compaction"; after: readonly [from: number, id: string] })
  | { part: "entry"; after: string | null; head?: Head };

/** The entry whose value is being exported in parts. */
export type Head = { key: string; version: string };

/**
 * The rows of a thread up to its last message and last compaction when its line was exported. Later messages do not fit that
 * line, and a later compaction may replace an exported one.
 */
export type ExportedExtent = { n: number; forkSeq: number; lastSeq: number; compactedAt: number };

/** Lines in UTF-8, each with its line break. Without `next` they are the last. `retention`: the rules, of a first page, if there are any. */
export type ExportPage = {
  lines: Uint8Array;
  count: number;
  epoch: number;
  next?: ExportPlace;
  retention?: NonNullable<ExportHeader["retention"]>;
};

/** A line, with the bytes of its value. `came`: the same import brought its thread, or the thread that it forks. */
export type ObjectItem = { line: ObjectLine; value?: Uint8Array; threadIsInImport?: true };

/** `threadEnd`: a thread is complete. */
export type ImportItem = ObjectItem | { line: { type: "threadEnd"; threadId: string } };

/** `failed`: the first line or memory that failed; no later one was tried. */
export type Imported = { counts: ImportCounts; failed?: { index: number; failure: Failure } };

export interface TransferRpc {
  /** The next lines of threads and entries; `not_found` once the user was erased. */
  exportPage(place?: ExportPlace): Promise<Result<ExportPage>>;
  /** Grows with each erasure of the user. An export or an import stays within one epoch. */
  epoch(): Promise<number>;
  /** Imports lines up to the first that fails. `trust`: the caller's, as of an append. */
  importItems(
    owner: Owner,
    given: { epoch: number; items: readonly ImportItem[]; trust?: Trust },
  ): Promise<Result<Imported>>;
  importMemories(
    owner: Owner,
    given: { epoch: number; memories: readonly (readonly ImportedVersion[])[] },
  ): Promise<Result<Imported>>;
}

// Retention

export interface RetentionRpc {
  /** The rules of this user, and what they would delete now: with the given ones in place of those of the same level. */
  retention(given?: { tenant?: Retention; own?: Retention }): Promise<UserRetention>;
  /** Sets the rules of a level. They are applied after an hour. */
  setRetention(owner: Owner | null, given: { tenant?: Retention; own?: Retention }): Promise<UserRetention>;
}

// Restore

/**
 * `numbers`: the last ones before the restore, with room. `epoch`: of erasures of the user. `own`: the user's rules of retention, which
 * stay. `ends`: the last message of each thread, where Vectorize has them.
 */
export type RestorePreview = Pick<Restore, "lost" | "back"> & Omit<RestoreMark, "at" | "token">;
export type RestoreMark = {
  at: number;
  token: string;
  numbers: { version: number; change: number; thread: number };
  epoch: number;
  own: Retention;
  ends?: (readonly [thread: number, lastSeq: number])[];
};
/** The next step: the object is set back; D1 loses later versions, gets those of then, and the catalogue follows. */
export type RestorePlace =
  | { part: "begin" }
  | { part: "record"; after: readonly [id: string, version: number] }
  | { part: "put"; after: number }
  | { part: "threads"; after?: readonly [createdAt: number, id: string] };

export interface RestoreRpc {
  previewRestore(at: number): Promise<Result<RestorePreview>>;
  /** The next session begins with the state of then. */
  beginRestore(mark: RestoreMark): Promise<Result<null>>;
  /** Ends the session if it waits for this restore: then this call and all others fail. */
  restart(token?: string): Promise<void>;
  /** Null after the last step. */
  stepRestore(owner: UserHash, mark: RestoreMark, place: RestorePlace): Promise<Result<RestorePlace | null>>;
}

// Erasure

export interface ErasureRpc {
  /** No data of the user is readable when this returns. The alarm goes on until every store is empty. */
  eraseUser(owner: Owner): Promise<Result<Erasure>>;
  eraseThread(owner: Owner, threadId: string): Promise<Result<Erasure>>;
  eraseScope(owner: Owner, scope: string): Promise<Result<Erasure>>;
  /** For the cron: resumes erasures even if the alarm or their rows here are lost. */
  wakeErasures(ids?: readonly string[]): Promise<void>;
  /** Null unless the erasure is under way. */
  erasureState(id: string): Promise<Erasure | null>;
}

/** A user's object as its callers see it. */
export type UserMemoryRpc = EntriesRpc &
  ThreadsRpc &
  MemoriesRpc &
  RecallRpc &
  ContextRpc &
  IngestRpc &
  ChangesRpc &
  UsageRpc &
  TransferRpc &
  RetentionRpc &
  RestoreRpc &
  ErasureRpc;
