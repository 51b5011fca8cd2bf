import { type Moment, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import { normalise } from "../../../src/domain/memory/normalise.ts";
import { memoryKind, type MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import { chosenFrom, narrowest, toSqlCondition, type SqlCondition } from "../core/sql-condition.ts";
import { SqlStore } from "../core/sql-store.ts";
import type { Document, DocumentSource } from "../search-index/documents.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** The versions of memories as recall and contexts choose among them: by an index, a condition, or their numbers. */
export class MemoryDocuments extends SqlStore implements DocumentSource {
  documents(numbers: readonly number[]): Document[] {
    return this.#documentsOf(CHOSEN, [JSON.stringify(numbers)]);
  }

  newest({ sql, bindings }: SqlCondition, limit: number, offset: number): Document[] {
    return this.#documentsOf(
      `(${IN_TIME} LIMIT -1) AS newest CROSS JOIN memories ON version = number WHERE ${sql} LIMIT ? OFFSET ?`,
      [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, ...bindings, limit, offset],
    );
  }

  inTime({ from, to }: { from: number; to: number }, limit: number): number[] {
    return this.column(`SELECT number FROM (${IN_TIME} LIMIT ?)`, [from, to, limit]);
  }

  /** The versions that meet a condition over the columns of `memories`. Looks at each. */
  where({ sql, bindings }: SqlCondition): number[] {
    return this.column(`SELECT version FROM memories WHERE ${sql}`, bindings);
  }

  /** Returns the versions among these that meet a condition. */
  among(numbers: readonly number[], { sql, bindings }: SqlCondition): number[] {
    return this.column(`SELECT version FROM ${CHOSEN} WHERE ${sql}`, [JSON.stringify(numbers), ...bindings]);
  }

  /** The versions that meet a filter and a condition, if an index tells that at most `most` meet the filter; null otherwise. */
  few(filter: MemoryFilter, { sql, bindings }: SqlCondition, most: number): number[] | null {
    const narrow = narrowest(this.sql, indexed(filter), most);
    if (narrow === null) return null;
    return this.column(
      `SELECT DISTINCT memories.version FROM (${narrow.sql}) AS narrow
       CROSS JOIN memories ON memories.version = narrow.version WHERE ${sql}`,
      [...narrow.bindings, ...bindings],
    );
  }

  /** The versions of a kind that meet a condition: the most important and the newest, `limit` of each at most. */
  leading(kind: MemoryKind, { sql, bindings }: SqlCondition, limit: number): number[] {
    const select = (index: string, where: string, order: string) =>
      this.column<number>(
        `SELECT version FROM memories INDEXED BY ${index} WHERE kind = ? AND ${where} AND ${sql}
         ORDER BY ${order} DESC, version DESC LIMIT ?`,
        [kind, ...bindings, limit],
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
    return this.column(
      `SELECT version FROM ${CHOSEN} WHERE corrected_at IS NOT NULL OR superseded_at <= ? OR valid_to <= ?`,
      [JSON.stringify(versions), now, now],
    );
  }

  /** Returns the memories among these whose current version has expired, and is not deleted yet. */
  expiredAmong(ids: readonly string[], now: number): string[] {
    return this.column(
      `SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?)) AND expires_at < ? AND corrected_at IS NULL`,
      [JSON.stringify(ids), now],
    );
  }

  hasKind(kind: MemoryKind): boolean {
    return this.selects("SELECT 1 FROM memories WHERE kind = ? LIMIT 1", [kind]);
  }

  /** The versions of facts whose topic key, or whose subject and predicate (null), are among these normalised texts. */
  namedFacts(names: readonly string[]): { n: number; key: string | null }[] {
    return this.rows(NAMED_FACTS, [JSON.stringify(names)]);
  }

  /** The versions that are not to be found at a moment: among history, and those whose time ends or is to come. */
  hiddenAt(moment: Moment & { now: number }): number[] {
    const { sql, bindings } = toSqlCondition(visibleAt(moment));
    return this.column(
      `SELECT version FROM memories INDEXED BY memories_guarded WHERE ${GUARDED} AND NOT (${sql} AND status = 'active')`,
      bindings,
    );
  }

  /** The version that each of these versions superseded, if any. */
  supersededBy(versions: readonly number[]): Map<number, number> {
    const rows = this.rows<{ version: number; later: number }>(
      `SELECT version, superseded_by AS later FROM ${chosenFrom("memories INDEXED BY memories_by_successor", "superseded_by")}
       WHERE corrected_at IS NULL`,
      [JSON.stringify(versions)],
    );
    return new Map(rows.map(({ version, later }) => [later, version]));
  }

  #documentsOf(source: string, bindings: readonly (string | number)[]): Document[] {
    type Row = Pick<MemoryRow, "kind" | "text" | "title" | "key" | "importance"> & {
      n: number;
      createdAt: number;
      id: string | null;
      validFrom: number;
      validTo: number | null;
    };
    return this.rows<Row>(
      `SELECT version AS n, kind, text, title, topic_key AS "key", importance, updated_at AS "createdAt",
         IIF(key_norm IS NOT NULL OR predicate_norm IS NOT NULL OR valid_to IS NOT NULL, id, NULL) AS id,
         valid_from AS "validFrom", MIN(ifnull(valid_to, superseded_at), ifnull(superseded_at, valid_to)) AS "validTo"
       FROM ${source}`,
      bindings,
    ).map(({ n, kind, importance, createdAt, id, validFrom, validTo, ...row }) => {
      const validity = id === null ? undefined : { id, from: validFrom, to: validTo ?? Infinity };
      return { n, kind, importance, createdAt, text: embeddedText(row), validity };
    });
  }
}

/** The versions with the numbers in a JSON array. */
const CHOSEN = chosenFrom("memories", "version");

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
