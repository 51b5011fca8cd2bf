import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import { ChangesFeed } from "../changes/changes-feed.ts";
import { WebhookDelivery } from "../changes/webhook-delivery.ts";
import { TombstoneRanges } from "../core/tombstone-ranges.ts";
import { Entries } from "../entries/entries.ts";
import { MemoryIndex } from "../memories/memory-index.ts";
import { SimilarMemories } from "../memories/similar-memories.ts";
import { DecidedWrites } from "../memories/decided-writes.ts";
import { DueMemories } from "../memories/due-memories.ts";
import { IntentLog } from "../memories/intent-log.ts";
import { MemoryExpiry } from "../memories/memory-expiry.ts";
import { MemoryForgetter } from "../memories/memory-forgetter.ts";
import { PendingWrites } from "../memories/pending-writes.ts";
import { Review } from "../memories/review.ts";
import { MemoryWriter } from "../memories/memory-writer.ts";
import { RecallService } from "../recall/recall-service.ts";
import { HybridSearch } from "../recall/hybrid-search.ts";
import type { IndexedText } from "../search-index/vector-store.ts";
import { Conversations } from "../threads/conversations.ts";
import { ThreadListing } from "../threads/thread-listing.ts";
import { MessagePurger } from "../threads/message-purger.ts";
import { ThreadMessages } from "../threads/thread-messages.ts";
import { IngestRunner } from "../ingest/ingest-runner.ts";
import { CitedStatements } from "../ingest/cited-statements.ts";
import { IngestService } from "../ingest/ingest-service.ts";
import { IngestStore } from "../ingest/ingest-store.ts";
import { ModelUsage } from "../ingest/model-usage.ts";
import { NextStep } from "../ingest/next-step.ts";
import { StepOutcomes } from "../ingest/step-outcomes.ts";
import { ProposalMemories } from "../ingest/proposal-memories.ts";
import { Embedding } from "../vectorize/embedding.ts";
import type { Ground } from "./ground.ts";

export type Threads = ReturnType<typeof assembleThreads>;

/** Threads, and the entries that a message may set. */
export function assembleThreads(ground: Ground, ports: Ports) {
  const { stores, sql, erasureEpoch, erasureLog: erasures, entryStore } = ground;
  const purger = new MessagePurger({ ...ground, messages: stores.messages, erasures });
  const { catalogue, unlisted } = ports;
  const listing = new ThreadListing({ ...ground, catalogue, unlisted });
  const conversations = new Conversations({ ...ground, listing, purger });
  erasureEpoch.onRaised(() => listing.rewriteCatalogue());
  const ingestStore = new IngestStore(sql);
  const messages = new ThreadMessages({
    ...ground,
    indexNow: (text) => indexedNow(ports, text),
    messagesChanged: (id) => listing.messagesChanged(id),
    messageDeleted: ({ n }, seq) => ingestStore.forgetMessage(n, seq),
  });
  const entries = new Entries({ ...ground, entries: entryStore, messages });
  return { purger, listing, conversations, messages, ingestStore, entries };
}

export type Memories = ReturnType<typeof assembleMemories>;

export function assembleMemories(ground: Ground, ports: Ports) {
  const { sql, index: searchIndex, table, owner, quota, entryStore } = ground;
  const { loadedLexicon, records, embedder, predicates, auditLog, quarantineMs } = ports;
  const memoryIndex = new MemoryIndex(searchIndex, table, loadedLexicon);
  const log = new IntentLog(sql);
  const due = new DueMemories({ sql, table, log, auditLog, quarantineMs });
  const index = memoryIndex;
  const pending = new PendingWrites({
    ...ground,
    index,
    log,
    due,
    records,
    note: owner,
    entries: entryStore,
  });
  const writes = new DecidedWrites({ ...ground, index }, pending);
  const forgetter = new MemoryForgetter({ ...ground, records, pending });
  const parts = { ...ground, pending, writes, due, forgetter, predicates };
  return {
    memoryIndex,
    pendingWrites: pending,
    memoryWrites: writes,
    dueMemories: due,
    forgetter,
    expiry: new MemoryExpiry(parts),
    review: new Review(parts),
    writer: new MemoryWriter({ ...parts, embedder, similar: new SimilarMemories(searchIndex, table), quota }),
  };
}

export type Recalls = ReturnType<typeof assembleRecall>;

export function assembleRecall(ground: Ground, ports: Ports, { messages }: Pick<Threads, "messages">) {
  const { sql, index, memorySource, stores, recallLog: log } = ground;
  const lexicon = () => wordModelOf(ports);
  const embedding = new Embedding({ ...ground, embedder: ports.embedder, lexicon });
  const recall = new RecallService({
    ...ground,
    log,
    search: new HybridSearch({ index, memories: memorySource, messages, models: ports.recall.models }),
    tables: { memories: memorySource, messages: stores.documents, tombstones: new TombstoneRanges(sql) },
    messages,
    vectorize: ports.vectors,
    lexicon,
    target: () => embedding.target(),
    formerEmbedders: ports.formerEmbedders,
  });
  return { embedding, recall };
}

/** The feed of changes, and the webhook that tells of them. */
export function assembleChanges(
  ground: Ground,
  { webhook, webhookBreaker }: Ports,
  { pendingWrites }: Memories,
) {
  const { removals, table: memories, stores, erasureEpoch, transactions } = ground;
  const changes = new ChangesFeed({
    removals,
    memories,
    threads: stores.threads,
    erasureEpoch,
    firstPending: () => pendingWrites.log.firstVersion(),
  });
  const webhookDelivery = new WebhookDelivery({ ...ground, webhook, breaker: webhookBreaker, feed: changes });
  if (webhook !== null) transactions.onBegin(() => ({ end: () => webhookDelivery.schedule() }));
  return { changes, webhookDelivery };
}

export function assembleIngest(ground: Ground, ports: Ports, rooms: Threads & Memories) {
  const { ingestStore: store, writer, pendingWrites } = rooms;
  const { sql, stores, owner, now } = ground;
  const { embedder, predicates, languageModel } = ports;
  const usage = new ModelUsage({ sql, quota: ports.modelQuota, tenant: ports.tenantModelUsage });
  const proposals = new ProposalMemories({
    embedder,
    predicates,
    lineage: stores.lineage,
    remember: (user, request) => writer.remember(user, request),
    knownAs: (user, candidate) => writer.knownAs(user, candidate),
  });
  const steps = new NextStep({
    store,
    reader: stores.reader,
    lineage: stores.lineage,
    waiting: (id) => pendingWrites.stored(id),
    usage,
    extraction: ports.extraction,
    languageModel,
    now,
  });
  const outcomes = new StepOutcomes({ ...ground, store, steps });
  const ingestRunner = new IngestRunner({
    ...ground,
    store,
    steps,
    outcomes,
    proposals,
    owner: () => owner.get(),
    sleep: ports.sleep,
  });
  return {
    citations: new CitedStatements({ stores, now }),
    ingestRunner,
    ingests: new IngestService({
      ...ground,
      ...rooms,
      store,
      runner: ingestRunner,
      outcomes,
      languageModel,
    }),
  };
}

/** The vector and the word pieces of a text; undefined unless both models are in the isolate's memory. */
function indexedNow({ embedder, loadedLexicon }: Ports, text: string): IndexedText | undefined {
  const lexicon = loadedLexicon();
  const vector = embedder.embedNow?.(text);
  if (lexicon === null || vector === undefined) return undefined;
  return {
    model: embedder.model,
    dimensions: embedder.dimensions,
    vector,
    pieces: distinctPieces(lexicon, text),
  };
}

/** The word model; null if it fails to load, and recall works without it. */
async function wordModelOf({ lexicon }: Ports): Promise<Lexicon | null> {
  try {
    return await lexicon();
  } catch (error) {
    console.error({ message: "word model unavailable", error: String(error) });
    return null;
  }
}
