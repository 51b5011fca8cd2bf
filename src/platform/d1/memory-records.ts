import { and, asc, desc, eq, getTableColumns, sql, type SQL } from "drizzle-orm";
import { withDeadline } from "../deadline.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { MemoryFilter, SortKey } from "../../domain/schema/memory-filter.ts";
import { D1Store } from "./d1-store.ts";
import { columnsAt, filterConditions, type Moment, unerased, unexpired, visibleAt } from "./memory-filter.ts";
import { rowPieces, upsertRows } from "./memory-rows.ts";
import { termConditions, termsOf } from "./memory-terms.ts";
import {
  ANNOUNCE,
  ERASED_UP_TO,
  erasedUpTo,
  LAST_WRITE,
  notBeforeLastWrite,
  WRITE_STATE,
  WRITERS,
} from "./memory-writes.ts";
import { THREAD_OWNERS } from "./thread-catalogue.ts";
import { PUT_USER } from "./user-catalogue.ts";
import { ErasedWrite, OvertakenWrite, withWriteErrors } from "./write-errors.ts";
import { oldRows, removal, SLICE } from "./zeroed-columns.ts";
import { countedByDay, type CreatedOnDay } from "./by-day.ts";
import { memories, type MemoryRow } from "../../domain/memory/table.ts";
import type { ExportedRow } from "../../domain/transfer/memory-lines.ts";

/** One atomic write of an owner's memories. Repeating it changes nothing. */
export type MemoryWrite = {
  owner: { hash: UserHash; id: string };
  /** Grows with each write of this owner. A write that arrives after a later one does nothing. */
  seq: number;
  put: readonly MemoryRow[];
  /** Memories to delete with their history. */
  forget: readonly string[] | "all";
  /** The epoch of a user to add to the catalogue. */
  newIn?: number;
};

export type MemoryPage = {
  filter: MemoryFilter;
  moment: Moment;
  sort: SortKey;
  order: "asc" | "desc";
  /** The page begins after this (sort key, id). A correction keeps the id, and may change the key. */
  after?: readonly [key: number, id: string];
  limit: number;
};

/** Place of a version in the order of (id, version). */
export type VersionPlace = readonly [id: string, version: number];
export type VersionPage = { after?: VersionPlace; limit: number };

export type HistoryPage = { before?: number; limit: number; now?: number };

/** A changed fact keeps the time of its creation, and is counted once. */
const BY_DAY = {
  table: "memories",
  index: "memories_by_age",
  where: "corrected_at IS NULL",
  count: "COUNT(DISTINCT id)",
};

/** Rows of an index that a count of what waits reads at most. */
export const MOST_WAITING = 10_000;
export const WAITING = `SELECT COUNT(*) AS n FROM (SELECT 1 FROM memories INDEXED BY memories_waiting
  WHERE status = 'quarantined' AND corrected_at IS NULL LIMIT ${MOST_WAITING})`;

/** A slower write counts as failed, and may still happen. */
const WRITE_WITHIN_MS = 10_000;
const BEFORE_ALL: VersionPlace = ["", 0];

// Plain SQL: Drizzle's batch takes no handwritten statement, and takes longer to build these than D1 to run them.
// ?1 is the owner. A write that is not the last one does nothing.

/** False if the first version of the write (?4) is erased. `FORGET` and `UPSERT` then change nothing. */
const UNERASED = `?4 > ${ERASED_UP_TO}`;
const LATEST = `${LAST_WRITE} = ?2`;
const IDS = "SELECT value FROM json_each(?3)";
const FORGET = removal("memories", `user_hash = ?1 AND ${LATEST} AND id IN (${IDS}) AND ${UNERASED}`);
const SOME = `SELECT rowid FROM memories WHERE user_hash = ?1 LIMIT ${SLICE}`;
const FORGET_SOME = removal("memories", `${LATEST} AND rowid IN (${SOME})`);
const UPSERT = `INSERT INTO memories ${upsertRows(`${LAST_WRITE} = ?5 AND ${UNERASED}`, "user_hash, id, version", ["terms"])}`;

const OLD = "user_hash = ?1 AND version <= ?2";
/** An erased user's versions: ?1 is the user, ?2 the version of the fence. */
export const OLD_MEMORIES = oldRows("memories", OLD);
/** Selects a slice of the versions up to ?2 of the scope's (?3) memories. Those that name the scope come last. */
export const VERSIONS_OF_SCOPE = `SELECT version FROM memories WHERE ${OLD}
  AND id IN (SELECT id FROM memories WHERE ${OLD} AND scope = ?3) ORDER BY scope IS ?3 LIMIT ${SLICE}`;
/** Removes the versions in ?2, a JSON array. */
export const REMOVE_VERSIONS = removal(
  "memories",
  "user_hash = ?1 AND version IN (SELECT value FROM json_each(?2))",
);
const OWNERS = `${WRITERS} UNION ${THREAD_OWNERS} ORDER BY 1 LIMIT ?2`;

/**
 * The record of memories: the Worker reads it, a user's object writes it. Every method rejects when D1 does not answer. A
 * rejected write may still have happened, and is safe to repeat. After `RefusedWrite`, `OvertakenWrite` or `ErasedWrite`
 * it has not, and never will.
 */
export class D1MemoryRecords extends D1Store {
  async write({ owner, seq, put, forget, newIn }: MemoryWrite): Promise<void> {
    const { hash, id } = owner;
    const first = Math.min(Number.MAX_SAFE_INTEGER, ...put.map(({ version }) => version));
    const statements = [
      this.prepare(ANNOUNCE, hash, seq),
      this.prepare(WRITE_STATE, hash),
      ...(forget === "all"
        ? this.prepareAll(FORGET_SOME, hash, seq)
        : forget.length > 0
          ? this.prepareAll(FORGET, hash, seq, JSON.stringify(forget), first)
          : []),
      ...rowPieces(put, { terms: termsOf }).map((piece) => this.prepare(UPSERT, hash, id, piece, first, seq)),
      ...(newIn === undefined ? [] : [this.prepare(PUT_USER, hash, id, newIn)]),
    ];
    for (;;) {
      const batch = this.database.batch<{ seq: number; upTo: number; epoch: number }>(statements);
      const [, states, , deleted] = await withWriteErrors(() => withDeadline(batch, WRITE_WITHIN_MS));
      const state = states?.results[0] ?? { seq, upTo: 0, epoch: 0 };
      if (state.seq !== seq) throw new OvertakenWrite(state.seq);
      if (first <= state.upTo) throw new ErasedWrite(state);
      if (forget !== "all" || (deleted?.meta.changes ?? 0) < SLICE) return;
    }
  }

  /** The version of a memory that answers the question. */
  async get(owner: UserHash, id: string, moment: Moment): Promise<MemoryRow | undefined> {
    const asked = asStored(owner, moment);
    return this.db
      .select(columnsAt(asked))
      .from(memories)
      .where(and(eq(memories.userHash, owner), eq(memories.id, id), visibleAt(asked)))
      .get();
  }

  async list(
    owner: UserHash,
    { filter, moment, sort, order, after, limit }: MemoryPage,
  ): Promise<MemoryRow[]> {
    // A memory without a score sorts below all others.
    const key =
      sort === "score" || sort === "importance" ? sql`COALESCE(${memories[sort]}, -1)` : memories[sort];
    const asked = asStored(owner, moment);
    const compare = order === "asc" ? sql`>` : sql`<`;
    const direction = order === "asc" ? asc : desc;
    // SQLite evaluates the index's columns first, subqueries last, and each of these in the order of the text.
    return this.db
      .select(columnsAt(asked))
      .from(memories)
      .where(
        and(
          eq(memories.userHash, owner),
          sort !== "createdAt" && filter.createdAtMin === undefined ? BY_AGE : undefined,
          ...termConditions(filter),
          ...filterConditions({ ...filter, status: filter.status ?? ["active"] }),
          visibleAt(asked),
          after && sql`(${key}, ${memories.id}) ${compare} (${after[0]}, ${after[1]})`,
        ),
      )
      .orderBy(direction(key), direction(memories.id))
      .limit(limit);
  }

  /** The versions of a memory before one, newest first; none if expired by `now`. */
  async history(
    owner: UserHash,
    id: string,
    { before = Number.MAX_SAFE_INTEGER, limit, now }: HistoryPage,
  ): Promise<MemoryRow[]> {
    return this.db
      .select()
      .from(memories)
      .where(
        and(
          eq(memories.userHash, owner),
          eq(memories.id, id),
          sql`${memories.version} < ${before}`,
          unerased(erasedUpTo(owner)),
          now === undefined ? undefined : unexpired(now, erasedUpTo(owner)),
        ),
      )
      .orderBy(desc(memories.version))
      .limit(limit);
  }

  /** All versions of an owner's memories in order, to rebuild an index. */
  async all(owner: UserHash, { after = BEFORE_ALL, limit }: VersionPage): Promise<MemoryRow[]> {
    return this.db
      .select()
      .from(memories)
      .where(laterOf(owner, after))
      .orderBy(asc(memories.id), asc(memories.version))
      .limit(limit);
  }

  /** The same, each with the ordinal of the version that superseded it. */
  async exported(owner: UserHash, { after = BEFORE_ALL, limit }: VersionPage): Promise<ExportedRow[]> {
    const nth = sql<
      number | null
    >`IIF(${memories.supersededBy} IS NULL, NULL, (SELECT COUNT(*) FROM memories AS other
      WHERE other.user_hash = memories.user_hash AND other.id = memories.id
        AND other.version > ${erasedUpTo(owner)} AND other.version <= memories.superseded_by))`;
    return this.db
      .select({ ...getTableColumns(memories), supersededByNth: nth })
      .from(memories)
      .where(laterOf(owner, after))
      .orderBy(asc(memories.id), asc(memories.version))
      .limit(limit);
  }

  /** The owners of past or present memories and threads, in the order of their hashes. */
  async owners({ after = "", limit }: { after?: UserHash; limit: number }): Promise<UserHash[]> {
    return (await this.rows<{ owner: UserHash }>(OWNERS, after, limit)).map(({ owner }) => owner);
  }

  /**
   * Counts the tenant's memories by the day of their creation, from a time on; older ones in the day before that. Reads the index
   * of all.
   */
  async createdByDay(from: number): Promise<CreatedOnDay[]> {
    return countedByDay(this.database, BY_DAY, from);
  }

  /** Counts the memories in quarantine, up to `MOST_WAITING`. */
  async waiting(): Promise<number> {
    return (await this.row<{ n: number }>(WAITING))?.n ?? 0;
  }

  /** Rejects unless the database answers and its migrations are applied. */
  async check(): Promise<void> {
    await this.db.select({ id: memories.id }).from(memories).limit(1);
    await this.run(WRITE_STATE, "");
  }
}

export type MemoryRecords = Pick<D1MemoryRecords, keyof D1MemoryRecords>;

/**
 * Holds for all. A bound makes SQLite choose the index by age for another order too: only this index has the terms. Of two
 * lower bounds, SQLite uses the first.
 */
const BY_AGE = sql`${memories.createdAt} >= -8640000000000000`;

/** The owner's versions after this one. */
const laterOf = (owner: UserHash, [id, version]: VersionPlace): SQL | undefined =>
  and(
    eq(memories.userHash, owner),
    unerased(erasedUpTo(owner)),
    sql`(${memories.id}, ${memories.version}) > (${id}, ${version})`,
  );

/**
 * The question with D1's own state: the last write counts as past, and erased versions are hidden. A quarantined memory waits
 * for review whatever its time of validity, unless the question names one.
 */
const asStored = (owner: UserHash, moment: Moment): Moment => ({
  ...moment,
  reviewed: moment.validAt === undefined,
  erased: erasedUpTo(owner),
  now: notBeforeLastWrite(owner, moment.now),
});
