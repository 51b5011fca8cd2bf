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
import type { Owner } from "../../../src/domain/memory/record.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import { thingOf } from "../../../src/domain/memory/opposites.ts";
import { normalise } from "../../../src/domain/memory/normalise.ts";
import { memoryKind, type MemoryKind, type MemoryStatus } from "../../../src/domain/schema/memory-fields.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import { chosenFrom, narrowest, toSqlCondition, type SqlCondition } from "../core/sql-condition.ts";
import type { ReviewPlace } from "../../../src/contract/user-memory.ts";
import type { Removals } from "../core/removals.ts";
import type { Document, DocumentSource } from "../search-index/documents.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** Place of a version in the order of all versions of an owner. */
export type VersionKey = readonly [id: string, version: number];

/** A subject's fact by its predicate and object, as they are written. */
export type Triple = { id: string; predicate: string; object: string };

/**
 * The object's copy of the rows that D1 has of this owner's memories. Writes decide on it, and hits of recall show it.
 * Owns the SQL of `memories`, `memory_tags` (which triggers write) and `memory_clock`.
 */
export class MemoryTable implements DocumentSource {
  readonly #sql: SqlStorage;
  readonly #removals: Pick<Removals, "add">;

  constructor(sql: SqlStorage, removals: Pick<Removals, "add">) {
    this.#sql = sql;
    this.#removals = removals;
  }

  /** Versions between two numbers, in their order. */
  changedBetween(
    [after, upTo]: readonly [number, number],
    limit: number,
  ): Pick<MemoryRow, "id" | "version" | "kind" | "status" | "recordedAt">[] {
    return this.#sql
      .exec<Pick<MemoryRow, "id" | "version" | "kind" | "status" | "recordedAt">>(
        `SELECT id, version, kind, status, recorded_at AS "recordedAt" FROM memories
         WHERE version > ? AND version <= ? ORDER BY version LIMIT ?`,
        after,
        upTo,
        limit,
      )
      .toArray();
  }

  /** Uses up the next number of a version, for what is no version. */
  #nextNumber(): number {
    return this.#sql
      .exec<{ n: number }>(
        "UPDATE memory_clock SET last_version = last_version + 1 RETURNING last_version AS n",
      )
      .one().n;
  }

  #noteRemoved(ids: readonly string[]): void {
    const gone = [...new Set(ids)].filter((id) => !this.has(id));
    if (gone.length > 0) this.#removals.add("memory", () => this.#nextNumber(), { ids: gone });
  }

  versions(id: string): MemoryRow[] {
    return this.#rows("memories WHERE id = ?", id);
  }

  /** The versions with these numbers, in no order, as known at `asOf`. */
  numbered(versions: readonly number[], { asOf }: Pick<Moment, "asOf"> = {}): MemoryRow[] {
    const numbers = JSON.stringify(versions);
    if (asOf === undefined) return this.#rows(CHOSEN, numbers);
    const { sql, bindings } = toSqlCondition(supersededAsOf(asOf));
    return this.#sql
      .exec<StoredRow>(`SELECT memories.*, ${sql} AS then_superseded_at FROM ${CHOSEN}`, ...bindings, numbers)
      .toArray()
      .map((row) => rowOf({ ...row, superseded_at: row["then_superseded_at"] ?? null }));
  }

  /** The ids of the memories that these versions are of, by version. */
  idsOf(versions: readonly number[]): Map<number, string> {
    const rows = this.#sql.exec<{ version: number; id: string }>(
      `SELECT version, id FROM ${CHOSEN}`,
      JSON.stringify(versions),
    );
    return new Map(Array.from(rows, ({ version, id }) => [version, id]));
  }

  documents(numbers: readonly number[]): Document[] {
    return this.#documentsOf(CHOSEN, JSON.stringify(numbers));
  }

  newest({ sql, bindings }: SqlCondition, limit: number, offset: number): Document[] {
    return this.#documentsOf(
      `(${IN_TIME} LIMIT -1) AS newest CROSS JOIN memories ON version = number WHERE ${sql} LIMIT ? OFFSET ?`,
      Number.MIN_SAFE_INTEGER,
      Number.MAX_SAFE_INTEGER,
      ...bindings,
      limit,
      offset,
    );
  }

  inTime({ from, to }: { from: number; to: number }, limit: number): number[] {
    return this.#column(`SELECT number FROM (${IN_TIME} LIMIT ?)`, from, to, limit);
  }

  /** Ids of the memories with a version of each of these texts. */
  withTexts(dedupeKeys: readonly string[]): Map<string, string[]> {
    const ids = new Map(dedupeKeys.map((key): [string, string[]] => [key, []]));
    const rows = this.#sql.exec<{ key: string; id: string }>(
      `SELECT DISTINCT dedupe_key AS "key", id FROM memories
       WHERE dedupe_key IN (SELECT value FROM json_each(?)) AND corrected_at IS NULL`,
      JSON.stringify(dedupeKeys),
    );
    for (const { key, id } of rows) ids.get(key)?.push(id);
    return ids;
  }

  withExternalId(externalId: string): string[] {
    return this.#ids("external_id = ?", externalId);
  }

  /** The triples of a subject that may be of one thing, as `thingOf` compares objects. */
  triplesOf(subject: string, thing: string): Triple[] {
    return this.#sql
      .exec<Triple>(
        `SELECT DISTINCT id, predicate, object FROM memories INDEXED BY memories_by_thing
         WHERE subject_norm = ? AND thing = ? AND corrected_at IS NULL`,
        subject,
        beginningOf(thing),
      )
      .toArray();
  }

  /** The owner of the memories; null before the first one. */
  owner(): Owner | null {
    const { owner } = this.#sql.exec<{ owner: string | null }>("SELECT owner FROM memory_clock").one();
    return owner === null ? null : (JSON.parse(owner) as Owner);
  }

  /** Forgets the owner's id. Deletions elsewhere still need the hash. */
  forgetOwner(): void {
    const owner = this.owner();
    if (owner === null) return;
    this.#sql.exec(`UPDATE memory_clock SET ${zeroedColumns(["owner"])}`);
    this.#sql.exec("UPDATE memory_clock SET owner = ?", JSON.stringify({ ...owner, id: "" }));
  }

  /** The versions of a scope's memories up to a number. */
  inScope(scope: string, upTo: number): { id: string; version: number }[] {
    return this.#sql
      .exec<{ id: string; version: number }>(
        "SELECT id, version FROM memories WHERE scope = ? AND version <= ?",
        scope,
        upTo,
      )
      .toArray();
  }

  /** The number of memories, each with all its versions. Reads all rows. */
  count(): number {
    return this.#sql.exec<{ n: number }>("SELECT COUNT(DISTINCT id) AS n FROM memories").one().n;
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM memories WHERE id = ? LIMIT 1", id).toArray().length > 0;
  }

  /** The memory that has this id, or that one became which waited under it; null if there is none. */
  idOf(id: string): string | null {
    return this.has(id) ? id : this.releasedAs(id);
  }

  /** The memory that one became which waited under this id; null if there is none. */
  releasedAs(id: string): string | null {
    const [became] = this.#column<string>(
      `SELECT id FROM memories INDEXED BY memories_by_former_id
       WHERE ${FORMER_ID} IS NOT NULL AND ${FORMER_ID} = ? ORDER BY version DESC LIMIT 1`,
      id,
    );
    return became ?? null;
  }

  /** Ids of live memories that were created up to a time, in their order, after one. */
  living({
    after,
    createdUpTo,
    now,
    limit,
  }: {
    after: string;
    createdUpTo: number;
    now: number;
    limit: number;
  }): string[] {
    const { sql, bindings } = toSqlCondition(visibleAt({ now }));
    return this.#column(
      `SELECT DISTINCT id FROM memories INDEXED BY memories_by_id
       WHERE id > ? AND created_at <= ? AND status = 'active' AND ${sql} ORDER BY id LIMIT ?`,
      after,
      createdUpTo,
      ...bindings,
      limit,
    );
  }

  /** Ids of the memories that match, also past and future ones, but no history. */
  matching(filter: MemoryFilter, now: number): string[] {
    const { sql, bindings } = toSqlCondition(and(standing(now), ...filterConditions(filter)));
    return this.#column(`SELECT DISTINCT id FROM memories WHERE ${sql} ORDER BY id`, ...bindings);
  }

  /** The live episodes from before a time that a model extracted, those that changed least recently first. */
  extractedEpisodes(before: number, limit: number): MemoryRow[] {
    return this.#sql
      .exec<StoredRow>(
        `SELECT * FROM memories INDEXED BY memories_by_kind
         WHERE kind = 'episode' AND created_at < ?1 AND status = 'active' AND corrected_at IS NULL
           AND superseded_at IS NULL AND valid_to IS NULL AND expires_at IS NULL
           AND provenance ->> '$.writtenBy.prompt' LIKE 'extract/%'
         ORDER BY updated_at, version LIMIT ?2`,
        before,
        limit,
      )
      .toArray()
      .map(rowOf);
  }

  /** Ids of the summaries of these episodes. */
  summariesOf(ids: readonly string[]): string[] {
    return this.#column(
      `SELECT DISTINCT ${SUMMARY} FROM memories INDEXED BY memories_by_id
       WHERE id IN (SELECT value FROM json_each(?)) AND ${IS_SUMMARISED}`,
      JSON.stringify(ids),
    );
  }

  /** Ids of the episodes of these summaries. */
  summarisedBy(ids: readonly string[]): string[] {
    return this.#column(
      `SELECT DISTINCT id FROM memories INDEXED BY memories_by_summary
       WHERE ${SUMMARY} IN (SELECT value FROM json_each(?)) AND ${IS_SUMMARISED}`,
      JSON.stringify(ids),
    );
  }

  /** Ids of the episodes whose summary is gone. */
  withoutSummary(limit: number): string[] {
    return this.#column(
      `SELECT DISTINCT id FROM memories INDEXED BY memories_by_summary
       WHERE ${IS_SUMMARISED} AND ${SUMMARY} NOT IN (SELECT id FROM memories) LIMIT ?`,
      limit,
    );
  }

  /** Puts versions of memories of the one owner. */
  put(rows: readonly MemoryRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    const owner = { hash: first.userHash, id: first.userId };
    for (const piece of rowPieces(rows, OWN_COLUMNS)) this.#sql.exec(UPSERT, owner.hash, owner.id, piece);
    this.reach(Math.max(...rows.map(({ version }) => version)));
    this.#sql.exec(
      `UPDATE memory_clock SET owner = ?1, last_write = MAX(last_write, ?2)
       WHERE owner IS NOT ?1 OR last_write < ?2`,
      JSON.stringify(owner),
      // Lost storage has forgotten the last write, and the clock may be behind it.
      Math.max(...rows.map(({ recordedAt, correctedAt }) => Math.max(recordedAt, correctedAt ?? 0))),
    );
  }

  /** Keys of the entries that these memories name now. */
  entriesOf(ids: readonly string[] | "all", now: number): string[] {
    const entries = `SELECT DISTINCT ${ENTRY} FROM memories WHERE ${NAMES_ENTRY}`;
    return ids === "all"
      ? this.#column(entries, now)
      : this.#column(`${entries} AND id IN (SELECT value FROM json_each(?))`, now, JSON.stringify(ids));
  }

  /** These memories, and all others that name the same entries. */
  withSameEntries(ids: readonly string[], now: number): string[] {
    const keys = this.entriesOf(ids, now);
    if (keys.length === 0) return [...ids];
    const others = this.#column<string>(
      `SELECT DISTINCT id FROM memories WHERE ${ENTRY} IN (SELECT value FROM json_each(?)) AND ${NAMES_ENTRY}`,
      JSON.stringify(keys),
      now,
    );
    return [...new Set([...ids, ...others])];
  }

  /** Removes memories with their history. Returns the numbers of the removed versions. */
  remove(ids: readonly string[]): number[] {
    if (ids.length === 0) return [];
    this.#sql.exec(
      `UPDATE memories SET ${zeroedColumns([...PERSONAL_COLUMNS.memories, ...Object.keys(OWN_COLUMNS)])} WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(ids),
    );
    const gone = this.#sql
      .exec<{ id: string; version: number }>(
        "DELETE FROM memories WHERE id IN (SELECT value FROM json_each(?)) RETURNING id, version",
        JSON.stringify(ids),
      )
      .toArray();
    this.#noteRemoved(gone.map(({ id }) => id));
    return gone.map(({ version }) => version);
  }

  /** The versions that meet a condition over the columns of `memories`. Looks at each. */
  where({ sql, bindings }: SqlCondition): number[] {
    return this.#column(`SELECT version FROM memories WHERE ${sql}`, ...bindings);
  }

  /** Returns the versions among these that meet a condition. */
  among(numbers: readonly number[], { sql, bindings }: SqlCondition): number[] {
    if (numbers.length === 0) return [];
    return this.#column(`SELECT version FROM ${CHOSEN} WHERE ${sql}`, JSON.stringify(numbers), ...bindings);
  }

  /** The versions that meet a filter and a condition, if an index tells that at most `most` meet the filter; null otherwise. */
  few(filter: MemoryFilter, { sql, bindings }: SqlCondition, most: number): number[] | null {
    const narrow = narrowest(this.#sql, indexed(filter), most);
    return (
      narrow &&
      this.#column(
        `SELECT DISTINCT memories.version FROM (${narrow.sql}) AS narrow
         CROSS JOIN memories ON memories.version = narrow.version WHERE ${sql}`,
        ...narrow.bindings,
        ...bindings,
      )
    );
  }

  /** The versions of a kind that meet a condition: the most important and the newest, `limit` of each at most. */
  leading(kind: MemoryKind, { sql, bindings }: SqlCondition, limit: number): number[] {
    const select = (index: string, where: string, order: string) =>
      this.#column<number>(
        `SELECT version FROM memories INDEXED BY ${index} WHERE kind = ? AND ${where} AND ${sql}
         ORDER BY ${order} DESC, version DESC LIMIT ?`,
        kind,
        ...bindings,
        limit,
      );
    return [
      ...new Set([
        ...select("memories_important", IMPORTANT, "importance"),
        ...select("memories_by_kind", "TRUE", "updated_at"),
      ]),
    ];
  }

  /** Returns the versions among these that were corrected, or are not true any more. */
  ended(versions: readonly number[], now: number): number[] {
    if (versions.length === 0) return [];
    return this.#column(
      `SELECT version FROM ${CHOSEN} WHERE corrected_at IS NOT NULL OR superseded_at <= ? OR valid_to <= ?`,
      JSON.stringify(versions),
      now,
      now,
    );
  }

  /** Returns the memories among these whose current version has expired, and is not deleted yet. */
  expiredAmong(ids: readonly string[], now: number): string[] {
    if (ids.length === 0) return [];
    return this.#column(
      `SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?)) AND expires_at < ? AND corrected_at IS NULL`,
      JSON.stringify(ids),
      now,
    );
  }

  hasKind(kind: MemoryKind): boolean {
    return this.#sql.exec("SELECT 1 FROM memories WHERE kind = ? LIMIT 1", kind).toArray().length > 0;
  }

  /** The versions of facts whose topic key, or whose subject and predicate (null), are among these normalised texts. */
  namedFacts(names: readonly string[]): { n: number; key: string | null }[] {
    return this.#sql.exec<{ n: number; key: string | null }>(NAMED_FACTS, JSON.stringify(names)).toArray();
  }

  /** The versions that are not to be found at a moment: among history, and those whose time ends or is to come. */
  hiddenAt(moment: Moment & { now: number }): number[] {
    const { sql, bindings } = toSqlCondition(visibleAt(moment));
    return this.#column(
      `SELECT version FROM memories INDEXED BY memories_guarded WHERE ${GUARDED} AND NOT (${sql} AND status = 'active')`,
      ...bindings,
    );
  }

  /** The version that each of these versions superseded, if any. */
  supersededBy(versions: readonly number[]): Map<number, number> {
    const rows = this.#sql.exec<{ version: number; later: number }>(
      `SELECT version, superseded_by AS later FROM ${chosenFrom("memories INDEXED BY memories_by_successor", "superseded_by")}
       WHERE corrected_at IS NULL`,
      JSON.stringify(versions),
    );
    return new Map(Array.from(rows, ({ version, later }) => [later, version]));
  }

  /** The numbers that no version has. */
  missing(numbers: readonly number[]): number[] {
    return this.#column(
      "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT version FROM memories)",
      JSON.stringify(numbers),
    );
  }

  removeAll(): void {
    this.#sql.exec("DELETE FROM memories");
    this.#removals.add("memory", () => this.#nextNumber(), { ids: null });
  }

  /** Ids of expired memories, at most `limit`. */
  expired(now: number, limit: number): string[] {
    return this.#column(
      `SELECT id FROM memories WHERE ${EXPIRING} AND expires_at < ? ORDER BY expires_at LIMIT ?`,
      now,
      limit,
    );
  }

  /** The time of the next expiry, or null. */
  nextExpiry(): number | null {
    return this.#sql
      .exec<{ at: number | null }>(`SELECT MIN(expires_at) + 1 AS at FROM memories WHERE ${EXPIRING}`)
      .one().at;
  }

  /** Ids of memories of a status that have not changed since before a time, the oldest first. */
  unchangedSince(status: Reviewed, before: number, limit: number): string[] {
    return this.#column(
      `SELECT id FROM memories INDEXED BY memories_reviewed
       WHERE ${REVIEWED} AND status = ? AND recorded_at < ? ORDER BY recorded_at LIMIT ?`,
      status,
      before,
      limit,
    );
  }

  /** A slice of the memories in quarantine that match, those that wait longest first, and where the next slice begins. */
  waiting(
    { filter, after, limit }: { filter: MemoryFilter; after?: ReviewPlace; limit: number },
    now: number,
  ): { ids: string[]; next?: ReviewPlace } {
    const { upTo = this.lastVersion(), at = Number.MIN_SAFE_INTEGER, version = 0 } = after ?? {};
    const { sql, bindings } = toSqlCondition(and(...filterConditions(filter)));
    const rows = this.#sql
      .exec<{ id: string; at: number; version: number }>(
        `SELECT id, recorded_at AS at, version FROM memories INDEXED BY memories_reviewed
         WHERE ${REVIEWED} AND status = 'quarantined' AND (recorded_at, version) > (?, ?) AND version <= ?
           AND (expires_at IS NULL OR expires_at >= ?) AND ${sql} ORDER BY recorded_at, version LIMIT ?`,
        at,
        version,
        upTo,
        now,
        ...bindings,
        limit + 1,
      )
      .toArray();
    const slice = rows.slice(0, limit);
    const last = rows.length > limit ? slice.at(-1) : undefined;
    return {
      ids: slice.map(({ id }) => id),
      ...(last && { next: { upTo, at: last.at, version: last.version } }),
    };
  }

  /** The time of the last change of the memory of a status that has not changed for longest; null if there is none. */
  oldest(status: Reviewed): number | null {
    return this.#sql
      .exec<{ at: number | null }>(
        `SELECT MIN(recorded_at) AS at FROM memories INDEXED BY memories_reviewed WHERE ${REVIEWED} AND status = ?`,
        status,
      )
      .one().at;
  }

  /** Counts the memories that are not active, by status. Reads a row of the index for each. */
  countReviewed(now: number): { [Status in Reviewed]?: number } {
    const rows = this.#sql.exec<{ status: Reviewed; n: number }>(
      `SELECT status, COUNT(*) AS n FROM memories INDEXED BY memories_reviewed
       WHERE ${REVIEWED} AND (expires_at IS NULL OR expires_at >= ?) GROUP BY status`,
      now,
    );
    return Object.fromEntries(Array.from(rows, ({ status, n }) => [status, n]));
  }

  /** Removes the versions between two places except these. Returns their numbers. */
  removeBetween(after: VersionKey, upTo: VersionKey | null, but: readonly number[]): number[] {
    const end = upTo === null ? ["TRUE"] : ["(id, version) <= (?, ?)", ...upTo];
    const gone = this.#sql
      .exec<{ id: string; version: number }>(
        `DELETE FROM memories WHERE (id, version) > (?, ?) AND version NOT IN (SELECT value FROM json_each(?))
         AND ${end[0]} RETURNING id, version`,
        ...after,
        JSON.stringify(but),
        ...end.slice(1),
      )
      .toArray();
    this.#noteRemoved(gone.map(({ id }) => id));
    return gone.map(({ version }) => version);
  }

  /** The highest version number ever used. */
  lastVersion(): number {
    return this.#sql.exec<{ n: number }>("SELECT last_version AS n FROM memory_clock").one().n;
  }

  /** Marks the numbers up to this one as used. */
  reach(version: number): void {
    this.#sql.exec("UPDATE memory_clock SET last_version = ?1 WHERE last_version < ?1", version);
  }

  /** The time, but never before the last write: the clock may have been set back since. */
  latest(now: number): number {
    return this.#sql.exec<{ n: number }>("SELECT MAX(last_write, ?) AS n FROM memory_clock", now).one().n;
  }

  /** The time of a write that is being decided: after the last write. */
  next(now: number): number {
    return this.#sql.exec<{ n: number }>("SELECT MAX(last_write + 1, ?) AS n FROM memory_clock", now).one().n;
  }

  /** The number of a new write: the time, or one more than the last number. Marks the numbers up to `version` as used. */
  tick(now: number, version = 0): number {
    return this.#sql
      .exec<{ n: number }>(
        `UPDATE memory_clock SET last_write = MAX(last_write + 1, ?), last_version = MAX(last_version, ?)
         RETURNING last_write AS n`,
        now,
        version,
      )
      .one().n;
  }

  #documentsOf(source: string, ...bindings: (string | number)[]): Document[] {
    type Row = Pick<MemoryRow, "kind" | "text" | "title" | "key" | "importance"> & {
      n: number;
      createdAt: number;
      id: string | null;
      validFrom: number;
      validTo: number | null;
    };
    return this.#sql
      .exec<Row>(
        `SELECT version AS n, kind, text, title, topic_key AS "key", importance, updated_at AS "createdAt",
           IIF(key_norm IS NOT NULL OR predicate_norm IS NOT NULL OR valid_to IS NOT NULL, id, NULL) AS id,
           valid_from AS "validFrom", MIN(ifnull(valid_to, superseded_at), ifnull(superseded_at, valid_to)) AS "validTo"
         FROM ${source}`,
        ...bindings,
      )
      .toArray()
      .map(({ n, kind, importance, createdAt, id, validFrom, validTo, ...row }) => {
        const validity = id === null ? undefined : { id, from: validFrom, to: validTo ?? Infinity };
        return { n, kind, importance, createdAt, text: embeddedText(row), validity };
      });
  }

  #rows(source: string, binding: string): MemoryRow[] {
    return this.#sql
      .exec<StoredRow>(`SELECT memories.* FROM ${source} ORDER BY valid_from, version`, binding)
      .toArray()
      .map(rowOf);
  }

  #ids(where: string, binding: string): string[] {
    return this.#column(`SELECT DISTINCT id FROM memories WHERE ${where} AND corrected_at IS NULL`, binding);
  }

  /** The values of a statement's only column. */
  #column<T extends string | number>(sql: string, ...bindings: (string | number)[]): T[] {
    return Array.from(this.#sql.exec(sql, ...bindings).raw<[T]>(), ([value]) => value);
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
/**
 * A present or future version that names an entry by a string. A past version no longer owns its entry. The first
 * condition is that of the index.
 */
const NAMES_ENTRY = `${ENTRY} IS NOT NULL AND json_type(metadata, '$.${ENTRY_FIELD}') = 'text'
  AND corrected_at IS NULL AND (superseded_at IS NULL OR superseded_at > ?)`;

/** The id of the summary of an episode. Index `memories_by_summary`. */
const SUMMARY = "(provenance ->> '$.summarisedBy')";
const IS_SUMMARISED = `${SUMMARY} IS NOT NULL AND corrected_at IS NULL`;

/** Memories for review: index `memories_reviewed`. */
const REVIEWED = "status <> 'active' AND corrected_at IS NULL";
type Reviewed = Exclude<MemoryStatus, "active">;

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

/** Present and future versions with an expiry: index `memories_by_expiry`. */
const EXPIRING = "expires_at IS NOT NULL AND corrected_at IS NULL AND superseded_at IS NULL";

/** Versions that may be hidden at some time, as index `memories_guarded` has them: all others are true since they were recorded, for good. */
const GUARDED = `(corrected_at IS NOT NULL OR superseded_at IS NOT NULL OR valid_to IS NOT NULL
  OR expires_at IS NOT NULL OR status <> 'active' OR valid_from > recorded_at)`;

/** Present and future versions that index `memories_important` has. */
const IMPORTANT = "importance >= 0.7 AND corrected_at IS NULL AND superseded_at IS NULL";

const KINDS = memoryKind.options.map((kind) => `'${kind}'`);

/**
 * The versions that changed last from ?1 up to, not including, ?2, the newest first. Index `memories_by_kind` has those of each
 * kind in this order, and SQLite merges them as they are read: the index serves a condition on kinds, and one on times.
 */
const IN_TIME = `${KINDS.map(
  (kind) => `SELECT updated_at AS at, version AS number FROM memories INDEXED BY memories_by_kind
    WHERE kind = ${kind} AND updated_at >= ?1 AND updated_at < ?2`,
).join(" UNION ALL ")} ORDER BY at DESC, number DESC`;

const OF_ALL_KINDS = `SELECT version FROM memories INDEXED BY memories_by_kind WHERE kind IN (${KINDS.join(", ")})`;

const by = (sql: string, value: string | number | readonly string[] | undefined): SqlCondition[] =>
  value === undefined ? [] : [{ sql, bindings: [typeof value === "object" ? JSON.stringify(value) : value] }];

const among = (column: string, index: string, values: readonly string[] | undefined) =>
  by(
    `SELECT version FROM memories INDEXED BY ${index} WHERE ${column} IN (SELECT value FROM json_each(?))`,
    values,
  );
const normalised = (column: string, index: string, value: string | undefined) =>
  by(`SELECT version FROM memories INDEXED BY ${index} WHERE ${column} = ?`, value && normalise(value));

/** For each condition that an index serves: the versions that meet it, or some more. */
function indexed(filter: MemoryFilter): SqlCondition[] {
  return [
    ...[...(filter.tags ?? []).map((tag) => [tag]), filter.anyTags].flatMap((tags) =>
      by("SELECT version FROM memory_tags WHERE tag IN (SELECT value FROM json_each(?))", tags),
    ),
    ...among("kind", "memories_by_kind", filter.kinds),
    ...among("scope", "memories_by_scope", filter.scope),
    ...among("external_id", "memories_by_external_id", filter.externalId),
    ...normalised("subject_norm", "memories_by_triple", filter.subject),
    ...normalised("key_norm", "memories_by_key", filter.key),
    ...changedBetween(
      // A memory is created before its last change.
      Math.max(
        filter.updatedAtMin ?? Number.MIN_SAFE_INTEGER,
        filter.createdAtMin ?? Number.MIN_SAFE_INTEGER,
      ),
      filter.updatedAtMax ?? Number.MAX_SAFE_INTEGER,
    ),
  ];
}

const changedBetween = (from: number, to: number): SqlCondition[] =>
  from === Number.MIN_SAFE_INTEGER && to === Number.MAX_SAFE_INTEGER
    ? []
    : [{ sql: `${OF_ALL_KINDS} AND updated_at BETWEEN ? AND ?`, bindings: [from, to] }];

/** The versions of facts whose topic key, or whose subject and predicate, are in ?1, a JSON array. */
const NAMED_FACTS = `
  SELECT version AS n, key_norm AS key
  FROM json_each(?1) AS named JOIN memories INDEXED BY memories_by_key ON key_norm = named.value
  UNION
  -- The subjects that there are first: else each other run of words looks for every predicate.
  SELECT version, NULL FROM (
    SELECT value FROM json_each(?1) WHERE EXISTS (
      SELECT 1 FROM memories INDEXED BY memories_by_triple
      WHERE subject_norm = value AND predicate_norm IS NOT NULL)
  ) AS named CROSS JOIN memories INDEXED BY memories_by_triple ON subject_norm = named.value
  WHERE predicate_norm IN (SELECT value FROM json_each(?1))`;
