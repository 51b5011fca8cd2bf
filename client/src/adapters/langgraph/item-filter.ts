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

/** Whether each field of the filter is the value's field, or has operators that hold for it (`{ $gte: 3 }`). */
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

/** Objects and arrays are compared by what they hold. */
function isSame(actual: unknown, wanted: unknown): boolean {
  return actual === wanted || JSON.stringify(actual) === JSON.stringify(wanted);
}

/** As numbers where both are; texts otherwise, as dates in ISO form. NaN, which nothing holds for, where neither is so. */
function order(actual: unknown, wanted: unknown): number {
  const numbers = Number(actual) - Number(wanted);
  if (!Number.isNaN(numbers) || typeof actual !== "string" || typeof wanted !== "string") return numbers;
  return actual < wanted ? -1 : Number(actual > wanted);
}
