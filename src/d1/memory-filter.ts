import { and, eq, getTableColumns, gte, inArray, isNull, lte, or, sql, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { normalise } from "../memory/normalise.ts";
import { type MemoryFilter, rangeNames } from "../schema/memory-filter.ts";
import { memories } from "./tables.ts";

/** No version: they count from 1. */
const NOTHING = sql`0`;

/**
 * Conditions on `memories`, for D1 and for the same table in a user's object. Lists are bound as JSON: a statement
 * takes 100 parameters.
 */
export function filterConditions(filter: MemoryFilter): (SQL | undefined)[] {
  return [
    among(memories.kind, filter.kinds),
    among(memories.status, filter.status),
    filter.tags &&
      sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(filter.tags)}) AS wanted
        WHERE wanted.value NOT IN (SELECT value FROM json_each(${memories.tags})))`,
    filter.anyTags &&
      sql`EXISTS (SELECT 1 FROM json_each(${memories.tags}) AS own
        WHERE own.value IN (SELECT value FROM json_each(${JSON.stringify(filter.anyTags)})))`,
    among(memories.scope, filter.scope),
    filter.unscoped && isNull(memories.scope),
    among(memories.externalId, filter.externalId),
    among(memories.type, filter.type),
    normalised(memories.subjectNorm, filter.subject),
    normalised(memories.predicateNorm, filter.predicate),
    normalised(memories.keyNorm, filter.key),
    exactly(memories.title, filter.title),
    exactly(memories.sourceEntity, filter.sourceEntity),
    filter.context === undefined
      ? undefined
      : sql`instr(lower(${memories.context}), lower(${filter.context})) > 0`,
    exactly(sql`${memories.source} ->> '$.thread'`, filter.sourceThread),
    // A seq is a number there, and text in a query string.
    exactly(sql`CAST(${memories.source} ->> '$.message' AS TEXT)`, filter.sourceMessage),
    exactly(sql`${memories.source} ->> '$.extractor'`, filter.extractor),
    ...rangeNames.flatMap((range) => {
      const [least, most] = [filter[`${range}Min`], filter[`${range}Max`]];
      return [
        least === undefined ? undefined : gte(memories[range], least),
        most === undefined ? undefined : lte(memories[range], most),
      ];
    }),
    filter.metadata &&
      sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(filter.metadata)}) AS wanted
        WHERE NOT EXISTS (SELECT 1 FROM json_each(${memories.metadata}) AS own
          WHERE own.key = wanted.key AND own.type = wanted.type AND own.value IS wanted.value))`,
  ];
}

/**
 * When a question is put: with `asOf` in the past, as if it had been put then. `now` is what the clock says. Versions up
 * to `erased` count as gone: D1 may still have some.
 */
export type Moment = { now: number | SQL; asOf?: number; validAt?: number; erased?: SQL };

/** The versions that answer a question of that moment: what was held then to be true, and has not expired by now. */
export function visibleAt({ now, asOf, validAt, erased }: Moment): SQL | undefined {
  const at = validAt ?? asOf ?? now;
  return and(
    erased && unerased(erased),
    asOf === undefined ? isNull(memories.correctedAt) : heldAt(memories, asOf),
    sql`${memories.validFrom} <= ${at}`,
    sql`(${memories.validTo} IS NULL OR ${memories.validTo} > ${at})`,
    // What is held now is said in the row; what was held once has to be seen from the versions of that time.
    asOf === undefined
      ? sql`(${memories.supersededAt} IS NULL OR ${memories.supersededAt} > ${at})`
      : sql`NOT EXISTS (SELECT 1 ${laterAt(asOf, erased)} AND later.valid_from <= ${at})`,
    unexpired(now, erased),
  );
}

/** What has expired is gone with its history, as it will be when it is swept. The last version of a memory says when. */
export const unexpired = (now: number | SQL, erased = NOTHING): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM memories AS latest WHERE latest.user_hash = memories.user_hash
    AND latest.id = memories.id AND latest.corrected_at IS NULL AND latest.superseded_at IS NULL
    AND latest.expires_at < ${now} AND latest.version > ${erased})`;

/** The versions that no erasure stands for. */
export const unerased = (erased: SQL): SQL => sql`${memories.version} > ${erased}`;

/** The columns of a version as they were at the moment: until when it is true may have become known after that. */
export function columnsAt({ asOf, erased }: Pick<Moment, "asOf" | "erased">) {
  const columns = getTableColumns(memories);
  if (asOf === undefined) return columns;
  return { ...columns, supersededAt: supersededAsOf(asOf, erased) };
}

/** From when on another version was true, as was known at a time. */
export const supersededAsOf = (asOf: number, erased?: SQL): SQL<number | null> =>
  sql<number | null>`(SELECT MIN(later.valid_from) ${laterAt(asOf, erased)})`;

/** The versions of the same memory that were held at a time and come after one. */
const laterAt = (asOf: number, erased = NOTHING): SQL =>
  sql`FROM memories AS later WHERE later.user_hash = memories.user_hash AND later.id = memories.id
    AND later.version > ${erased} AND later.recorded_at <= ${asOf} AND (later.corrected_at IS NULL OR later.corrected_at > ${asOf})
    AND (later.valid_from, later.version) > (memories.valid_from, memories.version)`;

/** The versions that are true now or are to be: all that stands for a memory besides its history. */
export const standing = (now: number | SQL): SQL | undefined =>
  and(
    isNull(memories.correctedAt),
    or(isNull(memories.supersededAt), sql`${memories.supersededAt} > ${now}`),
  );

const heldAt = (table: typeof memories, time: number): SQL | undefined =>
  and(lte(table.recordedAt, time), or(isNull(table.correctedAt), sql`${table.correctedAt} > ${time}`));

const among = (column: SQLiteColumn, values: readonly string[] | undefined): SQL | undefined =>
  values && inArray(column, sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`);

const exactly = (column: SQLiteColumn | SQL, value: string | undefined): SQL | undefined =>
  value === undefined ? undefined : sql`${column} = ${value}`;

const normalised = (column: SQLiteColumn, value: string | undefined): SQL | undefined =>
  value === undefined ? undefined : eq(column, normalise(value));
