import { fail, invalidField, ok, type Result } from "../../../src/domain/errors.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { RestoreMark, RestorePlace, RestorePreview } from "../../../src/contract/user-memory.ts";
import type { Owner } from "../../../src/domain/memory/record.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { OvertakenWrite } from "../../../src/platform/d1/write-errors.ts";
import type { Ports } from "../../../src/platform/bindings.ts";
import type { Retention } from "../../../src/domain/schema/retention.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { Removals } from "../core/removals.ts";
import type { RetentionStore } from "../core/retention-store.ts";
import type { Transactions } from "../core/transactions.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { PendingWrites } from "../memories/pending-writes.ts";
import type { ThreadListing } from "../threads/thread-listing.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import { lostPositions, lostSince, threadEnds } from "./lost-since.ts";

type RestorerDependencies = Pick<Ports, "records" | "erasures" | "catalogue" | "now"> & {
  storage: DurableObjectStorage;
  sql: SqlStorage;
  stores: Pick<ThreadStores, "threads">;
  table: MemoryTable;
  removals: Removals;
  erasureEpoch: Pick<ErasureEpoch, "current">;
  transactions: Transactions;
  listing: Pick<ThreadListing, "rewriteCatalogue" | "catalogueAgain">;
  pendingWrites: PendingWrites;
  vectors: Pick<VectorSync, "removeVersions" | "copiesMessages">;
  retention: RetentionStore;
  retentionDrive: { set: (rules: { own: Retention }) => unknown };
  alarms: AlarmScheduler;
};

/** The key of the mark of a restore that waits for the next session: the state of then does not have it. */
const MARK = "restore";
/** The key of the last restore that this object has come back from: a late call does not begin it again. */
const ENDED = "restored";
const OVERTAKEN = fail("precondition_failed", { message: "A later restore of this user has begun." });
/** Rows of D1 that one step reads or writes. */
const SLICE = 100;
/** The platform keeps the states of 30 days. */
const KEPT_MS = 30 * 86_400_000;
/** Room for numbers that are used between the look at them and the restart. */
const [NUMBERS, THREADS] = [1_000_000, 1_000];

/**
 * Sets this object back to a time, by the platform's point-in-time recovery, and then lets D1 have what the object has: no memory and no
 * thread of the user is in one of them alone. The Worker drives it, and keeps in D1 how far it is.
 */
export class Restorer {
  readonly #deps: RestorerDependencies;
  /** True if the platform sets the next session back. */
  #setsBack = false;

  constructor(deps: RestorerDependencies) {
    this.#deps = deps;
  }

  /** True if the next session begins with an earlier state: what is erased now would come back. */
  get isArmed(): boolean {
    return this.#setsBack || this.#deps.storage.kv.get(MARK) !== undefined;
  }

  /** True if the next session begins with the earlier state of this restore. */
  waits(token: string): boolean {
    return this.#deps.storage.kv.get(MARK) === token;
  }

  /** Counts all that is lost and that comes back. Fails if there is no state of that time. */
  async preview(at: number): Promise<Result<RestorePreview>> {
    const { sql, removals, table, stores, erasureEpoch, retention, vectors } = this.#deps;
    // The first epoch is the time at which the storage began.
    if (erasureEpoch.current > at) return invalidField("body.at", "is before the user's first write");
    // D1 may have been set back, and not know of it.
    if (removals.erasedSince(at)) return fail("erased_since");
    const bookmark = await this.#bookmarkAt(at);
    if (!bookmark.ok) return bookmark;
    return ok({
      lost: lostSince(sql, at),
      back: { threads: removals.countSince("thread", at), memories: removals.countSince("memory", at) },
      numbers: {
        version: table.clock.lastVersion() + NUMBERS,
        change: stores.threads.lastChange() + NUMBERS,
        thread: stores.threads.lastGiven() + THREADS,
      },
      epoch: erasureEpoch.current,
      own: retention.get()?.own ?? {},
      ...(vectors.copiesMessages && { ends: threadEnds(sql) }),
    });
  }

  /** Lets the next session of the object begin with its state of then. */
  async begin({ at, token, epoch }: RestoreMark): Promise<Result<null>> {
    const { storage, removals, erasureEpoch, now } = this.#deps;
    const bookmark = await this.#bookmarkAt(at);
    if (storage.kv.get(ENDED) === token) return ok(null);
    if (this.#isOvertaken(token)) return OVERTAKEN;
    // Something may be erased since the preview. Later erasures see the mark.
    const { current } = erasureEpoch;
    if (current !== epoch || removals.erasedSince(at)) return fail("erased_since");
    // The preview found that state: while it is kept, the failure passes.
    if (!bookmark.ok) return at < now() - KEPT_MS ? bookmark : fail("storage_unavailable");
    storage.kv.put(MARK, token);
    try {
      await storage.sync();
      if (this.#isOvertaken(token)) return OVERTAKEN;
      await storage.onNextSessionRestoreBookmark(bookmark.value);
    } catch (error) {
      // Another call may have armed it meanwhile.
      if (!this.#setsBack) storage.kv.delete(MARK);
      throw error;
    }
    this.#setsBack = true;
    // A call that failed beside this one may have deleted it.
    if (!this.#isOvertaken(token)) storage.kv.put(MARK, token);
    return ok(null);
  }

  /** One step after the restart. Returns the next one, or null after the last; `begin` if the object is not set back yet. */
  async step(owner: UserHash, mark: RestoreMark, place: RestorePlace): Promise<Result<RestorePlace | null>> {
    if (this.waits(mark.token)) return ok({ part: "begin" });
    if (this.#isOvertaken(mark.token)) return OVERTAKEN;
    // A call of a former restore armed this session, which knew of no later one.
    if (this.#setsBack) {
      const begun = await this.begin(mark);
      return begun.ok ? ok({ part: "begin" }) : begun;
    }
    switch (place.part) {
      case "begin":
        this.#comeBack(mark);
        return ok({ part: "record", after: ["", 0] });
      case "record":
        return this.#removeLater(owner, place.after);
      case "put":
        return this.#put(place.after);
      default:
        return this.#unlist(owner, place.after);
    }
  }

  /**
   * True if a later restore was begun: a late call of this one would set back what was written since. Tokens sort by their time. A mark
   * in the state of then is older than the restore that came back to it.
   */
  #isOvertaken(token: string): boolean {
    const { kv } = this.#deps.storage;
    return [MARK, ENDED].some((key) => (kv.get<string>(key) ?? "") > token);
  }

  async #bookmarkAt(at: number): Promise<Result<string>> {
    try {
      return ok(await this.#deps.storage.getBookmarkForTime(at));
    } catch (error) {
      console.error({ message: "there is no earlier state of an object", error: String(error) });
      return fail("restore_unavailable");
    }
  }

  /**
   * Numbers that were used since are not used again: readers of changes begin anew, and Vectorize may hold them. The rules of retention
   * are those of now.
   */
  #comeBack({ token, own, ends = [], numbers: { version, change, thread } }: RestoreMark): void {
    const { storage, transactions, table, removals, stores, listing, ...deps } = this.#deps;
    if (storage.kv.get(ENDED) === token) return;
    transactions.atomically(() => {
      storage.kv.put(ENDED, token);
      // The state of then may have that of a former restore.
      storage.kv.delete(MARK);
      table.clock.reach(version);
      removals.skipTo("memory", version);
      removals.skipTo("thread", change);
      stores.threads.skipTo({ change, thread });
      // Vectorize has the vectors of what is lost, and no row here names them.
      deps.vectors.removeVersions(lostPositions(deps.sql, ends));
      // The alarm asks for the tenant's.
      if (deps.retention.get() !== null) deps.retention.set({ tenant: null });
      deps.retentionDrive.set({ own });
    });
    deps.alarms.scheduleBy(deps.now());
    listing.rewriteCatalogue();
  }

  /** Removes from D1 what the object does not have. */
  async #removeLater(owner: UserHash, after: readonly [string, number]): Promise<Result<RestorePlace>> {
    const { records, erasures, table, vectors } = this.#deps;
    const rows = await records.all(owner, { after, limit: SLICE });
    return this.#between(async () => {
      const here = new Map(
        table.numbered(rows.map((row) => row.version)).map((row) => [row.version, row.id]),
      );
      const gone = rows.filter(({ id, version }) => here.get(version) !== id).map(({ version }) => version);
      // Before D1 forgets them: whoever dies in between comes again.
      vectors.removeVersions(gone);
      if (gone.length > 0) await erasures.eraseVersions(owner, gone);
      const last = rows.length < SLICE ? undefined : rows.at(-1);
      return last === undefined
        ? { part: "put", after: 0 }
        : { part: "record", after: [last.id, last.version] };
    });
  }

  /** Puts into D1 what the object has. */
  async #put(after: number): Promise<Result<RestorePlace>> {
    const { table } = this.#deps;
    return this.#between(async () => {
      const changed = table.changedBetween([after, Number.MAX_SAFE_INTEGER], SLICE);
      const versions = changed.map(({ version }) => version);
      const last = versions.at(-1);
      const owner = table.clock.owner();
      if (last === undefined || owner === null) return { part: "threads" };
      await this.#write(owner, table.numbered(versions));
      return versions.length < SLICE ? { part: "threads" } : { part: "put", after: last };
    });
  }

  /** No intent is needed: whoever dies here comes again. */
  async #write(owner: Owner, put: readonly MemoryRow[]): Promise<void> {
    const { table, records, now } = this.#deps;
    try {
      await records.write({ owner, seq: table.clock.tick(now()), put, forget: [] });
    } catch (error) {
      // D1 knows of later writes than the state of then.
      if (error instanceof OvertakenWrite) table.clock.tick(error.seq);
      throw error;
    }
  }

  /** Lets the catalogue drop threads that the object does not have. */
  async #unlist(owner: UserHash, after?: readonly [number, string]): Promise<Result<RestorePlace | null>> {
    const { catalogue, stores, listing } = this.#deps;
    const rows = await catalogue.list({ owner, limit: SLICE, ...(after && { after }) });
    for (const { id } of rows) if (stores.threads.get(id) === null) listing.catalogueAgain(id);
    const last = rows.length < SLICE ? undefined : rows.at(-1);
    return ok(last === undefined ? null : { part: "threads", after: [last.createdAt, last.id] });
  }

  /** Between two writes of memories. Fails if an earlier one is pending. */
  async #between(act: () => Promise<RestorePlace>): Promise<Result<RestorePlace>> {
    let next: RestorePlace | undefined;
    try {
      await this.#deps.pendingWrites.betweenWrites(async () => {
        next = await act();
      });
    } catch (error) {
      console.error({ message: "D1 did not follow a restore", error: String(error) });
    }
    return next === undefined ? fail("storage_unavailable") : ok(next);
  }
}
