/**
 * Two values as one: of plain objects all fields, those of both merged likewise; of anything else the second. Neither is
 * changed, and `__proto__` is a field like any other.
 */
export function deepMerge(before: unknown, after: unknown): unknown {
  if (!isPlain(before) || !isPlain(after)) return after;
  const merged = new Map<string, unknown>(Object.entries(before));
  for (const [name, value] of Object.entries(after))
    merged.set(name, merged.has(name) ? deepMerge(merged.get(name), value) : value);
  return Object.fromEntries(merged);
}

/** No Date, Map or instance of a class: what it is made of is not in its fields alone. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
