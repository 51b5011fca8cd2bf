import { and, asc, desc, eq, getTableColumns, gt, sql, type SQL } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { union } from "drizzle-orm/sqlite-core";
import { withDeadline } from "../deadline.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { MemoryFilter, SortKey } from "../../domain/schema/memory-filter.ts";
import { columnsAt, filterConditions, type Moment, unerased, unexpired, visibleAt } from "./memory-filter.ts";
import { rowPieces, upsertRows } from "./memory-rows.ts";
import { zeroedColumns, PERSONAL_COLUMNS } from "./zeroed-columns.ts";
import { withWriteErrors } from "./write-errors.ts";
import { PUT_USER } from "./user-catalogue.ts";
import { memoryWrites, threads } from "./tables.ts";
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
  /** The page begins after this (sort key, id). A corrected memory keeps both. */
  after?: readonly [key: number, id: string];
  limit: number;
};

/** Place of a version in the order of (id, version). */
export type VersionPlace = readonly [id: string, version: number];

export type HistoryPage = { before?: number; limit: number; now?: number };

/** A write that came after a later one, and did nothing. `seq`: of the later write. */
export class OvertakenWrite extends Error {
  override readonly name = "OvertakenWrite";
  readonly seq: number;

  constructor(seq: number) {
    super(`a later write has the number ${seq}`);
    this.seq = seq;
  }
}

/** A write of erased versions, which did nothing. `upTo` and `epoch`: end of the last erasure. */
export class ErasedWrite extends Error {
  override readonly name = "ErasedWrite";
  readonly upTo: number;
  readonly epoch: number;

  constructor({ upTo, epoch }: { upTo: number; epoch: number }) {
    super(`versions up to ${upTo} are erased`);
    this.upTo = upTo;
    this.epoch = epoch;
  }
}

/**
 * The record of memories: the Worker reads it, a user's object writes it. Every method rejects when D1 does not answer. A
 * rejected write may still have happened, and is safe to repeat. After `RefusedWrite`, `OvertakenWrite` or `ErasedWrite`
 * it has not, and never will.
 */
export interface MemoryRecords {
  write(write: MemoryWrite): Promise<void>;
  /** The version of a memory that answers the question. */
  get(owner: UserHash, id: string, moment: Moment): Promise<MemoryRow | undefined>;
  list(owner: UserHash, page: MemoryPage): Promise<MemoryRow[]>;
  /** The versions of a memory before one, newest first; none if expired by `now`. */
  history(owner: UserHash, id: string, page: HistoryPage): Promise<MemoryRow[]>;
  /** All versions of an owner's memories in order, to rebuild an index. */
  all(owner: UserHash, page: { after?: VersionPlace; limit: number }): Promise<MemoryRow[]>;
  /** The same, each with the ordinal of the version that superseded it. */
  exported(owner: UserHash, page: { after?: VersionPlace; limit: number }): Promise<ExportedRow[]>;
  /** The owners of past or present memories and threads, in the order of their hashes. */
  owners(page: { after?: UserHash; limit: number }): Promise<UserHash[]>;
  /** Rejects unless the database answers and its migrations are applied. */
  check(): Promise<void>;
}

/** A slower write counts as failed, and may still happen. */
const WRITE_WITHIN_MS = 10_000;
/** Rows that one statement deletes where all of a user's go. */
const SLICE = 1000;
const BEFORE_ALL: VersionPlace = ["", 0];

// Plain SQL: Drizzle's batch takes no handwritten statement, and takes longer to build these than D1 to run them.
// ?1 is the owner. A write that is not the last one does nothing.

/** Sets ?2 as the owner's last write, unless D1 has a later one. */
const ANNOUNCE = `INSERT INTO memory_writes (user_hash, seq) VALUES (?1, ?2)
  ON CONFLICT (user_hash) DO UPDATE SET seq = ?2 WHERE seq < ?2`;
const LATEST = "SELECT seq FROM memory_writes WHERE user_hash = ?1";
const STATE = "SELECT seq, erased_up_to AS upTo, epoch FROM memory_writes WHERE user_hash = ?1";
/** Rejects the whole write if the first of its versions (?4) is erased. */
const UNERASED = "?4 > (SELECT erased_up_to FROM memory_writes WHERE user_hash = ?1)";
const FORGOTTEN = `WHERE user_hash = ?1 AND (${LATEST}) = ?2 AND id IN (SELECT value FROM json_each(?3)) AND ${UNERASED}`;
const SOME = `WHERE (${LATEST}) = ?2 AND rowid IN (SELECT rowid FROM memories WHERE user_hash = ?1 LIMIT ${SLICE})`;
const OVERWRITE = `UPDATE memories SET ${zeroedColumns(PERSONAL_COLUMNS.memories)}`;
const DELETE = "DELETE FROM memories";
const UPSERT = upsertRows(`(${LATEST}) = ?5 AND ${UNERASED}`);

export class D1MemoryRecords implements MemoryRecords {
  readonly #db: DrizzleD1Database;
  readonly #database: D1Database;

  constructor(database: D1Database) {
    this.#db = drizzle(database);
    this.#database = database;
  }

  async write({ owner, seq, put, forget, newIn }: MemoryWrite): Promise<void> {
    const { hash, id } = owner;
    const prepare = (text: string, ...given: (string | number)[]) =>
      this.#database.prepare(text).bind(...given);
    const first = Math.min(Number.MAX_SAFE_INTEGER, ...put.map(({ version }) => version));
    const statements = [
      prepare(ANNOUNCE, hash, seq),
      prepare(STATE, hash),
      ...(forget.length > 0 ? [OVERWRITE, DELETE] : []).map((remove) =>
        forget === "all"
          ? prepare(`${remove} ${SOME}`, hash, seq)
          : prepare(`${remove} ${FORGOTTEN}`, hash, seq, JSON.stringify(forget), first),
      ),
      ...rowPieces(put).map((piece) => prepare(UPSERT, hash, id, piece, first, seq)),
      ...(newIn === undefined ? [] : [prepare(PUT_USER, hash, id, newIn)]),
    ];
    for (;;) {
      const batch = this.#database.batch<{ seq: number; upTo: number; epoch: number }>(statements);
      const [, states, , deleted] = await withWriteErrors(() => withDeadline(batch, WRITE_WITHIN_MS));
      const state = states?.results[0] ?? { seq, upTo: 0, epoch: 0 };
      if (state.seq !== seq) throw new OvertakenWrite(state.seq);
      if (first <= state.upTo) throw new ErasedWrite(state);
      if (forget !== "all" || (deleted?.meta.changes ?? 0) < SLICE) return;
    }
  }

  async get(owner: UserHash, id: string, moment: Moment): Promise<MemoryRow | undefined> {
    const asked = asStored(owner, moment);
    return this.#db
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
    return this.#db
      .select(columnsAt(asked))
      .from(memories)
      .where(
        and(
          eq(memories.userHash, owner),
          visibleAt(asked),
          ...filterConditions({ ...filter, status: filter.status ?? ["active"] }),
          after && sql`(${key}, ${memories.id}) ${compare} (${after[0]}, ${after[1]})`,
        ),
      )
      .orderBy(direction(key), direction(memories.id))
      .limit(limit);
  }

  async history(
    owner: UserHash,
    id: string,
    { before = Number.MAX_SAFE_INTEGER, limit, now }: HistoryPage,
  ): Promise<MemoryRow[]> {
    return this.#db
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

  async all(
    owner: UserHash,
    { after = BEFORE_ALL, limit }: { after?: VersionPlace; limit: number },
  ): Promise<MemoryRow[]> {
    return this.#db
      .select()
      .from(memories)
      .where(laterOf(owner, after))
      .orderBy(asc(memories.id), asc(memories.version))
      .limit(limit);
  }

  async exported(
    owner: UserHash,
    { after = BEFORE_ALL, limit }: { after?: VersionPlace; limit: number },
  ): Promise<ExportedRow[]> {
    const nth = sql<
      number | null
    >`IIF(${memories.supersededBy} IS NULL, NULL, (SELECT COUNT(*) FROM memories AS other
      WHERE other.user_hash = memories.user_hash AND other.id = memories.id
        AND other.version > ${erasedUpTo(owner)} AND other.version <= memories.superseded_by))`;
    return this.#db
      .select({ ...getTableColumns(memories), supersededByNth: nth })
      .from(memories)
      .where(laterOf(owner, after))
      .orderBy(asc(memories.id), asc(memories.version))
      .limit(limit);
  }

  async owners({ after = "", limit }: { after?: UserHash; limit: number }): Promise<UserHash[]> {
    const rows = await union(
      this.#db
        .select({ owner: memoryWrites.userHash })
        .from(memoryWrites)
        .where(gt(memoryWrites.userHash, after)),
      this.#db.select({ owner: threads.userHash }).from(threads).where(gt(threads.userHash, after)),
    )
      .orderBy(sql`1`)
      .limit(limit);
    return rows.map(({ owner }) => owner);
  }

  async check(): Promise<void> {
    await this.#db.select({ id: memories.id }).from(memories).limit(1);
    await this.#db.select({ seq: memoryWrites.seq }).from(memoryWrites).limit(1);
  }
}

/** The owner's last erased version. D1 may still have rows up to it. */
const erasedUpTo = (owner: UserHash): SQL =>
  sql`COALESCE((SELECT erased_up_to FROM ${memoryWrites} WHERE ${memoryWrites.userHash} = ${owner}), 0)`;

/** The owner's versions after this one. */
const laterOf = (owner: UserHash, [id, version]: VersionPlace): SQL | undefined =>
  and(
    eq(memories.userHash, owner),
    unerased(erasedUpTo(owner)),
    sql`(${memories.id}, ${memories.version}) > (${id}, ${version})`,
  );

/** The question with D1's own state: the last write counts as past, even if the reader's clock is behind; erased versions are hidden. */
const asStored = (owner: UserHash, moment: Moment): Moment => ({
  ...moment,
  erased: erasedUpTo(owner),
  now: sql`(SELECT MAX(${moment.now}, COALESCE((SELECT seq FROM ${memoryWrites} WHERE ${memoryWrites.userHash} = ${owner}), 0)))`,
});
