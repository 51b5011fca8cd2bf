import { fail, ok, type Result, invalidField } from "../../../src/domain/errors.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { Quotas } from "../../../src/platform/quotas.ts";
import type { Trust } from "../../../src/domain/schema/provenance.ts";
import type { ImportCounts, ObjectLine } from "../../../src/domain/schema/transfer.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { ThreadListing } from "../threads/thread-listing.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import { positionOf, positionsOf } from "../core/position.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { Transactions } from "../core/transactions.ts";
import type { ImportItem, Imported } from "../../../src/contract/user-memory.ts";

type Of<Type extends ObjectLine["type"]> = ObjectLine & { type: Type };
/** The outcome of a valid line, as in the answer of an import (docs/reference/export.md). */
type Outcome = keyof ImportCounts;

type ImporterDependencies = {
  stores: ThreadStores;
  transactions: Transactions;
  messages: ThreadMessages;
  entryStore: EntryStore;
  quota: QuotaGuard;
  listing: Pick<ThreadListing, "importing">;
  conversations: Pick<Conversations, "imported">;
  erasureEpoch: Pick<ErasureEpoch, "current">;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Delay before the messages of an import are embedded, in milliseconds. */
const EMBED_AFTER_MS = 1_000;
const NO_THREAD = "names a thread that the file has not contained, or that was deleted";
/** The name of each type of line in the counts, null for one that is not counted, and the quotas that it may exceed. */
const LINES = {
  thread: { counted: "threads", grows: ["threads", "bytes"] },
  message: { counted: "messages", grows: ["bytes"] },
  hidden: { counted: null, grows: ["bytes"] },
  compaction: { counted: "compactions", grows: ["bytes"] },
  entry: { counted: "entries", grows: ["entries", "bytes"] },
  threadEnd: { counted: null, grows: [] },
} as const satisfies Record<
  ImportItem["line"]["type"],
  { counted: string | null; grows: readonly (keyof Quotas)[] }
>;

/**
 * Imports the lines of an export. Leaves existing threads unchanged; continues a thread that an unfinished import began, so
 * that an interrupted import can be repeated. Keeps ids and times, which no other write may set.
 */
export class Importer {
  readonly #deps: ImporterDependencies;

  constructor(deps: ImporterDependencies) {
    this.#deps = deps;
  }

  /** One line after another, all in one transaction, up to the first that cannot be taken: none if the user was erased. */
  async take(
    owner: Owner,
    { epoch, items, trust }: { epoch: number; items: readonly ImportItem[]; trust?: Trust },
  ): Promise<Result<Imported>> {
    const { entryStore, erasureEpoch, quota, now } = this.#deps;
    // Expired entries count until they are swept.
    if (quota.bounds("entries") && items.some(({ line }) => line.type === "entry"))
      entryStore.expirySweep.sweepNow(now());
    // Nothing waits between this and the transaction, but for the catalogue: `announceAndBegin` looks again.
    if (epoch !== erasureEpoch.current) return fail("erased_meanwhile");
    const lines = items.flatMap(({ line }) => (line.type === "thread" ? [line] : []));
    return this.#deps.listing.importing(owner, lines, () => ok(this.#takeAll(owner, items, trust)));
  }

  #takeAll(owner: Owner, items: readonly ImportItem[], trust: Trust | undefined): Imported {
    const counts: ImportCounts = { imported: {}, there: {}, expired: {}, leftOut: {} };
    return this.#deps.transactions.atomically(() => {
      for (const [index, item] of items.entries()) {
        const outcome = this.#within(item, () => this.#take(owner, item, trust));
        if (!outcome.ok) return { counts, failed: { index, failure: outcome } };
        const tally = counts[outcome.value];
        const { counted } = LINES[item.line.type];
        if (counted !== null) tally[counted] = (tally[counted] ?? 0) + 1;
      }
      return { counts };
    });
  }

  /** Takes a line within the quotas; earlier lines stay. */
  #within({ line: { type } }: ImportItem, take: () => Result<Outcome>): Result<Outcome> {
    const { transactions, quota } = this.#deps;
    const { grows } = LINES[type];
    if (quota.bounds(...grows)) return transactions.run(undefined, () => quota.withinQuota(grows, take));
    return (grows.length === 0 ? null : quota.storageFailure()) ?? take();
  }

  #take(owner: Owner, item: ImportItem, trust: Trust | undefined): Result<Outcome> {
    const { line } = item;
    const value = "value" in item && item.value !== undefined ? item.value : new Uint8Array();
    const threadIsInImport = "threadIsInImport" in item;
    if (line.type === "thread") return this.#thread(owner, line, threadIsInImport);
    if (line.type === "entry") return this.#entry(line, value);
    const { threads } = this.#deps.stores;
    const thread = threads.any(line.threadId);
    if (line.type === "threadEnd") {
      if (thread !== null) threads.endImport(thread);
      return ok("there");
    }
    if (thread === null) return threadIsInImport ? ok("leftOut") : invalidField("threadId", NO_THREAD);
    // A thread that was there before stays as it is.
    if (!thread.importing) return ok(this.#isThere(thread, line, value) ? "there" : "leftOut");
    if (line.type === "message") return this.#message(thread, line, { body: value, trust });
    return line.type === "hidden" ? this.#hidden(thread, line) : this.#compaction(thread, line, value);
  }

  #isThere(
    thread: StoredThread,
    line: Of<"message"> | Of<"hidden"> | Of<"compaction">,
    value: Uint8Array,
  ): boolean {
    const { messages, compactions } = this.#deps.stores;
    if (line.type === "message") return messages.is(positionOf(thread.n, line.seq), value) === true;
    return line.type === "hidden" || compactions.has(thread, line.id);
  }

  #thread(owner: Owner, line: Of<"thread">, threadIsInImport: boolean): Result<Outcome> {
    const { stores, conversations } = this.#deps;
    const there = stores.threads.any(line.id);
    if (there !== null) return ok(this.#known(there, line));
    const parent = line.parent === undefined ? null : stores.threads.any(line.parent.threadId);
    if (line.parent !== undefined && parent === null)
      return threadIsInImport ? ok("leftOut") : invalidField("parent.threadId", NO_THREAD);
    const forkSeq = line.parent?.seq ?? 0;
    if (forkSeq > line.lastSeq) return invalidField("lastSeq", "is less than what the thread shares");
    // Later messages of the parent are not shared.
    if (parent !== null) stores.threads.reach(parent, forkSeq);
    const speakers = speakersOf(parent, line);
    const thread = stores.threads.restore(line, { parent: parent?.n ?? null, forkSeq, speakers });
    // The shared messages are there; hidden ones follow in lines of their own.
    for (const shared of [...stores.lineage.segments(thread)].slice(1))
      stores.threads.lengthen([thread.n], stores.messages.count(positionsOf(shared)));
    conversations.imported(owner, line.deleted === true ? null : line.id);
    return ok("imported");
  }

  /** A thread that was deleted since, and is kept for its forks only, is left out. */
  #known(thread: StoredThread, line: Of<"thread">): Outcome {
    const { threads } = this.#deps.stores;
    // A later export of it: what it has more would not fit to what is there.
    if (line.lastSeq > thread.lastSeq) threads.endImport(thread);
    return line.deleted !== true && threads.get(thread.id) === null ? "leftOut" : "there";
  }

  #message(
    thread: StoredThread,
    { seq, createdAt, standing }: Of<"message">,
    { body, trust }: { body: Uint8Array; trust: Trust | undefined },
  ): Result<Outcome> {
    const { stores, messages, alarms, now } = this.#deps;
    if (seq <= thread.forkSeq || seq > thread.lastSeq)
      return invalidField("seq", `is not between ${thread.forkSeq + 1} and ${thread.lastSeq}`);
    const position = positionOf(thread.n, seq);
    const same = stores.messages.is(position, body);
    // Another was said here since: the export is a later one than that which began the thread.
    if (same !== null) return ok(same ? "there" : "leftOut");
    // A line without the mark may be of a model, a tool or an import.
    const writer = standing === true ? trust : "import";
    if (messages.restore(thread, seq, { body, createdAt, trust: writer }))
      alarms.scheduleBy(now() + EMBED_AFTER_MS);
    stores.shared.cameBack(position);
    return ok("imported");
  }

  #hidden(thread: StoredThread, { seq }: Of<"hidden">): Result<Outcome> {
    const { messages, hidden, lineage, shared } = this.#deps.stores;
    if (seq > thread.lastSeq) return invalidField("seq", `is more than ${thread.lastSeq}`);
    const owner = lineage.owner(thread, seq);
    const position = positionOf(owner, seq);
    if (hidden.has(thread, position)) return ok("there");
    if (messages.has(position)) {
      shared.hideWithForks(thread, position);
      return ok("imported");
    }
    // It is gone here, for all who shared it.
    if (owner !== thread.n) hidden.add([thread.n], position, "gone");
    return ok("there");
  }

  #compaction(thread: StoredThread, line: Of<"compaction">, summary: Uint8Array): Result<Outcome> {
    const { compactions } = this.#deps.stores;
    const { id, from, to, createdAt } = line;
    if (from > to) return invalidField("from", "is behind `to`");
    if (compactions.has(thread, id)) return ok("there");
    const put = compactions.restore(thread, { id, from, to, createdAt, summary });
    return ok(put ? "imported" : "leftOut");
  }

  #entry(line: Of<"entry">, value: Uint8Array): Result<Outcome> {
    const { entryStore, alarms, now } = this.#deps;
    if (line.expiresAt !== undefined && line.expiresAt < now()) return ok("expired");
    // Its entry came before it, and another value may be there.
    if (!entryStore.names(line.key)) return ok("leftOut");
    if (!entryStore.restore({ ...line, value }, now())) return ok("there");
    if (line.expiresAt !== undefined) alarms.scheduleBy(line.expiresAt + 1);
    return ok("imported");
  }
}

/** The speakers of a thread as it begins. Messages that it shares bring no names any more. */
function speakersOf(parent: StoredThread | null, { owners }: Of<"thread">): StoredThread["speakers"] {
  const known = parent?.speakers ?? null;
  return owners ? { ...(known ?? { names: [], hasUnnamed: false }), owners } : known;
}
