import { and, getTableColumns, inArray, isNull, lte, or, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { normalise } from "../../domain/memory/normalise.ts";
import {
  type Attribute,
  attributeNames,
  type FieldName,
  fieldsFilteredBy,
} from "../../domain/schema/memory-fields.ts";
import { type MemoryFilter, type RangeName, rangeNames } from "../../domain/schema/memory-filter.ts";
import { type MetadataCondition, metadataCondition } from "../../domain/schema/metadata-filter.ts";
import { memories } from "../../domain/memory/table.ts";

/** No version: they count from 1. */
const NOTHING = sql`0`;

/**
 * Conditions on `memories`, for D1 and for the same table in a user's object. Lists are bound as JSON: a statement
 * takes 100 parameters.
 */
export function filterConditions(filter: MemoryFilter): SQL[] {
  const conditions = [
    among(memories.kind, filter.kinds),
    among(memories.status, filter.status),
    filter.tags &&
      sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(filter.tags)}) AS wanted
        WHERE wanted.value NOT IN (SELECT value FROM json_each(${memories.tags})))`,
    filter.anyTags &&
      sql`EXISTS (SELECT 1 FROM json_each(${memories.tags}) AS own
        WHERE own.value IN (SELECT value FROM json_each(${JSON.stringify(filter.anyTags)})))`,
    filter.unscoped && isNull(memories.scope),
    ...fieldsFilteredBy("any").map((field) => among(valueOf(field), filter[field])),
    ...fieldsFilteredBy("normalised").map((field) => normalised(memories[`${field}Norm`], filter[field])),
    ...fieldsFilteredBy("exact").map((field) => exactly(valueOf(field), filter[field])),
    ...fieldsFilteredBy("contains").map((field) => contains(valueOf(field), filter[field])),
    exactly(sql`${memories.source} ->> '$.thread'`, filter.sourceThread),
    // A seq is a number there, and text in a query string.
    exactly(sql`CAST(${memories.source} ->> '$.message' AS TEXT)`, filter.sourceMessage),
    exactly(sql`${memories.source} ->> '$.extractor'`, filter.extractor),
    ...rangeNames.flatMap((range) => [
      bounded(">=", range, filter[`${range}Min`]),
      bounded("<=", range, filter[`${range}Max`]),
    ]),
    filter.metadata && metadataSql(metadataCondition(filter.metadata)),
  ].filter((one) => one !== undefined);
  return conditions.length === 0 ? [] : [joined(conditions, sql` AND `, sql`TRUE`)];
}

/** Each comparison binds one parameter, the JSON of its field and operand: so both sides are decoded alike, and no path is built. */
function metadataSql(condition: MetadataCondition): SQL {
  if ("not" in condition) return sql`NOT (${metadataSql(condition.not)})`;
  if ("all" in condition) return joined(condition.all.map(metadataSql), sql` AND `, sql`TRUE`);
  if ("any" in condition) return joined(condition.any.map(metadataSql), sql` OR `, sql`FALSE`);
  const { comparison } = condition;
  const wanted = sql`json_each(${JSON.stringify(condition.wanted)}) AS wanted`;
  const own = sql`json_each(${memories.metadata}) AS own`;
  if (comparison === "eq" || comparison === "ne") {
    const differs = sql`EXISTS (SELECT 1 FROM ${wanted}
      WHERE NOT EXISTS (SELECT 1 FROM ${own} WHERE own.key = wanted.key AND ${isSame(sql`wanted`)}))`;
    return comparison === "ne" ? differs : sql`NOT ${differs}`;
  }
  const fits = (how: SQL, among = sql``) =>
    sql`EXISTS (SELECT 1 FROM ${wanted}, ${own}${among} WHERE own.key = wanted.key AND ${how})`;
  if (comparison === "exists")
    return sql`(${fits(sql`TRUE`)}) = ${sql.raw(Object.values(condition.wanted).includes(true) ? "TRUE" : "FALSE")}`;
  if (comparison === "in") return fits(isSame(sql`one`), sql`, json_each(wanted.value) AS one`);
  if (comparison === "nin") return sql`NOT ${fits(isSame(sql`one`), sql`, json_each(wanted.value) AS one`)}`;
  // A number is neither more nor less than a text.
  return fits(sql`(own.type = 'text') = (wanted.type = 'text') AND own.type IN ('text', 'integer', 'real')
    AND own.value ${sql.raw(ORDER[comparison])} wanted.value`);
}

const ORDER = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

const isSame = (other: SQL): SQL => sql`own.type = ${other}.type AND own.value IS ${other}.value`;

/** In halves: SQLite takes expressions of a depth of 100, and each member of a chain is one level deeper. */
function joined(all: readonly SQL[], by: SQL, none: SQL): SQL {
  const [first] = all;
  if (first === undefined) return none;
  if (all.length === 1) return first;
  const half = all.length >> 1;
  return sql`(${joined(all.slice(0, half), by, none)}${by}${joined(all.slice(half), by, none)})`;
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

const isAttribute = (name: string): name is Attribute => (attributeNames as string[]).includes(name);

/** The value of a field, in its column or in `attributes`. */
function valueOf(field: FieldName | RangeName): SQLWrapper {
  if (field === "valence") return sql`${memories.attributes} ->> '$.emotion.valence'`;
  return isAttribute(field) ? sql`${memories.attributes} ->> ${sql.raw(`'$.${field}'`)}` : memories[field];
}

const among = (column: SQLWrapper, values: readonly string[] | undefined): SQL | undefined =>
  values && inArray(column, sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`);

const exactly = (column: SQLWrapper, value: string | undefined): SQL | undefined =>
  value === undefined ? undefined : sql`${column} = ${value}`;

const normalised = (column: SQLWrapper, value: string | undefined): SQL | undefined =>
  value === undefined ? undefined : exactly(column, normalise(value));

const contains = (column: SQLWrapper, value: string | undefined): SQL | undefined =>
  value === undefined ? undefined : sql`instr(lower(${column}), lower(${value})) > 0`;

const bounded = (end: ">=" | "<=", range: RangeName, value: number | undefined): SQL | undefined =>
  value === undefined ? undefined : sql`${valueOf(range)} ${sql.raw(end)} ${value}`;
