import { and, asc, eq, inArray, isNotNull, isNull, lt, min, type SQL, sql } from "drizzle-orm";
import { drizzle, type DrizzleSqliteDODatabase } from "drizzle-orm/durable-sqlite";
import { columnsAt, filterConditions, type Moment, standing } from "../../src/d1/memory-filter.ts";
import { rowPieces, upsertRows } from "../../src/d1/memory-rows.ts";
import { memories, type MemoryRow } from "../../src/d1/tables.ts";
import type { Owner } from "../../src/memory/record.ts";
import type { MemoryFilter } from "../../src/schema/memory-filter.ts";

/** Where a version is in the order of all of an owner's. */
export type VersionKey = readonly [id: string, version: number];

/**
 * The rows that D1 has of this owner's memories, as the object knows them: what a write is decided on, and what a hit
 * of recall shows. Owns the SQL of `memories` and `memory_clock`.
 */
export class MemoryTable {
  readonly #db: DrizzleSqliteDODatabase;
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#db = drizzle(storage);
    this.#sql = storage.sql;
  }

  versions(id: string): MemoryRow[] {
    return this.#rows(eq(memories.id, id));
  }

  /** The versions that hold these numbers, in no order, as they were known at the moment. */
  numbered(versions: readonly number[], moment: Pick<Moment, "asOf"> = {}): MemoryRow[] {
    return this.#db
      .select(columnsAt(moment))
      .from(memories)
      .where(inArray(memories.version, this.#list(versions)))
      .all();
  }

  withText(dedupeKey: string): MemoryRow[] {
    return this.#rows(and(eq(memories.dedupeKey, dedupeKey), isNull(memories.correctedAt)));
  }

  withExternalId(externalId: string): MemoryRow[] {
    return this.#rows(and(eq(memories.externalId, externalId), isNull(memories.correctedAt)));
  }

  /** Whose memories these are or were; null while there never was one. */
  owner(): Owner | null {
    const { owner } = this.#sql.exec<{ owner: string | null }>("SELECT owner FROM memory_clock").one();
    return owner === null ? null : (JSON.parse(owner) as Owner);
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM memories WHERE id = ? LIMIT 1", id).toArray().length > 0;
  }

  /** The memories that a filter means, whose time has come, is over or is to come: all but history. */
  matching(filter: MemoryFilter, now: number): string[] {
    const rows = this.#db
      .selectDistinct({ id: memories.id })
      .from(memories)
      .where(and(standing(now), ...filterConditions(filter)))
      .orderBy(asc(memories.id))
      .all();
    return rows.map(({ id }) => id);
  }

  /** Puts versions of memories, all of this object's one owner. */
  put(rows: readonly MemoryRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const owner = { hash: first.userHash, id: first.userId };
    for (const piece of rowPieces(rows)) this.#db.run(upsertRows(piece, owner, sql`TRUE`));
    const last = Math.max(...rows.map(({ version }) => version));
    this.#sql.exec(
      "UPDATE memory_clock SET last_version = MAX(last_version, ?), owner = ?",
      last,
      JSON.stringify(owner),
    );
  }

  /** Removes memories with their history, and answers the numbers of the versions that are gone. */
  remove(ids: readonly string[]): number[] {
    return this.#sql
      .exec<{ version: number }>(
        "DELETE FROM memories WHERE id IN (SELECT value FROM json_each(?)) RETURNING version",
        JSON.stringify(ids),
      )
      .toArray()
      .map(({ version }) => version);
  }

  /** Those of these numbers that no version has. */
  missing(numbers: readonly number[]): number[] {
    return this.#sql
      .exec<{ n: number }>(
        "SELECT value AS n FROM json_each(?) WHERE value NOT IN (SELECT version FROM memories)",
        JSON.stringify(numbers),
      )
      .toArray()
      .map(({ n }) => n);
  }

  removeAll(): void {
    this.#sql.exec("DELETE FROM memories");
  }

  /** Memories whose time is over, some at a time. */
  expired(now: number, limit: number): string[] {
    const rows = this.#db
      .select({ id: memories.id })
      .from(memories)
      .where(and(expiring, lt(memories.expiresAt, now)))
      .orderBy(asc(memories.expiresAt))
      .limit(limit)
      .all();
    return rows.map(({ id }) => id);
  }

  /** When the next memory expires, or null. */
  nextExpiry(): number | null {
    const row = this.#db
      .select({ at: min(memories.expiresAt) })
      .from(memories)
      .where(expiring)
      .get();
    return row?.at == null ? null : row.at + 1;
  }

  /** Removes the versions between two, (id, version) in order, that are not among these. Answers their numbers. */
  removeBetween(after: VersionKey, upTo: VersionKey | null, but: readonly number[]): number[] {
    const end = upTo === null ? sql`TRUE` : sql`(id, version) <= (${upTo[0]}, ${upTo[1]})`;
    return this.#db
      .delete(memories)
      .where(sql`(id, version) > (${after[0]}, ${after[1]}) AND ${end} AND version NOT IN ${this.#list(but)}`)
      .returning({ version: memories.version })
      .all()
      .map(({ version }) => version);
  }

  /** The number of the last version that there ever was. */
  lastVersion(): number {
    return this.#sql.exec<{ n: number }>("SELECT last_version AS n FROM memory_clock").one().n;
  }

  /** The number of the last write. */
  lastWrite(): number {
    return this.#sql.exec<{ n: number }>("SELECT last_write AS n FROM memory_clock").one().n;
  }

  /** The number of a new write: the time, or more if the last one had that. */
  tick(now: number): number {
    return this.#sql
      .exec<{ n: number }>(
        "UPDATE memory_clock SET last_write = MAX(last_write + 1, ?) RETURNING last_write AS n",
        now,
      )
      .one().n;
  }

  #rows(where: SQL | undefined): MemoryRow[] {
    return this.#db
      .select()
      .from(memories)
      .where(where)
      .orderBy(asc(memories.validFrom), asc(memories.version))
      .all();
  }

  #list(values: readonly unknown[]): SQL {
    return sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;
  }
}

/** What is or will be true of a memory and has an end: index `memories_by_expiry`. */
const expiring = and(
  isNotNull(memories.expiresAt),
  isNull(memories.correctedAt),
  isNull(memories.supersededAt),
);
