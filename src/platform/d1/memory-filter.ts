import {
  and,
  getTableColumns,
  inArray,
  isNull,
  lte,
  ne,
  or,
  sql,
  type SQL,
  type SQLWrapper,
} from "drizzle-orm";
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
import type { TimeSpan } from "../../domain/ranking/time-span.ts";

/** Below every version: they count from 1. */
const NO_VERSION = sql`0`;

/**
 * Conditions on `memories`, for D1 and for the same table in a user's object. A list is one parameter, as JSON: a
 * statement takes 100 parameters.
 */
export function filterConditions(filter: MemoryFilter): SQL[] {
  const conditions = [
    among(memories.kind, filter.kinds),
    among(memories.status, filter.status),
    among(memories.trust, filter.trust),
    filter.tags &&
      sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(filter.tags)}) AS required
        WHERE required.value NOT IN (SELECT value FROM json_each(${memories.tags})))`,
    filter.anyTags &&
      sql`EXISTS (SELECT 1 FROM json_each(${memories.tags}) AS own
        WHERE own.value IN (SELECT value FROM json_each(${JSON.stringify(filter.anyTags)})))`,
    filter.unscoped && isNull(memories.scope),
    ...fieldsFilteredBy("any").map((field) => among(valueOf(field), filter[field])),
    ...fieldsFilteredBy("normalised").map((field) => normalised(memories[`${field}Norm`], filter[field])),
    ...fieldsFilteredBy("exact").map((field) => exactly(valueOf(field), filter[field])),
    ...fieldsFilteredBy("contains").map((field) => contains(valueOf(field), filter[field])),
    exactly(sql`${memories.source} ->> '$.thread'`, filter.sourceThread),
    // A seq is a number in the row, and a string in a query string.
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

/** Each comparison binds one parameter, the JSON of its field and operand. SQLite decodes both sides alike. */
function metadataSql(condition: MetadataCondition): SQL {
  if ("not" in condition) return sql`NOT (${metadataSql(condition.not)})`;
  if ("all" in condition) return joined(condition.all.map(metadataSql), sql` AND `, sql`TRUE`);
  if ("any" in condition) return joined(condition.any.map(metadataSql), sql` OR `, sql`FALSE`);
  const { comparison } = condition;
  const operands = sql`json_each(${JSON.stringify(condition.operands)}) AS operands`;
  const own = sql`json_each(${memories.metadata}) AS own`;
  if (comparison === "eq" || comparison === "ne") {
    const differs = sql`EXISTS (SELECT 1 FROM ${operands}
      WHERE NOT EXISTS (SELECT 1 FROM ${own} WHERE own.key = operands.key AND ${isSame(sql`operands`)}))`;
    return comparison === "ne" ? differs : sql`NOT ${differs}`;
  }
  const fits = (how: SQL, among = sql``) =>
    sql`EXISTS (SELECT 1 FROM ${operands}, ${own}${among} WHERE own.key = operands.key AND ${how})`;
  if (comparison === "exists")
    return sql`(${fits(sql`TRUE`)}) = ${sql.raw(Object.values(condition.operands).includes(true) ? "TRUE" : "FALSE")}`;
  if (comparison === "in") return fits(isSame(sql`one`), sql`, json_each(operands.value) AS one`);
  if (comparison === "nin")
    return sql`NOT ${fits(isSame(sql`one`), sql`, json_each(operands.value) AS one`)}`;
  // Numbers and strings do not compare.
  return fits(sql`(own.type = 'text') = (operands.type = 'text') AND own.type IN ('text', 'integer', 'real')
    AND own.value ${sql.raw(ORDER[comparison])} operands.value`);
}

const ORDER = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

const isSame = (other: SQL): SQL => sql`own.type = ${other}.type AND own.value IS ${other}.value`;

/** A balanced tree: SQLite limits the depth of an expression to 100, and a chain is as deep as it is long. */
function joined(all: readonly SQL[], by: SQL, none: SQL): SQL {
  const [first] = all;
  if (first === undefined) return none;
  if (all.length === 1) return first;
  const half = all.length >> 1;
  return sql`(${joined(all.slice(0, half), by, none)}${by}${joined(all.slice(half), by, none)})`;
}

/**
 * The times of a question. `asOf`: answer as if asked then. `validAt`: the time of validity. `validIn`: also what was
 * true in one of these spans, without the two others. `erased`: versions up to this one are erased, though D1 may still
 * have some. `reviewed`: quarantined memories of any time of validity are visible too.
 */
export type Moment = {
  now: number | SQL;
  asOf?: number;
  validAt?: number;
  validIn?: readonly TimeSpan[];
  erased?: SQL;
  reviewed?: boolean;
};

/** The versions that answer a question: known at `asOf`, true at `validAt`, not expired by now. */
export function visibleAt({ now, asOf, validAt, validIn, erased, reviewed }: Moment): SQL | undefined {
  const at = validAt ?? asOf ?? now;
  return and(
    erased && unerased(erased),
    asOf === undefined ? isNull(memories.correctedAt) : knownAt(asOf),
    or(
      and(
        sql`${memories.validFrom} <= ${at}`,
        sql`(${memories.validTo} IS NULL OR ${memories.validTo} > ${at})`,
        // The row has the end that is known now; an earlier one follows from the versions of that time.
        asOf === undefined
          ? sql`(${memories.supersededAt} IS NULL OR ${memories.supersededAt} > ${at})`
          : sql`NOT EXISTS (SELECT 1 ${laterAt(asOf, erased)} AND later.valid_from <= ${at})`,
      ),
      validIn && trueIn(validIn),
      reviewed === true ? ne(memories.status, "active") : undefined,
    ),
    unexpired(now, erased),
  );
}

const trueIn = (spans: readonly TimeSpan[]): SQL =>
  sql`EXISTS (SELECT 1 FROM json_each(${JSON.stringify(spans)}) AS span WHERE ${memories.validFrom} < span.value ->> 'to'
    AND (${memories.validTo} IS NULL OR ${memories.validTo} > span.value ->> 'from')
    AND (${memories.supersededAt} IS NULL OR ${memories.supersededAt} > span.value ->> 'from'))`;

/**
 * Hides expired memories with their history, before the sweep deletes them. The last version has the expiry: the only one
 * that is neither corrected nor superseded.
 */
export const unexpired = (now: number | SQL, erased = NO_VERSION): SQL =>
  sql`IIF(${memories.correctedAt} IS NULL AND ${memories.supersededAt} IS NULL,
    ${memories.expiresAt} IS NULL OR ${memories.expiresAt} >= ${now}, NOT EXISTS (SELECT 1 FROM memories AS latest WHERE latest.user_hash = memories.user_hash
    AND latest.id = memories.id AND latest.corrected_at IS NULL AND latest.superseded_at IS NULL
    AND latest.expires_at < ${now} AND latest.version > ${erased}))`;

/** The versions after the last erasure. */
export const unerased = (erased: SQL): SQL => sql`${memories.version} > ${erased}`;

/** The columns of a version as of a time: its end may have become known later. */
export function columnsAt({ asOf, erased }: Pick<Moment, "asOf" | "erased">) {
  const columns = getTableColumns(memories);
  if (asOf === undefined) return columns;
  return { ...columns, supersededAt: supersededAsOf(asOf, erased) };
}

/** The end of a version by a later one, as known at a time. */
export const supersededAsOf = (asOf: number, erased?: SQL): SQL<number | null> =>
  sql<number | null>`(SELECT MIN(later.valid_from) ${laterAt(asOf, erased)})`;

/** The later versions of the same memory, as known at a time. */
const laterAt = (asOf: number, erased = NO_VERSION): SQL =>
  sql`FROM memories AS later WHERE later.user_hash = memories.user_hash AND later.id = memories.id
    AND later.version > ${erased} AND later.recorded_at <= ${asOf} AND (later.corrected_at IS NULL OR later.corrected_at > ${asOf})
    AND (later.valid_from, later.version) > (memories.valid_from, memories.version)`;

/** The present and future versions: a memory without its history. */
export const standing = (now: number | SQL): SQL | undefined =>
  and(
    isNull(memories.correctedAt),
    or(isNull(memories.supersededAt), sql`${memories.supersededAt} > ${now}`),
  );

const knownAt = (time: number): SQL | undefined =>
  and(
    lte(memories.recordedAt, time),
    or(isNull(memories.correctedAt), sql`${memories.correctedAt} > ${time}`),
  );

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
