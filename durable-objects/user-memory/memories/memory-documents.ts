import { type Moment, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import { normalise } from "../../../src/domain/memory/normalise.ts";
import { memoryKind, type MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import { part, raw, type SqlPart, SqlStore } from "../../storage/sql.ts";
import { chosenFrom, narrowest, toSqlCondition } from "../core/sql-condition.ts";
import type { Document, DocumentSource } from "../search-index/documents.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** The versions of memories as recall and contexts choose among them: by an index, a condition, or their numbers. */
export class MemoryDocuments extends SqlStore implements DocumentSource {
  documents(numbers: readonly number[]): Document[] {
    return this.#documentsOf(chosen(numbers));
  }

  newest(condition: SqlPart, limit: number, offset: number): Document[] {
    const all = inTime(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    return this.#documentsOf(part`(${all} LIMIT -1) AS newest CROSS JOIN memories ON version = number
      WHERE ${condition} LIMIT ${limit} OFFSET ${offset}`);
  }

  inTime({ from, to }: { from: number; to: number }, limit: number): number[] {
    return this.sql.column`SELECT number FROM (${inTime(from, to)} LIMIT ${limit})`;
  }

  /** The versions that meet a condition over the columns of `memories`. Looks at each. */
  where(condition: SqlPart): number[] {
    return this.sql.column`SELECT version FROM memories WHERE ${condition}`;
  }

  among(numbers: readonly number[], condition: SqlPart): number[] {
    if (numbers.length === 0) return [];
    return this.sql.column`SELECT version FROM ${chosen(numbers)} WHERE ${condition}`;
  }

  /** The versions that meet a filter and a condition, if an index tells that at most `most` meet the filter; null otherwise. */
  few(filter: MemoryFilter, condition: SqlPart, most: number): number[] | null {
    const narrow = narrowest(this.sql.storage, indexed(filter), most);
    if (narrow === null) return null;
    return this.sql.column`
      SELECT DISTINCT memories.version FROM (${narrow}) AS narrow
      CROSS JOIN memories ON memories.version = narrow.version WHERE ${condition}`;
  }

  /** The versions of a kind that meet a condition: the most important and the newest, `limit` of each at most. */
  leading(kind: MemoryKind, condition: SqlPart, limit: number): number[] {
    const select = (index: string, where: SqlPart, order: string) => this.sql.column<number>`
      SELECT version FROM memories INDEXED BY ${raw(index)} WHERE kind = ${kind} AND ${where}
        AND ${condition}
      ORDER BY ${raw(order)} DESC, version DESC LIMIT ${limit}`;
    return [
      ...new Set([
        ...select("memories_important", IMPORTANT, "importance"),
        ...select("memories_by_kind", raw("TRUE"), "updated_at"),
      ]),
    ];
  }

  /** Returns the versions among these that were corrected, or are not true any more. */
  ended(versions: readonly number[], now: number): number[] {
    return this.sql.column`
      SELECT version FROM ${chosen(versions)}
      WHERE corrected_at IS NOT NULL OR superseded_at <= ${now} OR valid_to <= ${now}`;
  }

  /** Returns the memories among these whose current version has expired, and is not deleted yet. */
  expiredAmong(ids: readonly string[], now: number): string[] {
    return this.sql.column`
      SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))
        AND expires_at < ${now} AND corrected_at IS NULL`;
  }

  hasKind(kind: MemoryKind): boolean {
    return this.sql.has`SELECT 1 FROM memories WHERE kind = ${kind} LIMIT 1`;
  }

  /** The versions of facts whose topic key, or whose subject and predicate (null), are among these normalised texts. */
  namedFacts(names: readonly string[]): { n: number; key: string | null }[] {
    const named = JSON.stringify(names);
    return this.sql.rows`
      SELECT version AS n, key_norm AS key
      FROM json_each(${named}) AS named JOIN memories INDEXED BY memories_by_key ON key_norm = named.value
      UNION
      -- The subjects that there are first: else each other run of words looks for every predicate.
      SELECT version, NULL FROM (
        SELECT value FROM json_each(${named}) WHERE EXISTS (
          SELECT 1 FROM memories INDEXED BY memories_by_triple
          WHERE subject_norm = value AND predicate_norm IS NOT NULL)
      ) AS named CROSS JOIN memories INDEXED BY memories_by_triple ON subject_norm = named.value
      WHERE predicate_norm IN (SELECT value FROM json_each(${named}))`;
  }

  /** The versions that are not to be found at a moment: among history, and those whose time ends or is to come. */
  hiddenAt(moment: Moment & { now: number }): number[] {
    return this.sql.column`
      SELECT version FROM memories INDEXED BY memories_guarded
      WHERE ${GUARDED} AND NOT (${toSqlCondition(visibleAt(moment))} AND status = 'active')`;
  }

  /** The version that each of these versions superseded, if any. */
  supersededBy(versions: readonly number[]): Map<number, number> {
    const source = chosenFrom("memories INDEXED BY memories_by_successor", "superseded_by", versions);
    const rows = this.sql.rows<{ version: number; later: number }>`
      SELECT version, superseded_by AS later FROM ${source} WHERE corrected_at IS NULL`;
    return new Map(rows.map(({ version, later }) => [later, version]));
  }

  #documentsOf(source: SqlPart): Document[] {
    type Row = Pick<MemoryRow, "kind" | "text" | "title" | "key" | "importance"> & {
      n: number;
      createdAt: number;
      id: string | null;
      validFrom: number;
      validTo: number | null;
    };
    const rows = this.sql.rows<Row>`
      SELECT version AS n, kind, text, title, topic_key AS "key", importance, updated_at AS "createdAt",
        IIF(key_norm IS NOT NULL OR predicate_norm IS NOT NULL OR valid_to IS NOT NULL, id, NULL) AS id,
        valid_from AS "validFrom",
        MIN(ifnull(valid_to, superseded_at), ifnull(superseded_at, valid_to)) AS "validTo"
      FROM ${source}`;
    return rows.map(({ n, kind, importance, createdAt, id, validFrom, validTo, ...row }) => {
      const validity = id === null ? undefined : { id, from: validFrom, to: validTo ?? Infinity };
      return { n, kind, importance, createdAt, text: embeddedText(row), validity };
    });
  }
}

const chosen = (versions: readonly number[]): SqlPart => chosenFrom("memories", "version", versions);

/** Versions that may be hidden at some time, as index `memories_guarded` has them: all others are true since they were recorded, for good. */
const GUARDED = raw(`(corrected_at IS NOT NULL OR superseded_at IS NOT NULL OR valid_to IS NOT NULL
  OR expires_at IS NOT NULL OR status <> 'active' OR valid_from > recorded_at)`);

/** Present and future versions that index `memories_important` has. */
const IMPORTANT = raw("importance >= 0.7 AND corrected_at IS NULL AND superseded_at IS NULL");

/**
 * The versions that changed last from one time up to, not including, another, the newest first. Index `memories_by_kind` has those
 * of each kind in this order, and SQLite merges them as they are read: the index serves a condition on kinds, and one on times.
 */
const inTime = (from: number, to: number): SqlPart => {
  const ofKinds = memoryKind.options.map(
    (kind) => part`
      SELECT updated_at AS at, version AS number FROM memories INDEXED BY memories_by_kind
      WHERE kind = ${kind} AND updated_at >= ${from} AND updated_at < ${to}`,
  );
  return part`${ofKinds.reduce((some, one) => part`${some} UNION ALL ${one}`)} ORDER BY at DESC, number DESC`;
};

const KINDS = raw(memoryKind.options.map((kind) => `'${kind}'`).join(", "));
const byIndex = (index: string, condition: SqlPart): SqlPart =>
  part`SELECT version FROM memories INDEXED BY ${raw(index)} WHERE ${condition}`;
const among = (column: string, values: readonly string[]): SqlPart =>
  part`${raw(column)} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** For each condition that an index serves: the versions that meet it, or some more. */
function indexed(filter: MemoryFilter): SqlPart[] {
  const { tags = [], anyTags, kinds, scope, externalId, subject, key } = filter;
  // A memory is created before its last change.
  const from = Math.max(filter.updatedAtMin ?? -Infinity, filter.createdAtMin ?? -Infinity);
  const to = filter.updatedAtMax ?? Infinity;
  const inTimes = part`kind IN (${KINDS}) AND updated_at
    BETWEEN ${Math.max(from, Number.MIN_SAFE_INTEGER)} AND ${Math.min(to, Number.MAX_SAFE_INTEGER)}`;
  return [
    ...[...tags.map((tag) => [tag]), ...(anyTags ? [anyTags] : [])].map(
      (some) => part`SELECT version FROM memory_tags WHERE ${among("tag", some)}`,
    ),
    ...(kinds ? [byIndex("memories_by_kind", among("kind", kinds))] : []),
    ...(scope ? [byIndex("memories_by_scope", among("scope", scope))] : []),
    ...(externalId ? [byIndex("memories_by_external_id", among("external_id", externalId))] : []),
    ...(subject === undefined
      ? []
      : [byIndex("memories_by_triple", part`subject_norm = ${normalise(subject)}`)]),
    ...(key === undefined ? [] : [byIndex("memories_by_key", part`key_norm = ${normalise(key)}`)]),
    ...(from === -Infinity && to === Infinity ? [] : [byIndex("memories_by_kind", inTimes)]),
  ];
}
