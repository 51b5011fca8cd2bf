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
import { chosenFrom, toSqlCondition } from "../core/sql-condition.ts";
import { SqlStore } from "../core/sql-store.ts";
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

  /** Versions between two numbers, in their order. */
  changedBetween([after, upTo]: readonly [number, number], limit: number): Change[] {
    return this.rows<Change>(
      `SELECT id, version, kind, status, recorded_at AS "recordedAt" FROM memories
       WHERE version > ? AND version <= ? ORDER BY version LIMIT ?`,
      [after, upTo, limit],
    );
  }

  versions(id: string): MemoryRow[] {
    return this.#versionsIn("memories WHERE id = ?", id);
  }

  /** The versions with these numbers, in no order, as known at `asOf`. */
  numbered(versions: readonly number[], { asOf }: Pick<Moment, "asOf"> = {}): MemoryRow[] {
    const numbers = JSON.stringify(versions);
    if (asOf === undefined) return this.#versionsIn(CHOSEN, numbers);
    const { sql, bindings } = toSqlCondition(supersededAsOf(asOf));
    return this.rows<StoredRow>(`SELECT memories.*, ${sql} AS then_superseded_at FROM ${CHOSEN}`, [
      ...bindings,
      numbers,
    ]).map((row) => rowOf({ ...row, superseded_at: row["then_superseded_at"] ?? null }));
  }

  /** The ids of the memories that these versions are of, by version. */
  idsOf(versions: readonly number[]): Map<number, string> {
    const rows = this.rows<VersionId>(`SELECT version, id FROM ${CHOSEN}`, [JSON.stringify(versions)]);
    return new Map(rows.map(({ version, id }) => [version, id]));
  }

  /** Ids of the memories with a version of each of these texts. */
  withTexts(dedupeKeys: readonly string[]): Map<string, string[]> {
    const ids = new Map(dedupeKeys.map((key): [string, string[]] => [key, []]));
    const rows = this.rows<{ key: string; id: string }>(
      `SELECT DISTINCT dedupe_key AS "key", id FROM memories
       WHERE dedupe_key IN (SELECT value FROM json_each(?)) AND corrected_at IS NULL`,
      [JSON.stringify(dedupeKeys)],
    );
    for (const { key, id } of rows) ids.get(key)?.push(id);
    return ids;
  }

  withExternalId(externalId: string): string[] {
    return this.column("SELECT DISTINCT id FROM memories WHERE external_id = ? AND corrected_at IS NULL", [
      externalId,
    ]);
  }

  /** The triples of a subject that may be of one thing, as `thingOf` compares objects. */
  triplesOf(subject: string, thing: string): Triple[] {
    return this.rows(
      `SELECT DISTINCT id, predicate, object FROM memories INDEXED BY memories_by_thing
       WHERE subject_norm = ? AND thing = ? AND corrected_at IS NULL`,
      [subject, beginningOf(thing)],
    );
  }

  /** The versions of a scope's memories up to a number. */
  inScope(scope: string, upTo: number): VersionId[] {
    return this.rows("SELECT id, version FROM memories WHERE scope = ? AND version <= ?", [scope, upTo]);
  }

  /** The number of memories, each with all its versions. Reads all rows. */
  count(): number {
    return this.value("SELECT COUNT(DISTINCT id) FROM memories");
  }

  has(id: string): boolean {
    return this.selects("SELECT 1 FROM memories WHERE id = ? LIMIT 1", [id]);
  }

  /** The memory that has this id, or that one became which waited under it; null if there is none. */
  idOf(id: string): string | null {
    return this.has(id) ? id : this.releasedAs(id);
  }

  /** The memory that one became which waited under this id; null if there is none. */
  releasedAs(id: string): string | null {
    const [became] = this.column<string>(
      `SELECT id FROM memories INDEXED BY memories_by_former_id
       WHERE ${FORMER_ID} IS NOT NULL AND ${FORMER_ID} = ? ORDER BY version DESC LIMIT 1`,
      [id],
    );
    return became ?? null;
  }

  /** Ids of live memories that were created up to a time, in their order, after one. */
  living(after: string, { createdUpTo, now }: { createdUpTo: number; now: number }, limit: number): string[] {
    const { sql, bindings } = toSqlCondition(visibleAt({ now }));
    return this.column(
      `SELECT DISTINCT id FROM memories INDEXED BY memories_by_id
       WHERE id > ? AND created_at <= ? AND status = 'active' AND ${sql} ORDER BY id LIMIT ?`,
      [after, createdUpTo, ...bindings, limit],
    );
  }

  /** Ids of the memories that match, also past and future ones, but no history. */
  matching(filter: MemoryFilter, now: number): string[] {
    const { sql, bindings } = toSqlCondition(and(standing(now), ...filterConditions(filter)));
    return this.column(`SELECT DISTINCT id FROM memories WHERE ${sql} ORDER BY id`, bindings);
  }

  /** Puts versions of memories of the one owner. */
  put(rows: readonly MemoryRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const owner = { hash: first.userHash, id: first.userId };
    for (const piece of rowPieces(rows, OWN_COLUMNS)) this.exec(UPSERT, [owner.hash, owner.id, piece]);
    this.clock.note(owner, {
      version: Math.max(...rows.map(({ version }) => version)),
      // Lost storage has forgotten the last write, and the clock may be behind it.
      at: Math.max(...rows.map(({ recordedAt, correctedAt }) => Math.max(recordedAt, correctedAt ?? 0))),
    });
  }

  /** Keys of the entries that these memories name now. */
  entriesOf(ids: readonly string[] | "all", now: number): string[] {
    const entries = `SELECT DISTINCT ${ENTRY} FROM memories WHERE ${NAMES_ENTRY}`;
    return ids === "all"
      ? this.column(entries, [now])
      : this.column(`${entries} AND ${AMONG_IDS}`, [now, JSON.stringify(ids)]);
  }

  /** These memories, and all others that name the same entries. */
  withSameEntries(ids: readonly string[], now: number): string[] {
    const keys = this.entriesOf(ids, now);
    if (keys.length === 0) return [...ids];
    const others = this.column<string>(
      `SELECT DISTINCT id FROM memories WHERE ${ENTRY} IN (SELECT value FROM json_each(?)) AND ${NAMES_ENTRY}`,
      [JSON.stringify(keys), now],
    );
    return [...new Set([...ids, ...others])];
  }

  /** Removes memories with their history. Returns the numbers of the removed versions. */
  remove(ids: readonly string[]): number[] {
    if (ids.length === 0) return [];
    const zeroed = zeroedColumns([...PERSONAL_COLUMNS.memories, ...Object.keys(OWN_COLUMNS)]);
    this.exec(`UPDATE memories SET ${zeroed} WHERE ${AMONG_IDS}`, [JSON.stringify(ids)]);
    return this.#delete(AMONG_IDS, [JSON.stringify(ids)]);
  }

  /** The numbers that no version has. */
  missing(numbers: readonly number[]): number[] {
    return this.column("SELECT value FROM json_each(?) WHERE value NOT IN (SELECT version FROM memories)", [
      JSON.stringify(numbers),
    ]);
  }

  removeAll(): void {
    this.exec("DELETE FROM memories");
    this.#removals.add("memory", () => this.clock.nextNumber(), { ids: null });
  }

  /** Removes the versions between two places except these. Returns their numbers. */
  removeBetween(after: VersionKey, upTo: VersionKey | null, but: readonly number[]): number[] {
    return this.#delete(
      `(id, version) > (?, ?) AND version NOT IN (SELECT value FROM json_each(?))
       ${upTo === null ? "" : "AND (id, version) <= (?, ?)"}`,
      [...after, JSON.stringify(but), ...(upTo ?? [])],
    );
  }

  /** Deletes versions, and notes the memories that are gone with them. Returns their numbers. */
  #delete(where: string, bindings: readonly (string | number)[]): number[] {
    const rows = this.rows<VersionId>(`DELETE FROM memories WHERE ${where} RETURNING id, version`, bindings);
    const lost = [...new Set(rows.map(({ id }) => id))].filter((id) => !this.has(id));
    if (lost.length > 0) this.#removals.add("memory", () => this.clock.nextNumber(), { ids: lost });
    return rows.map(({ version }) => version);
  }

  #versionsIn(source: string, binding: string): MemoryRow[] {
    const statement = `SELECT memories.* FROM ${source} ORDER BY valid_from, version`;
    return this.rows<StoredRow>(statement, [binding]).map(rowOf);
  }
}

/**
 * The metadata field that names an entry of the same user by its key, so that recall finds the entry. Deleting the memory
 * deletes the entry, and the other memories that name it, in one transaction. Only strings count, in versions that are no
 * history.
 */
const ENTRY_FIELD = "cairnEntry";
/** Key of the entry that a memory names: index `memories_by_entry`. */
const ENTRY = `(metadata ->> '$.${ENTRY_FIELD}')`;
/** A present or future version that names an entry by a string: a past one owns none. The first condition is that of the index. */
const NAMES_ENTRY = `${ENTRY} IS NOT NULL AND json_type(metadata, '$.${ENTRY_FIELD}') = 'text'
  AND corrected_at IS NULL AND (superseded_at IS NULL OR superseded_at > ?)`;

const AMONG_IDS = "id IN (SELECT value FROM json_each(?))";

/** The id under which a released memory waited. Index `memories_by_former_id`. */
const FORMER_ID = "(provenance ->> '$.waitedAs')";

/** The versions with the numbers in a JSON array. */
const CHOSEN = chosenFrom("memories", "version");

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
