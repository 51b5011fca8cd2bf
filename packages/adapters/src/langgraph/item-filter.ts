type Operator = (actual: unknown, wanted: unknown) => boolean;

const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["$eq", isSame],
  ["$ne", (actual, wanted) => !isSame(actual, wanted)],
  ["$gt", (actual, wanted) => order(actual, wanted) > 0],
  ["$gte", (actual, wanted) => order(actual, wanted) >= 0],
  ["$lt", (actual, wanted) => order(actual, wanted) < 0],
  ["$lte", (actual, wanted) => order(actual, wanted) <= 0],
  ["$in", (actual, wanted) => Array.isArray(wanted) && wanted.some((one) => isSame(actual, one))],
  ["$nin", (actual, wanted) => !Array.isArray(wanted) || !wanted.some((one) => isSame(actual, one))],
]);

/** True if each field of the filter equals the value's, or its operators hold (`{ $gte: 3 }`). */
export const fitsFilter = (value: object, filter: Record<string, unknown>): boolean =>
  Object.entries(filter).every(([field, wanted]) => {
    const actual: unknown = Object.hasOwn(value, field) ? Reflect.get(value, field) : undefined;
    return hasOperators(wanted)
      ? Object.entries(wanted).every(([name, operand]) => operators.get(name)?.(actual, operand) === true)
      : isSame(actual, wanted);
  });

const hasOperators = (wanted: unknown): wanted is object =>
  typeof wanted === "object" &&
  wanted !== null &&
  Object.keys(wanted).length > 0 &&
  Object.keys(wanted).every((name) => operators.has(name));

/** Compares objects and arrays by content. */
function isSame(actual: unknown, wanted: unknown): boolean {
  return actual === wanted || JSON.stringify(actual) === JSON.stringify(wanted);
}

/** Compares numerically if both are numbers; texts by their order, as ISO dates. Else NaN, for which nothing holds. */
function order(actual: unknown, wanted: unknown): number {
  const numbers = Number(actual) - Number(wanted);
  if (!Number.isNaN(numbers) || typeof actual !== "string" || typeof wanted !== "string") return numbers;
  return actual < wanted ? -1 : Number(actual > wanted);
}
