import type { Ports } from "../../../src/platform/bindings.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { Reindex } from "../../../src/domain/schema/reindex.ts";
import type { ThreadListing } from "../threads/thread-listing.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { MemoryIndex } from "../memories/memory-index.ts";
import type { MemoryTable, VersionKey } from "../memories/memory-table.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { PendingWrites } from "../memories/pending-writes.ts";
import type { Transactions } from "../core/transactions.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** Vectorize is to hold the vectors of `embedder`. */
type ReindexerDependencies = Pick<Ports, "records" | "embedder" | "now"> & {
  sql: SqlStorage;
  transactions: Transactions;
  table: MemoryTable;
  memoryIndex: MemoryIndex;
  vectors: VectorSync;
  memorySource: Pick<MemoryDocuments, "documents">;
  pendingWrites: Pick<PendingWrites, "betweenWrites" | "isBeingDeleted">;
  erasureEpoch: Pick<ErasureEpoch, "erasedUpTo">;
  listing: Pick<ThreadListing, "rewriteCatalogue">;
};
type Row = {
  owner: UserHash;
  started_at: number;
  finished_at: number | null;
  after_id: string;
  after_version: number;
  done: number;
  due_at: number | null;
};

/** Versions that one alarm reads of D1: a recall that comes meanwhile waits for them. */
const SLICE = 100;

/**
 * Rebuilds the catalogue from the object's threads, the object's memories and their index from D1, and Vectorize from these.
 * Works in slices between the writes, and recall goes on. Owns the SQL of `reindex`, its progress: an eviction costs a slice.
 */
export class Reindexer {
  readonly #deps: ReindexerDependencies;

  constructor(deps: ReindexerDependencies) {
    this.#deps = deps;
  }

  /** Restarts a reindex that is under way. */
  start(owner: UserHash): void {
    const now = this.#deps.now();
    const { sql } = this.#deps;
    sql.exec("DELETE FROM reindex");
    sql.exec("INSERT INTO reindex (owner, started_at, due_at) VALUES (?, ?, ?)", owner, now, now);
    // D1 may have been set back: it lists each thread that the object has.
    this.#deps.listing.rewriteCatalogue();
  }

  state(): Omit<Reindex, "pending"> {
    const row = this.#row();
    if (row === null) return { status: "none", versions: 0 };
    return {
      status: row.finished_at === null ? "running" : "done",
      versions: row.done,
      startedAt: row.started_at,
      ...(row.finished_at !== null && { finishedAt: row.finished_at }),
    };
  }

  nextDue(): number | null {
    return this.#row()?.due_at ?? null;
  }

  /** One slice: other calls run before the next alarm. Rejects if D1 fails or an earlier write is pending. */
  async run(): Promise<void> {
    const row = this.#row();
    if (row === null || row.due_at === null) return;
    if (!(await this.#deps.pendingWrites.betweenWrites(() => this.#step(row))))
      throw new Error("an earlier write is pending");
  }

  async #step({ owner, started_at: started, after_id: id, after_version: version }: Row): Promise<void> {
    const { sql, transactions, records, now } = this.#deps;
    const after: VersionKey = [id, version];
    const rows = await records.all(owner, { after, limit: SLICE });
    transactions.atomically(() => {
      // Another reindex may have begun meanwhile.
      if (this.#row()?.started_at !== started) return;
      const last = rows.length < SLICE ? undefined : rows.at(-1);
      this.#apply(rows, after, last === undefined ? null : [last.id, last.version]);
      sql.exec(
        "UPDATE reindex SET after_id = ?, after_version = ?, done = done + ?, finished_at = ?, due_at = ?",
        last?.id ?? id,
        last?.version ?? version,
        rows.length,
        last === undefined ? now() : null,
        last === undefined ? null : now(),
      );
    });
  }

  /** Makes what is here between two versions what D1 has there. */
  #apply(rows: readonly MemoryRow[], after: VersionKey, upTo: VersionKey | null): void {
    const { table, memorySource, memoryIndex, vectors, pendingWrites, embedder } = this.#deps;
    // D1's answer may contain memories that were erased or forgotten meanwhile.
    const { erasedUpTo } = this.#deps.erasureEpoch;
    const there = rows.filter(({ id, version }) => version > erasedUpTo && !pendingWrites.isBeingDeleted(id));
    const versions = there.map(({ version }) => version);
    memoryIndex.remove(table.removeBetween(after, upTo, versions));
    const before = new Map(memorySource.documents(versions).map(({ n, text }) => [n, text]));
    table.put(there);
    for (const row of there)
      memoryIndex.rebuild(row, { sameText: before.get(row.version) === embeddedText(row) });
    vectors.putAgain(embedder.model, versions);
    if (upTo === null) memoryIndex.removeOrphans();
  }

  #row(): Row | null {
    const [row] = this.#deps.sql.exec<Row>("SELECT * FROM reindex LIMIT 1").toArray();
    return row ?? null;
  }
}
