import type { MessagePurger } from "../threads/message-purger.ts";
import type { ReceiptKey } from "../../../src/platform/receipt-key.ts";
import type { ErasureRecords } from "../../../src/platform/d1/erasure-records.ts";
import type { Migration } from "../../storage/migrate.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { IngestStore } from "../ingest/ingest-store.ts";
import type { ErasureLog } from "./erasure-log.ts";
import type { ErasureFence } from "./erasure-fence.ts";
import type { FreePages } from "../core/free-pages.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { ThreadStore } from "../threads/thread-store.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import type { MemoryWriter } from "../memories/memory-writer.ts";
import type { RecallLog } from "../usage/recall-log.ts";
import type { OwnerRecord } from "../core/owner-record.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { Transactions } from "../core/transactions.ts";
import type { WordMerger } from "../search-index/word-merger.ts";

/** The parts of the object that an erasure empties, or asks. */
export type EraserDependencies = {
  sql: SqlStorage;
  storage: DurableObjectStorage;
  /** Makes the tables of a new storage. */
  migrations: readonly Migration[];
  transactions: Transactions;
  erasureEpoch: ErasureEpoch;
  table: MemoryTable;
  index: SearchIndex;
  vectors: VectorSync;
  writer: MemoryWriter;
  conversations: Conversations;
  ingests: IngestStore;
  recallLog: Pick<RecallLog, "erased">;
  threads: Pick<ThreadStore, "noteErasure" | "erased">;
  purger: MessagePurger;
  words: WordMerger;
  pages: FreePages;
  owner: OwnerRecord;
  log: ErasureLog;
  fence: ErasureFence;
  records: ErasureRecords;
  receipts: ReceiptKey;
  /** Stops the object without what was written since the last `await`. */
  abort: () => void;
  alarms: AlarmScheduler;
  now: () => number;
};
