import type { z } from "@hono/zod-openapi";
import type {
  BatchAnswer,
  BatchOperation,
  DeletedEntries,
  EntryList,
  WrittenEntry,
} from "../schema/entry.ts";
import type { Erasure } from "../schema/erasure.ts";
import type { ReportBody, ResolveAnswer, ResolveBody, Stats } from "../schema/prompt-cache.ts";
import type { ForgetMemoriesBody, Forgotten, ListMemoriesQuery } from "../schema/memory-filter.ts";
import type {
  Memory,
  MemoryHistory,
  MemoryKind,
  MemoryList,
  PastMemory,
  PatchMemoryBody,
  RememberBody,
  RememberedMany,
} from "../schema/memory.ts";
import type { RecallAnswer, RecallBody } from "../schema/recall.ts";
import type { Reindex } from "../schema/reindex.ts";
import type {
  AppendAnswer,
  AppendBody,
  CataloguedThreadList,
  CompactBody,
  Compaction,
  CompactionList,
  CreateThreadBody,
  ForkBody,
  Message,
  MessageList,
  PatchThreadBody,
  Thread,
  ThreadList,
  ValidateBody,
  Verdict,
} from "../schema/thread.ts";
import { CairnHttp, type CairnOptions } from "./http.ts";

export { CairnError, type CairnOptions } from "./http.ts";
export {
  type Continuation,
  type ContinuationCode,
  type ContinuationOptions,
  type ContinuationRefusal,
  validateContinuation,
} from "../conversation/continuation.ts";
export {
  assertValidContinuation,
  ContinuationValidationError,
  type ContinuationValidator,
  defaultContinuationValidator,
} from "../conversation/continuation-validator.ts";
export type { AiMessage, AnyMessage, ContentPart } from "../conversation/message.ts";
export { sanitizeConversation } from "../conversation/sanitize.ts";
export type { Memory, MemoryKind, Message, RecallAnswer, RecallBody, RememberBody, Thread };
export type { Forgotten, ListMemoriesQuery, PastMemory, PatchMemoryBody };
export type { ReportBody, ResolveAnswer, ResolveBody, Stats };
export type { Erasure };

type Page = { limit?: number; cursor?: string };
type ReadOptions = {
  order?: "newest" | "oldest";
  before?: number;
  after?: number;
  view?: "raw" | "sanitized" | "compacted";
};
/** The same key with the same request is done once and answered alike, for 24 hours. */
type Once = { idempotencyKey?: string };
/** Only if the entry has this version; null: only if there is none. */
type IfVersion = { ifVersion?: string | null };

/** When a caller wants to have asked about a memory, and about when. */
type MemoryMoment = { asOf?: number; validAt?: number };
/** Only if the memory has this version. */
type MemoryChange = { ifVersion?: number | undefined } & Once;

const headersOf = ({ idempotencyKey }: Once) => ({ "Idempotency-Key": idempotencyKey });

function conditionOf(version: string | null | undefined): Record<string, string> {
  if (version === undefined) return {};
  return version === null ? { "If-None-Match": "*" } : { "If-Match": `"${version}"` };
}

const changeOf = ({ ifVersion, ...once }: MemoryChange) => ({
  ...headersOf(once),
  ...conditionOf(ifVersion === undefined ? undefined : String(ifVersion)),
});

/** A value, the lease to create it, or word that another creates it and your wait ran out. Times are milliseconds. */
export type LeaseAnswer<T = unknown> =
  | { status: "hit"; value: T; version: string; expiresAt?: number }
  | { status: "lease"; lease: { id: string; expiresAt: number } }
  | { status: "wait"; retryAfterMs: number };

/**
 * A client of one Cairn. Methods reject with `CairnError`; a `get` of what is not there is null.
 *
 * @example
 * const memory = cairn({ url: "http://127.0.0.1:8787", token });
 * await memory.memories.remember("alice", { text: "I moved to Lisbon" });
 * const { hits } = await memory.recall("alice", { query: "where do I live?" });
 */
export function cairn(options: CairnOptions) {
  const http = new CairnHttp(options);
  const eraseSome = (user: string, json: { threadId: string } | { scope: string }): Promise<Erasure> =>
    http.send({ method: "POST", path: ["users", user, "erasures"], json });
  return {
    /** Nothing of what is erased is read any more when this resolves; `get` tells how far it is, and has the receipt. */
    erasures: {
      user: (user: string): Promise<Erasure> => http.send({ method: "DELETE", path: ["users", user] }),
      thread: (user: string, threadId: string): Promise<Erasure> => eraseSome(user, { threadId }),
      scope: (user: string, scope: string): Promise<Erasure> => eraseSome(user, { scope }),
      get: (id: string): Promise<Erasure | null> => http.find({ method: "GET", path: ["erasures", id] }),
    },
    threads: {
      create: (user: string, fields: CreateThreadBody = {}, once: Once = {}): Promise<Thread> =>
        http.send({
          method: "POST",
          path: ["users", user, "threads"],
          json: fields,
          headers: headersOf(once),
        }),
      /** The thread of this agent that was updated last, or a new one: one step, however many ask at once. */
      resume: (user: string, fields: CreateThreadBody = {}): Promise<Thread> =>
        http.send({ method: "POST", path: ["users", user, "threads", "resume"], json: fields }),
      list: (
        user: string,
        query: Page & { agent?: string; order?: "updated" | "created" } = {},
      ): Promise<z.infer<typeof ThreadList>> =>
        http.send({ method: "GET", path: ["users", user, "threads"], query }),
      /** The threads of all users; needs the scope `admin`. */
      listAll: (query: Page & { agent?: string } = {}): Promise<z.infer<typeof CataloguedThreadList>> =>
        http.send({ method: "GET", path: ["threads"], query }),
      get: (id: string): Promise<Thread | null> => http.find({ method: "GET", path: ["threads", id] }),
      patch: (id: string, fields: PatchThreadBody): Promise<Thread> =>
        http.send({ method: "PATCH", path: ["threads", id], json: fields }),
      delete: (id: string): Promise<void> => http.send({ method: "DELETE", path: ["threads", id] }),
      /** All or none; under conditions, or with the check of a whole conversation, if you like. */
      append: (
        id: string,
        messages: readonly Message[],
        { idempotencyKey, ...conditions }: Omit<AppendBody, "messages"> & Once = {},
      ): Promise<z.infer<typeof AppendAnswer>> =>
        http.send({
          method: "POST",
          path: ["threads", id, "messages"],
          json: { messages, ...conditions },
          headers: headersOf({ idempotencyKey }),
        }),
      /** The last messages, or with `order: "oldest"` the first; the cursor goes on from there. */
      read: (id: string, query: Page & ReadOptions = {}): Promise<z.infer<typeof MessageList>> =>
        http.send({ method: "GET", path: ["threads", id, "messages"], query }),
      deleteMessage: (id: string, seq: number): Promise<void> =>
        http.send({ method: "DELETE", path: ["threads", id, "messages", String(seq)] }),
      fork: (id: string, fields: ForkBody = {}, once: Once = {}): Promise<Thread> =>
        http.send({ method: "POST", path: ["threads", id, "fork"], json: fields, headers: headersOf(once) }),
      compact: (id: string, compaction: CompactBody, once: Once = {}): Promise<z.infer<typeof Compaction>> =>
        http.send({
          method: "POST",
          path: ["threads", id, "compactions"],
          json: compaction,
          headers: headersOf(once),
        }),
      compactions: (id: string, query: Page = {}): Promise<z.infer<typeof CompactionList>> =>
        http.send({ method: "GET", path: ["threads", id, "compactions"], query }),
      /** The compacted view shows again what it stood for. */
      deleteCompaction: (id: string, compaction: string): Promise<void> =>
        http.send({ method: "DELETE", path: ["threads", id, "compactions", compaction] }),
      /** Whether the whole conversation as you have it continues the stored one. */
      validate: (id: string, conversation: ValidateBody): Promise<z.infer<typeof Verdict>> =>
        http.send({ method: "POST", path: ["threads", id, "validate"], json: conversation }),
    },
    kv: {
      get: <T = unknown>(user: string, key: string): Promise<T | null> =>
        http.find({ method: "GET", path: ["users", user, "kv", key] }),
      set: (
        user: string,
        key: string,
        value: unknown,
        { ifVersion, ...query }: { ttlMs?: number; refreshOnRead?: boolean } & IfVersion = {},
      ): Promise<z.infer<typeof WrittenEntry>> =>
        http.send({
          method: "PUT",
          path: ["users", user, "kv", key],
          query,
          json: value,
          headers: conditionOf(ifVersion),
        }),
      list: (
        user: string,
        query: Page & { prefix?: string; values?: boolean; count?: boolean } = {},
      ): Promise<z.infer<typeof EntryList>> =>
        http.send({ method: "GET", path: ["users", user, "kv"], query }),
      delete: (user: string, key: string, { ifVersion }: IfVersion = {}): Promise<void> =>
        http.send({ method: "DELETE", path: ["users", user, "kv", key], headers: conditionOf(ifVersion) }),
      /** Deletes every entry under the prefix; the empty one is all of the user's. */
      deletePrefix: (user: string, prefix: string): Promise<z.infer<typeof DeletedEntries>> =>
        http.send({ method: "DELETE", path: ["users", user, "kv"], query: { prefix } }),
      /** All operations in order, or none of them. */
      batch: (
        user: string,
        operations: readonly BatchOperation[],
        once: Once = {},
      ): Promise<z.infer<typeof BatchAnswer>> =>
        http.send({
          method: "POST",
          path: ["users", user, "kv", "batch"],
          json: { operations },
          headers: headersOf(once),
        }),
    },
    memories: {
      remember: (user: string, memory: RememberBody, once: Once = {}): Promise<Memory> =>
        http.send({
          method: "POST",
          path: ["users", user, "memories"],
          json: memory,
          headers: headersOf(once),
        }),
      /** All of them, or none; what became of each, in their order. */
      rememberMany: (
        user: string,
        memories: readonly RememberBody[],
        once: Once = {},
      ): Promise<z.infer<typeof RememberedMany>> =>
        http.send({
          method: "POST",
          path: ["users", user, "memories", "batch"],
          json: { memories },
          headers: headersOf(once),
        }),
      list: (
        user: string,
        { metadata, ...query }: ListMemoriesQuery = {},
      ): Promise<z.infer<typeof MemoryList>> =>
        http.send({
          method: "GET",
          path: ["users", user, "memories"],
          query: { ...query, ...(metadata && { metadata: JSON.stringify(metadata) }) },
        }),
      /** `validAt`: what was true then; `asOf`: what was held true then. */
      get: (user: string, id: string, query: MemoryMoment = {}): Promise<Memory | null> =>
        http.find({ method: "GET", path: ["users", user, "memories", id], query }),
      /** Corrects what a memory says; null takes a field away. */
      update: (
        user: string,
        id: string,
        fields: PatchMemoryBody,
        change: MemoryChange = {},
      ): Promise<Memory> =>
        http.send({
          method: "PATCH",
          path: ["users", user, "memories", id],
          json: fields,
          headers: changeOf(change),
        }),
      /** What a memory was, the newest version first. */
      history: (user: string, id: string, query: Page = {}): Promise<z.infer<typeof MemoryHistory>> =>
        http.send({ method: "GET", path: ["users", user, "memories", id, "history"], query }),
      /** Lets a version of the history take the place of what the memory says. */
      restore: (user: string, id: string, version: number, change: MemoryChange = {}): Promise<Memory> =>
        http.send({
          method: "POST",
          path: ["users", user, "memories", id, "restore"],
          json: { version },
          headers: changeOf(change),
        }),
      /** Out of quarantine. The memory may have another id then: that of what it takes the place of. */
      release: (user: string, id: string, change: MemoryChange = {}): Promise<Memory> =>
        http.send({
          method: "POST",
          path: ["users", user, "memories", id, "release"],
          headers: changeOf(change),
        }),
      forget: (
        user: string,
        id: string,
        { ifVersion }: Pick<MemoryChange, "ifVersion"> = {},
      ): Promise<void> =>
        http.send({
          method: "DELETE",
          path: ["users", user, "memories", id],
          headers: changeOf({ ifVersion }),
        }),
      /** Forgets what the filter means; with `dryRun`, only says what that is. */
      forgetWhere: (
        user: string,
        filter: ForgetMemoriesBody["filter"],
        { dryRun = false }: { dryRun?: boolean } = {},
      ): Promise<Forgotten> =>
        http.send({
          method: "POST",
          path: ["users", user, "memories", "forget"],
          json: { filter, dryRun },
        }),
      /** Rebuilds the user's index from the record, while recall goes on. */
      reindex: (user: string): Promise<Reindex> =>
        http.send({ method: "POST", path: ["users", user, "reindex"] }),
      /** How far the last one is. */
      reindexState: (user: string): Promise<Reindex> =>
        http.send({ method: "GET", path: ["users", user, "reindex"] }),
      forgetAll: (user: string): Promise<void> =>
        http.send({ method: "DELETE", path: ["users", user, "memories"] }),
    },
    recall: (user: string, query: RecallBody): Promise<RecallAnswer> =>
      http.send({ method: "POST", path: ["users", user, "recall"], json: query }),
    cache: {
      get: <T = unknown>(key: string): Promise<T | null> =>
        http.find({ method: "GET", path: ["cache", key] }),
      set: (
        key: string,
        value: unknown,
        { ifVersion, ...query }: { ttlSeconds?: number; lease?: string } & IfVersion = {},
      ): Promise<z.infer<typeof WrittenEntry>> =>
        http.send({
          method: "PUT",
          path: ["cache", key],
          query,
          json: value,
          headers: conditionOf(ifVersion),
        }),
      /** The value, which is then gone: of callers at once, one gets it. */
      take: <T = unknown>(key: string): Promise<T | null> =>
        http.find({ method: "POST", path: ["cache", key, "take"] }),
      /** With `lease` you are the one to create the value: `set` it with `lease: lease.id`, or `release` it. */
      lease: <T = unknown>(
        key: string,
        request: { leaseMs: number; waitMs?: number },
      ): Promise<LeaseAnswer<T>> =>
        http.send({ method: "POST", path: ["cache", key, "lease"], json: request }),
      release: (key: string, id: string): Promise<void> =>
        http.send({ method: "DELETE", path: ["cache", key, "lease"], query: { id } }),
      /** With `version`, forgets that one only, and never a newer one. */
      forget: (key: string, query: { version?: string } = {}): Promise<void> =>
        http.send({ method: "DELETE", path: ["cache", key], query }),
    },
    promptCache: {
      /** What to do to have these regions cached by their provider: see `status`. */
      resolve: (request: ResolveBody): Promise<ResolveAnswer> =>
        http.send({ method: "POST", path: ["prompt-cache", "resolve"], json: request }),
      /** Counts what the provider said of one call. */
      report: (usage: ReportBody, once: Once = {}): Promise<void> =>
        http.send({
          method: "POST",
          path: ["prompt-cache", "report"],
          json: usage,
          headers: headersOf(once),
        }),
      stats: (query: Page & { from?: number; to?: number; model?: string } = {}): Promise<Stats> =>
        http.send({ method: "GET", path: ["prompt-cache", "stats"], query }),
    },
  };
}

export type Cairn = ReturnType<typeof cairn>;
