import { and, asc, desc, eq, getTableColumns, gt, sql, type SQL } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import { union } from "drizzle-orm/sqlite-core";
import { withDeadline } from "../deadline.ts";
import type { UserHash } from "../../domain/ids.ts";
import type { MemoryFilter, SortKey } from "../../domain/schema/memory-filter.ts";
import { columnsAt, filterConditions, type Moment, unerased, unexpired, visibleAt } from "./memory-filter.ts";
import { rowPieces, upsertRows } from "./memory-rows.ts";
import { overwritten, SAID } from "./overwrite.ts";
import { refusable } from "./refused.ts";
import { PUT_USER } from "./user-catalogue.ts";
import { memoryWrites, threads } from "./tables.ts";
import { memories, type MemoryRow } from "../../domain/memory/table.ts";
import type { ExportedRow } from "../../domain/transfer/memory-lines.ts";

/** One step of an owner's memories: all of it or nothing. Doing it twice is the same as once. */
export type MemoryWrite = {
  owner: { hash: UserHash; id: string };
  /** Grows with every write of this owner; a write that arrives after a later one does nothing. */
  seq: number;
  put: readonly MemoryRow[];
  /** Memories to delete, each with its history. */
  forget: readonly string[] | "all";
  /** The catalogue may not know the user yet, who was erased so often. */
  newIn?: number;
};

export type MemoryPage = {
  filter: MemoryFilter;
  moment: Moment;
  sort: SortKey;
  order: "asc" | "desc";
  /** The (sort key, id) after which the page begins. A memory that is corrected meanwhile keeps both. */
  after?: readonly [key: number, id: string];
  limit: number;
};

/** A version of a memory, where all of an owner's are read in the order of (id, version). */
export type VersionPlace = readonly [id: string, version: number];

export type HistoryPage = { before?: number; limit: number; now?: number };

/** A write that came after a later one, and did nothing. `seq` is the later one's. */
export class OvertakenWrite extends Error {
  override readonly name = "OvertakenWrite";
  readonly seq: number;

  constructor(seq: number) {
    super(`a later write has the number ${seq}`);
    this.seq = seq;
  }
}

/** A write of versions that were erased, and did nothing. `upTo` and `epoch` say where the last erasure ends. */
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
 * The record of memories: the port that the Worker reads and a user's object writes. Every method rejects when
 * D1 does not answer. A write that rejected may still have happened, and is safe to repeat,
 * unless it rejected with `RefusedWrite`, `OvertakenWrite` or `ErasedWrite`: then it did nothing, and never will.
 */
export interface MemoryRecords {
  write(write: MemoryWrite): Promise<void>;
  /** The version of a memory that is visible at the moment. */
  get(owner: UserHash, id: string, moment: Moment): Promise<MemoryRow | undefined>;
  list(owner: UserHash, page: MemoryPage): Promise<MemoryRow[]>;
  /** All versions of a memory, the newest first, from before a version on; none if it has expired by `now`. */
  history(owner: UserHash, id: string, page: HistoryPage): Promise<MemoryRow[]>;
  /** All versions of all memories of an owner in their order: what an index is rebuilt from. */
  all(owner: UserHash, page: { after?: VersionPlace; limit: number }): Promise<MemoryRow[]>;
  /** The same, each with which version of its memory it was superseded by: the first, the second, or none. */
  exported(owner: UserHash, page: { after?: VersionPlace; limit: number }): Promise<ExportedRow[]>;
  /** The owners that have or had memories or threads, in the order of their hashes. */
  owners(page: { after?: UserHash; limit: number }): Promise<UserHash[]>;
  /** Rejects unless the database is there and its migrations are applied. */
  check(): Promise<void>;
}

/** A write that takes longer counts as failed, and may still happen. */
const WRITE_WITHIN_MS = 10_000;
/** Rows that one statement deletes of all of a user's. */
const SLICE = 1000;
const BEFORE_ALL: VersionPlace = ["", 0];

// Plain text, since Drizzle's batch takes no statement that is written by hand, and to build these takes it longer than
// D1 takes to run them. ?1 is the owner, and a write that is not the last one does nothing.

/** Notes that ?2 is the owner's last write, unless a later one is known. */
const ANNOUNCE = `INSERT INTO memory_writes (user_hash, seq) VALUES (?1, ?2)
  ON CONFLICT (user_hash) DO UPDATE SET seq = ?2 WHERE seq < ?2`;
const LATEST = "SELECT seq FROM memory_writes WHERE user_hash = ?1";
const STATE = "SELECT seq, erased_up_to AS upTo, epoch FROM memory_writes WHERE user_hash = ?1";
/** All or nothing: no part of a write is done if the first of its versions (?4) was erased. */
const UNERASED = "?4 > (SELECT erased_up_to FROM memory_writes WHERE user_hash = ?1)";
const FORGOTTEN = `WHERE user_hash = ?1 AND (${LATEST}) = ?2 AND id IN (SELECT value FROM json_each(?3)) AND ${UNERASED}`;
const SOME = `WHERE (${LATEST}) = ?2 AND rowid IN (SELECT rowid FROM memories WHERE user_hash = ?1 LIMIT ${SLICE})`;
const OVERWRITE = `UPDATE memories SET ${overwritten(SAID.memories)}`;
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
      const [, states, , deleted] = await refusable(() => withDeadline(batch, WRITE_WITHIN_MS));
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
    // What has no score comes with the least.
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

/** Up to which version of this owner's all is erased, though some may still be there. */
const erasedUpTo = (owner: UserHash): SQL =>
  sql`COALESCE((SELECT erased_up_to FROM ${memoryWrites} WHERE ${memoryWrites.userHash} = ${owner}), 0)`;

/** What comes behind this version, of all that the owner has. */
const laterOf = (owner: UserHash, [id, version]: VersionPlace): SQL | undefined =>
  and(
    eq(memories.userHash, owner),
    unerased(erasedUpTo(owner)),
    sql`(${memories.id}, ${memories.version}) > (${id}, ${version})`,
  );

/**
 * A reader's clock may be behind the clock of the object that wrote last: what it wrote is visible all the same. What was
 * erased is not, from the moment on in which the erasure is known.
 */
const asStored = (owner: UserHash, moment: Moment): Moment => ({
  ...moment,
  erased: erasedUpTo(owner),
  now: sql`(SELECT MAX(${moment.now}, COALESCE((SELECT seq FROM ${memoryWrites} WHERE ${memoryWrites.userHash} = ${owner}), 0)))`,
});
