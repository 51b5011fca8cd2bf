import { type Failure, fail, type Result, invalidField } from "../../../src/domain/errors.ts";
import { CompactionStore } from "./compaction-store.ts";
import { ThreadForks } from "./thread-forks.ts";
import { HiddenMessages } from "./hidden-messages.ts";
import { Lineage } from "./lineage.ts";
import { MessageDocuments } from "./message-documents.ts";
import { MessageStore } from "./message-store.ts";
import type { Removals } from "../core/removals.ts";
import { SharedMessages } from "./shared-messages.ts";
import { ThreadLists } from "./thread-lists.ts";
import { ThreadReader } from "./thread-reader.ts";
import type { StoredThread } from "./thread-row.ts";
import { ThreadStore } from "./thread-store.ts";
import type { Transactions } from "../core/transactions.ts";
import type { IdempotencyKey } from "../../../src/contract/storage.ts";

/** The stores that threads and what is said in them are made of. */
export class ThreadStores {
  readonly threads: ThreadStore;
  readonly forks: ThreadForks;
  readonly lists: ThreadLists;
  readonly messages: MessageStore;
  readonly documents: MessageDocuments;
  readonly hidden: HiddenMessages;
  readonly compactions: CompactionStore;
  readonly lineage: Lineage;
  readonly shared: SharedMessages;
  readonly reader: ThreadReader;

  constructor(sql: SqlStorage, removals: Removals) {
    this.threads = new ThreadStore(sql, removals);
    this.forks = new ThreadForks(sql);
    this.lists = new ThreadLists(sql);
    this.messages = new MessageStore(sql);
    this.documents = new MessageDocuments(sql);
    this.hidden = new HiddenMessages(sql);
    this.compactions = new CompactionStore(sql);
    this.lineage = new Lineage(this);
    this.shared = new SharedMessages(this);
    this.reader = new ThreadReader(this);
  }
}

/** Acts on a thread in one transaction, once for an idempotency key. The kept answer is deleted with the thread. */
export function changeThread<T>(
  { stores, transactions }: { stores: ThreadStores; transactions: Transactions },
  { id, once }: { id: string; once?: IdempotencyKey | undefined },
  act: (thread: StoredThread) => Result<T>,
): Result<T> {
  return transactions.run(once && { about: id, ...once }, () => {
    const thread = stores.threads.get(id);
    return thread === null ? fail("not_found") : act(thread);
  });
}

/** The failure for a field that should name a message of the thread. */
export const missing = (path: string): Failure => invalidField(path, "is no message of this thread");
