// What goes over the wire, as types: taken from the zod schemas, which alone say what it is. The build writes them out,
// so that who uses the package needs neither zod nor this source: here, and nowhere else in the client, they are named.
import type { z } from "@hono/zod-openapi";
import type { ErrorCode as Code } from "../../../src/domain/errors.ts";
import type * as audit from "../../../src/domain/schema/audit.ts";
import type * as bounds from "../../../src/domain/schema/bounds.ts";
import type * as changes from "../../../src/domain/schema/changes.ts";
import type * as context from "../../../src/domain/schema/context.ts";
import type * as erasure from "../../../src/domain/schema/erasure.ts";
import type * as entry from "../../../src/domain/schema/entry.ts";
import type * as failure from "../../../src/domain/schema/error.ts";
import type * as health from "../../../src/domain/schema/health.ts";
import type * as filter from "../../../src/domain/schema/memory-filter.ts";
import type * as memory from "../../../src/domain/schema/memory.ts";
import type * as ingest from "../../../src/domain/schema/ingest.ts";
import type * as extraction from "../../../src/domain/schema/extraction.ts";
import type * as predicate from "../../../src/domain/schema/predicate.ts";
import type * as registry from "../../../src/domain/schema/prompt-cache.ts";
import type * as recall from "../../../src/domain/schema/recall.ts";
import type * as reindex from "../../../src/domain/schema/reindex.ts";
import type * as review from "../../../src/domain/schema/review.ts";
import type * as revocation from "../../../src/domain/schema/revocation.ts";
import type * as signIn from "../../../src/domain/schema/sign-in.ts";
import type * as statistics from "../../../src/domain/schema/statistics.ts";
import type * as thread from "../../../src/domain/schema/thread.ts";
import type * as transfer from "../../../src/domain/schema/transfer.ts";
import type * as restore from "../../../src/domain/schema/restore.ts";
import type * as retention from "../../../src/domain/schema/retention.ts";
import type * as usage from "../../../src/domain/schema/usage.ts";

/** A query as a caller writes it: what is `"true"` or `"false"` in a URL is a boolean. */
type QueryOf<Schema extends z.ZodType> = {
  [Name in keyof z.infer<Schema>]: [NonNullable<z.infer<Schema>[Name]>] extends ["true" | "false"]
    ? boolean | undefined
    : z.infer<Schema>[Name];
};

export type ErrorCode = Code;
export type ErrorBody = z.infer<typeof failure.ErrorBody>;
export type Json = bounds.Json;

export type Message = thread.Message;
export type Thread = thread.Thread;
export type CreateThreadBody = thread.CreateThreadBody;
export type PatchThreadBody = thread.PatchThreadBody;
export type ForkBody = thread.ForkBody;
export type ListThreadsQuery = QueryOf<typeof thread.ListThreadsQuery>;
export type ThreadList = z.infer<typeof thread.ThreadList>;
export type ListAllThreadsQuery = QueryOf<typeof thread.ListAllThreadsQuery>;
export type CataloguedThread = thread.CataloguedThread;
export type CataloguedThreadList = z.infer<typeof thread.CataloguedThreadList>;
export type AppendBody = thread.AppendBody;
export type MessageNote = thread.MessageNote;
export type AppendAnswer = z.infer<typeof thread.AppendAnswer>;
export type ReadMessagesQuery = QueryOf<typeof thread.ReadMessagesQuery>;
export type MessageList = z.infer<typeof thread.MessageList>;
export type StoredMessage = MessageList["items"][number];
export type CompactBody = thread.CompactBody;
export type Compaction = z.infer<typeof thread.Compaction>;
export type ListCompactionsQuery = QueryOf<typeof thread.ListCompactionsQuery>;
export type CompactionList = z.infer<typeof thread.CompactionList>;
export type ValidateBody = thread.ValidateBody;
export type Verdict = z.infer<typeof thread.Verdict>;

export type SetEntryQuery = QueryOf<typeof entry.SetEntryQuery>;
export type WrittenEntry = entry.WrittenEntry;
export type ListEntriesQuery = QueryOf<typeof entry.ListEntriesQuery>;
export type EntryList = z.infer<typeof entry.EntryList>;
export type ListedEntry = EntryList["items"][number];
export type DeletedEntries = z.infer<typeof entry.DeletedEntries>;
export type BatchOperation = entry.BatchOperation;
export type BatchAnswer = z.infer<typeof entry.BatchAnswer>;

export type MemoryKind = memory.Memory["kind"];
export type Memory = memory.Memory;
export type MemorySource = NonNullable<Memory["sources"]>[number];
export type WrittenBy = NonNullable<Memory["writtenBy"]>;
export type Appraisal = NonNullable<Memory["appraisal"]>;
export type Emotion = NonNullable<Memory["emotion"]>;
export type PastMemory = memory.PastMemory;
export type RememberBody = memory.RememberBody;
export type RememberInBatch = z.infer<typeof memory.RememberInBatch>;
export type RememberedMany = z.infer<typeof memory.RememberedMany>;
export type PatchMemoryBody = memory.PatchMemoryBody;
export type MemoryList = z.infer<typeof memory.MemoryList>;
export type MemoryHistory = z.infer<typeof memory.MemoryHistory>;
export type ListMemoriesQuery = QueryOf<typeof filter.ListMemoriesQuery>;
export type HistoryQuery = QueryOf<typeof filter.HistoryQuery>;
export type MemoryFilter = z.infer<typeof filter.memoryFilter>;
export type Forgotten = filter.Forgotten;
export type ReviewMemoriesBody = review.ReviewMemoriesBody;
export type ReviewedMemory = review.ReviewedMemory;
export type ReviewedMemories = review.ReviewedMemories;

export type RecallBody = recall.RecallBody;
export type RecallAnswer = recall.RecallAnswer;
export type Hit = recall.Hit;

export type ContextBody = context.ContextBody;
export type ContextAnswer = context.ContextAnswer;
export type ContextLayer = context.ContextLayer;
export type ContextProfile = context.ContextProfile;

export type IngestBody = ingest.IngestBody;
export type Ingested = ingest.Ingested;
export type Ingest = ingest.Ingest;
export type IngestResult = ingest.IngestResult;

export type OutcomeBody = usage.OutcomeBody;
export type Outcome = usage.Outcome;
export type UsageQuery = QueryOf<typeof usage.UsageQuery>;
export type MemoryUsage = usage.MemoryUsage;
export type MemoryUsageList = z.infer<typeof usage.MemoryUsageList>;

export type StatisticsQuery = QueryOf<typeof statistics.StatisticsQuery>;
export type TenantStatistics = statistics.TenantStatistics;
export type UserSummary = statistics.UserSummary;

export type ChangesQuery = QueryOf<typeof changes.ChangesQuery>;
export type Change = changes.Change;
export type ChangesPage = changes.Changes;
export type WebhookResumed = changes.WebhookResumed;

export type RememberedMemory = z.infer<typeof memory.RememberedMemory>;
export type SimilarMemory = memory.Similar;
export type PredicateRuleBody = z.infer<typeof predicate.PredicateRuleBody>;
export type NamedPredicateRule = predicate.NamedPredicateRule;
export type RestoreBody = z.infer<typeof restore.RestoreBody>;
export type Restore = restore.Restore;
export type Retention = retention.Retention;
export type RetentionRule = retention.RetentionRule;
export type RetentionCounts = retention.RetentionCounts;
export type UserRetention = retention.UserRetention;
export type TenantRetention = retention.TenantRetention;
export type Extraction = extraction.Extraction;
export type ExtractionRule = extraction.ExtractionRule;
export type RedactionRule = extraction.RedactionRule;

export type SetCacheQuery = QueryOf<typeof entry.SetCacheQuery>;
export type DeleteCacheQuery = QueryOf<typeof registry.DeleteCacheQuery>;
export type LeaseBody = z.infer<typeof registry.LeaseBody>;
export type AnyLeaseAnswer = registry.LeaseAnswer;
export type ResolveBody = registry.ResolveBody;
export type ResolveAnswer = registry.ResolveAnswer;
export type ReportBody = registry.ReportBody;
export type ListKeysQuery = QueryOf<typeof registry.ListKeysQuery>;
export type RegistryKeys = registry.RegistryKeys;
export type StatsQuery = QueryOf<typeof registry.StatsQuery>;
export type Stats = registry.Stats;

export type Erasure = erasure.Erasure;
export type JsonWebKeys = z.infer<typeof erasure.JsonWebKeys>;
export type Imported = transfer.ImportAnswer;
export type ListUsersQuery = QueryOf<typeof transfer.ListUsersQuery>;
export type UserList = z.infer<typeof transfer.UserList>;
export type CataloguedUser = UserList["items"][number];

export type Health = z.infer<typeof health.Health>;
export type Reindex = reindex.Reindex;
export type TenantReindex = reindex.TenantReindex;

export type RevokeTokenBody = z.infer<typeof revocation.RevokeTokenBody>;
export type SignIn = signIn.SignIn;
export type SignInCode = signIn.SignInCode;
export type RevokedToken = z.infer<typeof revocation.RevokedToken>;
export type MinIssuedAt = z.infer<typeof revocation.MinIssuedAt>;
export type ListRevocationsQuery = QueryOf<typeof revocation.ListRevocationsQuery>;
export type RevocationsList = revocation.RevocationsList;
export type ListAuditQuery = QueryOf<typeof audit.ListAuditQuery>;
export type AuditedEvent = audit.AuditedEvent;
export type AuditEvents = audit.AuditEvents;
