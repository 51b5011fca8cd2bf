import { sql, type SQL } from "drizzle-orm";
import { hash32 } from "../../domain/hash.ts";
import { normalise } from "../../domain/memory/normalise.ts";
import type { MemoryRow } from "../../domain/memory/table.ts";
import { fieldsFilteredBy } from "../../domain/schema/memory-fields.ts";
import type { MemoryFilter } from "../../domain/schema/memory-filter.ts";

// A Bloom filter per version, over the values that a list selects by. D1's index by age contains it, so that a list skips
// other rows without reading them. An index of the values would cost a row written for each, and keep their bytes.
// A stored field that becomes selectable later, or another hash, needs a migration that sets `terms` to -1.

/** Bits of a filter: as many as a JavaScript number holds exactly. */
const BITS = 53;
/** Each takes one bit of a term out of its hash. */
const SHIFTS = [0, 11, 21];
/** Any version passes a longer list of alternatives. */
const MOST_ALTERNATIVES = 8;

const normalised = fieldsFilteredBy("normalised");
const verbatim = [...fieldsFilteredBy("any"), ...fieldsFilteredBy("exact")];

/** The Bloom filter of a version. */
export function termsOf(row: MemoryRow): number {
  const values: Record<string, unknown> = { ...row, ...row.attributes };
  return sumOf([
    ...bitsOf("kind", row.kind),
    // Nearly all are active.
    ...(row.status === "active" ? [] : bitsOf("status", row.status)),
    ...bitsOf("thread", row.source?.thread),
    ...row.tags.flatMap((tag) => bitsOf("tag", tag)),
    ...normalised.flatMap((field) => bitsOf(field, row[`${field}Norm`])),
    ...verbatim.flatMap((field) => bitsOf(field, values[field])),
  ]);
}

/** Conditions that each version which matches `filter` meets, and few others. */
export const termConditions = (filter: MemoryFilter): SQL[] => [
  ...anyOf("kind", filter.kinds),
  ...(filter.status?.includes("active") === false ? anyOf("status", filter.status) : []),
  ...anyOf("thread", filter.sourceThread),
  ...(filter.tags ? [contains(filter.tags.flatMap((tag) => bitsOf("tag", tag)))] : []),
  ...anyOf("tag", filter.anyTags),
  ...normalised.flatMap((field) => anyOf(field, filter[field] && normalise(filter[field]))),
  ...verbatim.flatMap((field) => anyOf(field, filter[field])),
];

function anyOf(field: string, given: string | readonly string[] | undefined): SQL[] {
  const values = typeof given === "string" ? [given] : (given ?? []);
  if (values.length === 0 || values.length > MOST_ALTERNATIVES) return [];
  return [
    sql`(${sql.join(
      values.map((value) => contains(bitsOf(field, value))),
      sql` OR `,
    )})`,
  ];
}

function bitsOf(field: string, value: unknown): number[] {
  if (typeof value !== "string") return [];
  const hash = hash32(`${field}:${value}`);
  return SHIFTS.map((shift) => (hash >>> shift) % BITS);
}

const sumOf = (bits: readonly number[]): number => [...new Set(bits)].reduce((sum, bit) => sum + 2 ** bit, 0);

function contains(bits: readonly number[]): SQL {
  const sum = sql.raw(String(sumOf(bits)));
  return sql`(terms & ${sum}) = ${sum}`;
}
