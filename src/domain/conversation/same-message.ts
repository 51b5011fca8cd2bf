/** The place where two values differ: the names of fields and the indexes of items on the way there. */
export type FieldPath = readonly (string | number)[];

/**
 * The first difference of two values as JSON, or undefined if they are equal. The order of keys and undefined fields do not
 * count. A value that JSON cannot carry (a Map, a buffer) equals only itself; bytes are compared.
 */
export function differenceIn(left: unknown, right: unknown): FieldPath | undefined {
  const a = asJson(left);
  const b = asJson(right);
  if (Object.is(a, b) || a === b) return undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return [];
  if (kind(a) !== kind(b)) return [];
  if (Array.isArray(a) && Array.isArray(b)) return differenceInItems(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array)
    return a.length === b.length && a.every((byte, i) => byte === b[i]) ? undefined : [];
  return kind(a) === "[object Object]" ? differenceInFields(a as Fields, b as Fields) : []; // so they have fields
}

type Fields = Record<string, unknown>;

const kind = (value: object): string => Object.prototype.toString.call(value);

function differenceInItems(a: readonly unknown[], b: readonly unknown[]): FieldPath | undefined {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const path = differenceIn(a[i], b[i]);
    if (path !== undefined) return [i, ...path];
  }
  return a.length === b.length ? undefined : [];
}

function differenceInFields(a: Fields, b: Fields): FieldPath | undefined {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const path = differenceIn(fieldOf(a, name), fieldOf(b, name));
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}

/** An inherited field is none. */
const fieldOf = (value: Fields, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

function asJson(value: unknown): unknown {
  const turns =
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function";
  return turns ? (value as { toJSON(): unknown }).toJSON() : value; // A Date, a URL: compared as they are written.
}
