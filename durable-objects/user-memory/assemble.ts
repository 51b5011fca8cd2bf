import { distinctPieces, type Lexicon } from "../../src/domain/ranking/lexicon.ts";
import type { UserHash } from "../../src/domain/ids.ts";
import type { Ports } from "../../src/platform/bindings.ts";
import { IdempotencyStore } from "../storage/idempotency-store.ts";
import type { Chore } from "../storage/chores.ts";
import { EntryStore } from "../storage/entry-store.ts";
import { migrate } from "../storage/migrate.ts";
import { AlarmScheduler } from "../storage/alarm-scheduler.ts";
import { ContextService } from "./context/context-service.ts";
import { ContextStore } from "./context/context-store.ts";
import type { OwnerObject } from "./context/shared-owners.ts";
import { ChangesFeed } from "./changes/changes-feed.ts";
import { WebhookDelivery } from "./changes/webhook-delivery.ts";
import { Removals } from "./core/removals.ts";
import { FreePages } from "./core/free-pages.ts";
import { ErasureEpoch } from "./core/erasure-epoch.ts";
import { TombstoneRanges } from "./core/tombstone-ranges.ts";
import { OwnerRecord } from "./core/owner-record.ts";
import { QuotaGuard } from "./core/quota-guard.ts";
import { Transactions } from "./core/transactions.ts";
import { Entries } from "./entries/entries.ts";
import { Eraser } from "./erasure/eraser.ts";
import { ErasureFence } from "./erasure/erasure-fence.ts";
import { ErasureLog } from "./erasure/erasure-log.ts";
import { MemoryIndex } from "./memories/memory-index.ts";
import { MemoryTable } from "./memories/memory-table.ts";
import { SimilarMemories } from "./memories/similar-memories.ts";
import { MemoryWriter } from "./memories/memory-writer.ts";
import { RecallLog } from "./usage/recall-log.ts";
import { UsageStore } from "./usage/usage-store.ts";
import { RecallService } from "./recall/recall-service.ts";
import { HybridSearch } from "./recall/hybrid-search.ts";
import { migrations } from "./schema.ts";
import { Documents } from "./search-index/documents.ts";
import { SearchIndex } from "./search-index/search-index.ts";
import type { IndexedText } from "./search-index/vector-store.ts";
import { WordIndex } from "./search-index/word-index.ts";
import { WordMerger } from "./search-index/word-merger.ts";
import { Conversations } from "./threads/conversations.ts";
import { MessagePurger } from "./threads/message-purger.ts";
import { ThreadMessages } from "./threads/thread-messages.ts";
import { Consolidation } from "./ingest/consolidation.ts";
import { IngestRunner } from "./ingest/ingest-runner.ts";
import { CitedStatements } from "./ingest/cited-statements.ts";
import { IngestService } from "./ingest/ingest-service.ts";
import { IngestStore } from "./ingest/ingest-store.ts";
import { ModelUsage } from "./ingest/model-usage.ts";
import { NextStep } from "./ingest/next-step.ts";
import { SecondLook } from "./ingest/second-look.ts";
import { ProposalMemories } from "./ingest/proposal-memories.ts";
import { LEXICAL } from "./threads/thread-store.ts";
import { ThreadStores } from "./threads/thread-stores.ts";
import { Exporter } from "./transfer/exporter.ts";
import { Importer } from "./transfer/importer.ts";
import { Reindexer } from "./transfer/reindexer.ts";
import { Embedding } from "./vectorize/embedding.ts";
import { VectorSync } from "./vectorize/vector-sync.ts";

export type UserMemoryParts = ReturnType<typeof assemble>;

/** Builds the parts of a user's object from its storage and the ports, from the lowest floor up. */
export function assemble(ctx: DurableObjectState, ports: Ports, objectOf: (owner: UserHash) => OwnerObject) {
  const { storage } = ctx;
  const { sql } = storage;
  const { records, catalogue, unlisted, now } = ports;
  const isNew = migrate(storage, migrations);

  // Core
  const alarms = new AlarmScheduler(storage);
  const answers = new IdempotencyStore(ctx);
  const pages = new FreePages(sql);
  const removals = new Removals(sql, now);
  const stores = new ThreadStores(sql, removals);
  const table = new MemoryTable(sql, removals);
  const quota = new QuotaGuard(sql, ports, { pages, threads: stores.threads, memories: table });
  const owner = new OwnerRecord(sql);
  const erasureEpoch = new ErasureEpoch(sql);
  if (isNew) erasureEpoch.begin(now());

  // Vectors, and the search index over memories and messages
  const vectors = new VectorSync({
    sql,
    table,
    threads: stores.threads,
    alarms,
    vectors: ports.vectors,
    messages: ports.recall.messageIndexing === "vectorize",
    cache: { bytes: ports.vectorBytes, budget: ports.vectorBudget, owner: ctx.id.toString(), now },
    now,
  });
  const words = new WordIndex(sql);
  const merger = new WordMerger({ sql, words, alarms, now });
  const documents = new Documents({ memories: table, messages: stores.messages });
  const index = new SearchIndex(sql, {
    documents,
    vectors: vectors.store,
    words,
    merger,
    lexicalThreads: LEXICAL,
  });
  const transactions = new Transactions({ storage, answers, index, alarms, now });
  const byMeaning = ports.recall.messageIndexing !== "lexical";
  const shared = { storage, sql, transactions, index, byMeaning, answers, alarms, quota, now };

  // Erasures under way: every write of memories asks for their fence
  const erasureLog = new ErasureLog(sql);
  const fence = new ErasureFence({ log: erasureLog, records: ports.erasures, alarms });

  // Entries
  const entryStore = new EntryStore(ctx);

  // Threads
  const { messages } = stores;
  const purger = new MessagePurger({ ...shared, messages, erasures: erasureLog });
  const threads = { ...shared, stores };
  const conversations = new Conversations({
    ...threads,
    catalogue,
    unlisted,
    owner,
    erasureEpoch,
    purger,
  });
  erasureEpoch.onRaised(() => conversations.rewriteCatalogue());
  const ingestStore = new IngestStore(sql);
  const threadMessages = new ThreadMessages({
    ...threads,
    indexNow: (text) => indexedNow(ports, text),
    messagesChanged: (id) => conversations.messagesChanged(id),
    messageDeleted: ({ n }, seq) => ingestStore.forgetMessage(n, seq),
  });
  const entries = new Entries({ ...shared, entries: entryStore, messages: threadMessages });

  // Memories
  const memoryIndex = new MemoryIndex(index, table, ports.loadedLexicon);
  const memory = { ...shared, records, table, index: memoryIndex, entries: entryStore, erasureEpoch };
  const writer = new MemoryWriter({
    ...memory,
    note: owner,
    fence,
    embedder: ports.embedder,
    similar: new SimilarMemories(index, table),
    predicates: ports.predicates,
    auditLog: ports.auditLog,
    quarantineMs: ports.quarantineMs,
  });

  // Recall
  const lexicon = () => wordModelOf(ports);
  const embedding = new Embedding({ ...shared, embedder: ports.embedder, lexicon });
  const tables = { memories: table, messages, tombstones: new TombstoneRanges(sql) };
  const recallLog = new RecallLog({
    store: new UsageStore(sql, table),
    table,
    erasureEpoch,
    transactions,
    now,
  });
  transactions.onBegin(() => recallLog.joins());
  const recall = new RecallService({
    ...shared,
    log: recallLog,
    search: new HybridSearch(index, table, ports.recall.models),
    tables,
    table,
    vectors,
    messages: threadMessages,
    vectorize: ports.vectors,
    ownerId: () => owner.id() ?? table.owner()?.id ?? null,
    lexicon,
    target: () => embedding.target(),
    formerEmbedders: ports.formerEmbedders,
  });

  // Changes
  const changes = new ChangesFeed({
    removals,
    memories: table,
    threads: stores.threads,
    erasureEpoch,
    firstPending: () => writer.firstPending(),
  });
  const { webhook } = ports;
  const webhookDelivery = new WebhookDelivery({ sql, webhook, feed: changes, owner, alarms, now });
  if (webhook !== null) transactions.onBegin(() => ({ end: () => webhookDelivery.schedule() }));

  // Export, import and reindex
  const { model } = ports.embedder;
  const reindexer = new Reindexer({ ...memory, vectors, writer, model, conversations });
  const exporter = new Exporter({ stores, entries: entryStore, erasureEpoch, now });
  const importer = new Importer({
    ...threads,
    entries: entryStore,
    messages: threadMessages,
    conversations,
    erasureEpoch,
  });

  // Context
  const contexts = new ContextStore(sql);
  const context = new ContextService({
    store: contexts,
    table,
    documents,
    entries: entryStore,
    stores,
    messages: threadMessages,
    recall,
    log: recallLog,
    transactions,
    conversations,
    erasureEpoch,
    objectOf,
    tokenCounter: ports.tokenCounter,
    now,
  });

  // Ingest
  const citations = new CitedStatements({ stores, now });
  const { languageModel } = ports;
  const proposals = new ProposalMemories({
    embedder: ports.embedder,
    predicates: ports.predicates,
    lineage: stores.lineage,
    remember: (user, request) => writer.remember(user, request),
    knownAs: (user, candidate) => writer.knownAs(user, candidate),
  });
  const usage = new ModelUsage({ sql, quota: ports.modelQuota, tenant: ports.tenantModelUsage });
  const ingestRunner = new IngestRunner({
    store: ingestStore,
    stores,
    steps: new NextStep({
      store: ingestStore,
      reader: stores.reader,
      lineage: stores.lineage,
      waiting: (id) => writer.stored(id),
      usage,
      extraction: ports.extraction,
      secondLook: new SecondLook({ usage, languageModel, now }),
      languageModel,
      now,
    }),
    proposals,
    owner: () => owner.get(),
    transactions,
    alarms,
    now,
    sleep: ports.sleep,
  });
  const ingests = new IngestService({
    store: ingestStore,
    stores,
    conversations,
    messages: threadMessages,
    runner: ingestRunner,
    transactions,
    languageModel,
    alarms,
    now,
  });

  const consolidation = new Consolidation({
    table,
    writer,
    embedder: ports.embedder,
    languageModel,
    usage,
    now,
  });

  // Erasure
  const eraser = new Eraser({
    ...memory,
    index,
    log: erasureLog,
    fence,
    migrations,
    records: ports.erasures,
    receipts: ports.receipts,
    conversations,
    ingests: ingestStore,
    recallLog,
    threads: stores.threads,
    purger,
    words: merger,
    pages,
    owner,
    vectors,
    writer,
    abort: () => ctx.abort("the storage was not made anew"),
  });

  // Chores of the alarm. Each start of the object schedules the resumable ones too.
  const currentModel = () => embedding.target()?.model ?? null;
  const resumable: Record<string, Chore> = {
    memories: writer,
    reindex: reindexer,
    vectors: {
      run: () => vectors.drain(currentModel()),
      nextDue: () => vectors.nextDue(currentModel()),
    },
    messages: purger,
    words: merger,
    erasures: eraser.drive,
    // Last: a receiver may take 15 seconds, and a model longer.
    webhook: webhookDelivery,
    ingests: ingestRunner,
  };
  let morePieces = false;
  const chores: Record<string, Chore> = {
    size: { run: () => pages.note(), nextDue: () => null },
    embedding,
    "word pieces": {
      run: async () => {
        morePieces = await embedding.cut();
      },
      nextDue: (time) => (morePieces ? time : null),
    },
    entries: entryStore.expirySweep,
    answers,
    catalogue: conversations,
    ...resumable,
  };

  return {
    alarms,
    chores,
    resumable,
    owner,
    erasureEpoch,
    vectors,
    index,
    entries,
    conversations,
    messages: threadMessages,
    memoryIndex,
    memories: writer,
    citations,
    embedding,
    recall,
    contexts,
    context,
    ingests,
    consolidation,
    usage: recallLog,
    changes,
    webhookDelivery,
    quota,
    reindexer,
    exporter,
    importer,
    eraser,
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
