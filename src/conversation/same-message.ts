/**
 * Whether two values are the same as JSON carries them: the order of keys and fields that are undefined do not count.
 * What JSON cannot carry (a Map, a buffer) is the same only as itself; bytes are compared.
 */
export function sameMessage(left: unknown, right: unknown): boolean {
  const a = asJson(left);
  const b = asJson(right);
  if (Object.is(a, b) || a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (kind(a) !== kind(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) return sameItems(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return sameItems(a, b);
  return kind(a) === "[object Object]" && sameFields(a as Fields, b as Fields); // so they have fields
}

type Fields = Record<string, unknown>;

const kind = (value: object): string => Object.prototype.toString.call(value);

const sameItems = (a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean =>
  a.length === b.length && Array.from(a).every((item, i) => sameMessage(item, b[i]));

function sameFields(a: Fields, b: Fields): boolean {
  const names = setFields(a);
  return (
    names.length === setFields(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameMessage(a[name], b[name]))
  );
}

const setFields = (value: Fields): string[] => Object.keys(value).filter((name) => value[name] !== undefined);

function asJson(value: unknown): unknown {
  const turns =
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function";
  return turns ? (value as { toJSON(): unknown }).toJSON() : value; // A Date, a URL: compared as they are written.
}
