import { and } from "drizzle-orm";
import {
  filterConditions,
  type Moment,
  standing,
  supersededAsOf,
  visibleAt,
} from "../../../src/platform/d1/memory-filter.ts";
import { rowOf, rowPieces, type StoredRow, upsertRows } from "../../../src/platform/d1/memory-rows.ts";
import { zeroedColumns, PERSONAL_COLUMNS } from "../../../src/platform/d1/zeroed-columns.ts";
import { thingOf } from "../../../src/domain/memory/opposites.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import { part, raw, SqlPart, SqlStore } from "../../storage/sql.ts";
import { chosenFrom, toSqlCondition } from "../core/sql-condition.ts";
import type { Removals } from "../core/removals.ts";
import { MemoryClock } from "./memory-clock.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** Place of a version in the order of all versions of an owner. */
export type VersionKey = readonly [id: string, version: number];

type VersionId = { id: string; version: number };

/** A subject's fact by its predicate and object, as they are written. */
export type Triple = { id: string; predicate: string; object: string };

/** A version of a memory, as the feed of changes tells it. */
type Change = Pick<MemoryRow, "id" | "version" | "kind" | "status" | "recordedAt">;

/**
 * The object's copy of the rows that D1 has of this owner's memories, as writes decide on it. Writes `memories`; triggers write
 * `memory_tags`. Others read the table for a recall (`MemorySource`) and by its times (`DueMemories`).
 */
export class MemoryTable extends SqlStore {
  readonly #removals: Pick<Removals, "add">;
  readonly clock: MemoryClock;

  constructor(sql: SqlStorage, removals: Pick<Removals, "add">) {
    super(sql);
    this.#removals = removals;
    this.clock = new MemoryClock(sql);
  }

  changedBetween([after, upTo]: readonly [number, number], limit: number): Change[] {
    return this.sql.rows<Change>`
      SELECT id, version, kind, status, recorded_at AS "recordedAt" FROM memories
      WHERE version > ${after} AND version <= ${upTo} ORDER BY version LIMIT ${limit}`;
  }

  versions(id: string): MemoryRow[] {
    return this.#versionsIn(part`memories WHERE id = ${id}`);
  }

  /** The versions with these numbers, in no order, as known at `asOf`. */
  numbered(versions: readonly number[], { asOf }: Pick<Moment, "asOf"> = {}): MemoryRow[] {
    if (asOf === undefined) return this.#versionsIn(chosenFrom("memories", "version", versions));
    const end = toSqlCondition(supersededAsOf(asOf));
    const rows = this.sql.rows<StoredRow>`
      SELECT memories.*, ${end} AS then_superseded_at FROM ${chosenFrom("memories", "version", versions)}`;
    return rows.map((row) => rowOf({ ...row, superseded_at: row["then_superseded_at"] ?? null }));
  }

  /** The ids of the memories that these versions are of, by version. */
  idsOf(versions: readonly number[]): Map<number, string> {
    const rows = this.sql.rows<VersionId>`
      SELECT version, id FROM ${chosenFrom("memories", "version", versions)}`;
    return new Map(rows.map(({ version, id }) => [version, id]));
  }

  /** Ids of the memories with a version of each of these texts. */
  withTexts(dedupeKeys: readonly string[]): Map<string, string[]> {
    const ids = new Map(dedupeKeys.map((key): [string, string[]] => [key, []]));
    const rows = this.sql.rows<{ key: string; id: string }>`
      SELECT DISTINCT dedupe_key AS "key", id FROM memories
      WHERE dedupe_key ${among(dedupeKeys)} AND corrected_at IS NULL`;
    for (const { key, id } of rows) ids.get(key)?.push(id);
    return ids;
  }

  withExternalId(externalId: string): string[] {
    return this.sql.column`
      SELECT DISTINCT id FROM memories WHERE external_id = ${externalId} AND corrected_at IS NULL`;
  }

  /** The triples of a subject that may be of one thing, as `thingOf` compares objects. */
  triplesOf(subject: string, thing: string): Triple[] {
    return this.sql.rows`
      SELECT DISTINCT id, predicate, object FROM memories INDEXED BY memories_by_thing
      WHERE subject_norm = ${subject} AND thing = ${beginningOf(thing)} AND corrected_at IS NULL`;
  }

  /** The versions of a scope's memories up to a number. */
  inScope(scope: string, upTo: number): VersionId[] {
    return this.sql.rows`SELECT id, version FROM memories WHERE scope = ${scope} AND version <= ${upTo}`;
  }

  /** The number of memories, each with all its versions. Reads all rows. */
  count(): number {
    return this.sql.value`SELECT COUNT(DISTINCT id) FROM memories`;
  }

  has(id: string): boolean {
    return this.sql.has`SELECT 1 FROM memories WHERE id = ${id} LIMIT 1`;
  }

  /** The memory that has this id, or that one became which waited under it; null if there is none. */
  idOf(id: string): string | null {
    return this.has(id) ? id : this.releasedAs(id);
  }

  /** The memory that one became which waited under this id; null if there is none. */
  releasedAs(id: string): string | null {
    const [became] = this.sql.column<string>`
      SELECT id FROM memories INDEXED BY memories_by_former_id
      WHERE ${FORMER_ID} IS NOT NULL AND ${FORMER_ID} = ${id} ORDER BY version DESC LIMIT 1`;
    return became ?? null;
  }

  /** Ids of live memories that were created up to a time, in their order, after one. */
  living(after: string, { createdUpTo, now }: { createdUpTo: number; now: number }, limit: number): string[] {
    return this.sql.column`
      SELECT DISTINCT id FROM memories INDEXED BY memories_by_id
      WHERE id > ${after} AND created_at <= ${createdUpTo} AND status = 'active'
        AND ${toSqlCondition(visibleAt({ now }))} ORDER BY id LIMIT ${limit}`;
  }

  /** Ids of the memories that match, also past and future ones, but no history. */
  matching(filter: MemoryFilter, now: number): string[] {
    const matches = toSqlCondition(and(standing(now), ...filterConditions(filter)));
    return this.sql.column`SELECT DISTINCT id FROM memories WHERE ${matches} ORDER BY id`;
  }

  /** Puts versions of memories of the one owner. */
  put(rows: readonly MemoryRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const owner = { hash: first.userHash, id: first.userId };
    for (const piece of rowPieces(rows, OWN_COLUMNS))
      this.sql.run`${new SqlPart(UPSERT, [owner.hash, owner.id, piece])}`;
    this.clock.note(owner, {
      version: Math.max(...rows.map(({ version }) => version)),
      // Lost storage has forgotten the last write, and the clock may be behind it.
      at: Math.max(...rows.map(({ recordedAt, correctedAt }) => Math.max(recordedAt, correctedAt ?? 0))),
    });
  }

  /** Keys of the entries that these memories name now. */
  entriesOf(ids: readonly string[] | "all", now: number): string[] {
    const where = ids === "all" ? raw("TRUE") : part`id ${among(ids)}`;
    return this.sql.column`SELECT DISTINCT ${ENTRY} FROM memories WHERE ${namesEntry(now)} AND ${where}`;
  }

  /** These memories, and all others that name the same entries. */
  withSameEntries(ids: readonly string[], now: number): string[] {
    const keys = this.entriesOf(ids, now);
    if (keys.length === 0) return [...ids];
    const others = this.sql.column<string>`
      SELECT DISTINCT id FROM memories WHERE ${ENTRY} ${among(keys)} AND ${namesEntry(now)}`;
    return [...new Set([...ids, ...others])];
  }

  /** Removes memories with their history. Returns the numbers of the removed versions. */
  remove(ids: readonly string[]): number[] {
    if (ids.length === 0) return [];
    const zeroed = raw(zeroedColumns([...PERSONAL_COLUMNS.memories, ...Object.keys(OWN_COLUMNS)]));
    this.sql.run`UPDATE memories SET ${zeroed} WHERE id ${among(ids)}`;
    return this.#delete(part`id ${among(ids)}`);
  }

  missing(numbers: readonly number[]): number[] {
    return this.sql.column`
      SELECT value FROM json_each(${JSON.stringify(numbers)})
      WHERE value NOT IN (SELECT version FROM memories)`;
  }

  removeAll(): void {
    this.sql.run`DELETE FROM memories`;
    this.#removals.add("memory", () => this.clock.nextNumber(), { ids: null });
  }

  /** Removes the versions between two places except these. Returns their numbers. */
  removeBetween(after: VersionKey, upTo: VersionKey | null, but: readonly number[]): number[] {
    const end = upTo === null ? raw("TRUE") : part`(id, version) <= (${upTo[0]}, ${upTo[1]})`;
    return this.#delete(
      part`(id, version) > (${after[0]}, ${after[1]}) AND NOT version ${among(but)} AND ${end}`,
    );
  }

  /** Deletes versions, and notes the memories that are gone with them. Returns their numbers. */
  #delete(where: SqlPart): number[] {
    const rows = this.sql.rows<VersionId>`DELETE FROM memories WHERE ${where} RETURNING id, version`;
    const lost = [...new Set(rows.map(({ id }) => id))].filter((id) => !this.has(id));
    if (lost.length > 0) this.#removals.add("memory", () => this.clock.nextNumber(), { ids: lost });
    return rows.map(({ version }) => version);
  }

  #versionsIn(source: SqlPart): MemoryRow[] {
    return this.sql.rows<StoredRow>`SELECT memories.* FROM ${source} ORDER BY valid_from, version`.map(rowOf);
  }
}

const among = (values: readonly (string | number)[]): SqlPart =>
  part`IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;

/**
 * The metadata field that names an entry of the same user by its key, so that recall finds the entry. Deleting the memory
 * deletes the entry, and the other memories that name it, in one transaction. Only strings count, in versions that are no
 * history.
 */
const ENTRY_FIELD = "cairnEntry";
/** Key of the entry that a memory names: index `memories_by_entry`. */
const ENTRY = raw(`(metadata ->> '$.${ENTRY_FIELD}')`);
/** A present or future version that names an entry by a string: a past one owns none. The first condition is that of the index. */
const namesEntry = (now: number): SqlPart => part`${ENTRY} IS NOT NULL
  AND json_type(metadata, ${raw(`'$.${ENTRY_FIELD}'`)}) = 'text'
  AND corrected_at IS NULL AND (superseded_at IS NULL OR superseded_at > ${now})`;

/** The id under which a released memory waited. Index `memories_by_former_id`. */
const FORMER_ID = raw("(provenance ->> '$.waitedAs')");

/** Characters of an object that the index has. */
const THING = 100;
/** Half a pair of surrogates is no text of SQLite. */
const beginningOf = (thing: string): string => thing.slice(0, THING).toWellFormed();
/** The columns that D1 lacks. */
const OWN_COLUMNS = {
  thing: ({ subjectNorm, predicateNorm, object }: MemoryRow): string | null =>
    subjectNorm === null || predicateNorm === null || object === null ? null : beginningOf(thingOf(object)),
};
const UPSERT = `INSERT INTO memories ${upsertRows("TRUE", "version", Object.keys(OWN_COLUMNS))}`;
