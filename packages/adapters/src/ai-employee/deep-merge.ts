/**
 * Merges two plain objects recursively; for other values, returns the second. Neither is changed, and `__proto__` is an
 * ordinary field.
 */
export function deepMerge(before: unknown, after: unknown): unknown {
  if (!isPlain(before) || !isPlain(after)) return after;
  const merged = new Map<string, unknown>(Object.entries(before));
  for (const [name, value] of Object.entries(after))
    merged.set(name, merged.has(name) ? deepMerge(merged.get(name), value) : value);
  return Object.fromEntries(merged);
}

/** Excludes Date, Map and class instances, whose state is not only in their fields. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
