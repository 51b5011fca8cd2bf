import { limits } from "../limits.ts";
import type { Json } from "./bounds.ts";

const comparisons = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists"] as const;
export type Comparison = (typeof comparisons)[number];
type Fields = Record<string, Json>;

/** A filter of metadata as a tree. `operands` holds each operand under its field's name; only `eq` has several. */
export type MetadataCondition =
  | { comparison: Comparison; operands: Fields }
  | { all: MetadataCondition[] }
  | { any: MetadataCondition[] }
  | { not: MetadataCondition };

type Path = (string | number)[];
type Refuse = (path: Path, message: string, isOverLimit?: boolean) => void;

const isObject = (value: Json): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isComparison = (name: string): name is Comparison => (comparisons as readonly string[]).includes(name);
const isGroup = (name: string): boolean => ["and", "or", "not"].includes(name);

/**
 * Reads a filter of metadata, and tells what is wrong with it. A field's value is compared as it is, unless it is an object
 * of comparisons; `and` and `or` with a list of filters, and `not` with one, combine them.
 */
export function metadataCondition(filter: Fields, refuse: Refuse = () => {}): MetadataCondition {
  let count = 0;
  const read = (fields: Fields, path: Path, depth: number): MetadataCondition => {
    const literals: Fields[] = [];
    const conditions: MetadataCondition[] = [];
    if (Object.keys(fields).length === 0) refuse(path, "names no field");
    if (depth > limits.filterDepth)
      refuse(path, `is nested more than ${limits.filterDepth} levels deep`, true);
    else
      for (const [name, value] of Object.entries(fields)) {
        const at = [...path, name];
        const parts = groupOf(name, value);
        if (parts !== null) {
          count++;
          const several = name !== "not";
          const all = parts.map((part, i) => read(part, several ? [...at, i] : at, depth + 1));
          conditions.push(name === "or" ? { any: all } : name === "and" ? { all } : { not: { all } });
        } else if (isObject(value) && isReserved(value)) {
          for (const [comparison, operand] of Object.entries(value)) {
            count++;
            const wrong = isComparison(comparison) ? problemOf(comparison, operand) : unknown(comparison);
            if (wrong !== null) refuse([...at, comparison], wrong);
            else if (isComparison(comparison))
              conditions.push({ comparison, operands: fieldsOf([[name, operand]]) });
          }
        } else literals.push(fieldsOf([[name, value]]));
      }
    const same = fieldsOf(literals.flatMap((one) => Object.entries(one)));
    return { all: literals.length > 0 ? [{ comparison: "eq", operands: same }, ...conditions] : conditions };
  };
  const condition = read(filter, [], 1);
  if (count > limits.filterConditions)
    refuse([], `holds more than ${limits.filterConditions} conditions`, true);
  return condition;
}

/** `Object.fromEntries` keeps `__proto__` a field. */
const fieldsOf = (entries: [string, Json][]): Fields => Object.fromEntries(entries);

/** The filters that a name combines; null where it is a field like any other. */
function groupOf(name: string, value: Json): Fields[] | null {
  if (name === "not") return isObject(value) && !isComparisons(value) ? [value] : null;
  const combines = (name === "and" || name === "or") && Array.isArray(value) && value.length > 0;
  return combines && value.every(isObject) ? value : null;
}

const isComparisons = (value: Fields): boolean =>
  Object.keys(value).length > 0 && Object.keys(value).every(isComparison);

/** True for an object with a word of the filter language, which is not compared as a value. */
const isReserved = (value: Fields): boolean =>
  Object.keys(value).some((key) => {
    const word = key.replace(/^\$/, "");
    return isComparison(word) || isGroup(word);
  });

const unknown = (word: string): string =>
  isGroup(word)
    ? "combines filters, so it stands beside fields, not in one"
    : `is no comparison (${comparisons.join(", ")}); an object to compare with goes into \`eq\``;

function problemOf(comparison: Comparison, operand: Json): string | null {
  if (comparison === "exists") return typeof operand === "boolean" ? null : "is not true or false";
  if (comparison === "in" || comparison === "nin")
    return Array.isArray(operand) && operand.length > 0 && operand.length <= limits.filterValues
      ? null
      : `is no list of 1 to ${limits.filterValues} values`;
  if (comparison === "eq" || comparison === "ne") return null;
  return typeof operand === "number" || typeof operand === "string"
    ? null
    : "is neither a number nor a string";
}
