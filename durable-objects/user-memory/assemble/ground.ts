import type { Owner } from "../../../src/domain/memory/record.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import { IdempotencyStore } from "../../storage/idempotency-store.ts";
import { EntryStore } from "../../storage/entry-store.ts";
import { migrate } from "../../storage/migrate.ts";
import { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { Removals } from "../core/removals.ts";
import { FreePages } from "../core/free-pages.ts";
import { ErasureEpoch } from "../core/erasure-epoch.ts";
import { CATALOGUE_WITHIN_MS, OwnerRecord } from "../core/owner-record.ts";
import { RetentionStore } from "../core/retention-store.ts";
import { QuotaGuard } from "../core/quota-guard.ts";
import { Transactions } from "../core/transactions.ts";
import { ErasureFence } from "../erasure/erasure-fence.ts";
import { ErasureLog } from "../erasure/erasure-log.ts";
import { MemoryDocuments } from "../memories/memory-documents.ts";
import { MemoryTable } from "../memories/memory-table.ts";
import { migrations } from "../schema.ts";
import { Documents } from "../search-index/documents.ts";
import { SearchIndex } from "../search-index/search-index.ts";
import { WordIndex } from "../search-index/word-index.ts";
import { WordMerger } from "../search-index/word-merger.ts";
import { LEXICAL } from "../threads/thread-store.ts";
import { ThreadStores } from "../threads/thread-stores.ts";
import { RecallLog } from "../usage/recall-log.ts";
import { UsageStore } from "../usage/usage-store.ts";
import { VectorSync } from "../vectorize/vector-sync.ts";

/** The ground that every room stands on: the object's storage, its stores, the index over them, and transactions. */
export type Ground = ReturnType<typeof assembleGround>;

export function assembleGround(ctx: DurableObjectState, ports: Ports) {
  const core = assembleCore(ctx, ports);
  return { ...core, ...assembleIndex(core, ports) };
}

function assembleCore(ctx: DurableObjectState, ports: Ports) {
  const { storage } = ctx;
  const { sql } = storage;
  const { now } = ports;
  const alarms = new AlarmScheduler(storage);
  const erasureLog = new ErasureLog(sql, alarms);
  const owner = new OwnerRecord(sql);
  const isNew = migrate(storage, migrations);
  const pages = new FreePages(sql);
  const removals = new Removals(sql, now);
  const stores = new ThreadStores(sql, removals);
  const table = new MemoryTable(sql, removals);
  const memorySource = new MemoryDocuments(sql);
  const erasureEpoch = new ErasureEpoch(sql);
  if (isNew) erasureEpoch.begin(now());
  return {
    storage,
    sql,
    now,
    objectId: ctx.id.toString(),
    alarms,
    answers: new IdempotencyStore(ctx),
    pages,
    removals,
    stores,
    table,
    memorySource,
    erasureLog,
    /** Every write of memories asks for it. */
    fence: new ErasureFence(erasureLog, ports.erasures),
    entryStore: new EntryStore(ctx),
    quota: new QuotaGuard({ sql, bounds: ports, pages, threads: stores.threads, memories: table }),
    owner,
    /** Stores who the user is, and when the catalogue of users is to have the row. */
    noteOwner: (user: Owner, write: keyof typeof CATALOGUE_WITHIN_MS) =>
      alarms.scheduleBy(owner.note(user, now() + CATALOGUE_WITHIN_MS[write])),
    retention: new RetentionStore(sql),
    erasureEpoch,
  };
}

/** The vectors of all documents, and the search index over memories and messages. */
function assembleIndex(core: ReturnType<typeof assembleCore>, ports: Ports) {
  const { sql, now, objectId, stores, table, memorySource } = core;
  const vectors = new VectorSync({
    ...core,
    threads: stores.threads,
    vectors: ports.vectors,
    messages: ports.recall.messageIndexing === "vectorize",
    cache: {
      bytes: ports.vectorBytes,
      budget: ports.vectorBudget,
      kernel: ports.kernel,
      owner: objectId,
      now,
    },
  });
  const words = new WordIndex(sql);
  const merger = new WordMerger({ sql, words, alarms: core.alarms, now });
  const documents = new Documents({ memories: memorySource, messages: stores.documents });
  const index = new SearchIndex(sql, {
    documents,
    vectors: vectors.store,
    words,
    merger,
    lexicalThreads: LEXICAL,
  });
  const transactions = new Transactions({ ...core, index });
  const usage = new UsageStore({ sql, memories: table, threads: stores.threads, transactions });
  const recallLog = new RecallLog({ ...core, store: usage, transactions });
  transactions.onBegin(() => recallLog.joins());
  return {
    vectors,
    merger,
    documents,
    index,
    transactions,
    recallLog,
    byMeaning: ports.recall.messageIndexing !== "lexical",
  };
}
