// A value larger than an entry holds is kept in parts: entries of their own, under keys that begin with the value's key.
// The entry under the key itself names them. Shared by the client, which cuts values up, and the objects, which delete parts
// with their entry.

/** Between an entry's key and the place of one of its parts: the unit separator of ASCII, on both sides. */
export const PART = "\u001Fpart\u001F";

/** The entry of a value in parts: the id of the parts, and their count. */
export type InParts = { cairnParts: string; count: number };

/** The largest value that is kept in parts, in bytes of JSON. */
export const MOST_BYTES = 64 * 1024 * 1024;
/** The JSON of `InParts` is shorter. */
export const HEAD_BYTES = 128;

const ID = "[0-9a-f]{32}";
const SUFFIX = new RegExp(`${PART}${ID}/[0-9]{4}$`);
const HEAD = new RegExp(`^${ID}$`);

/** The prefix of the keys of all parts of one value. */
export const partsUnder = (key: string, id: string): string => `${key}${PART}${id}/`;

/** The keys of the parts of a value, in their order. */
export const partKeys = (key: string, { cairnParts, count }: InParts): string[] =>
  Array.from({ length: count }, (_, i) => `${partsUnder(key, cairnParts)}${String(i).padStart(4, "0")}`);

/** The key of the entry that a part belongs to; any other key is its own. */
export const ownerKeyOf = (key: string): string => key.replace(SUFFIX, "");

export const isPart = (key: string): boolean => SUFFIX.test(key);

/** The parts that an entry's value names; null if it is a value itself. */
export function partsIn(value: unknown): InParts | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { cairnParts, count, ...more } = value as Partial<InParts>;
  if (typeof cairnParts !== "string" || !HEAD.test(cairnParts) || Object.keys(more).length > 0) return null;
  return typeof count === "number" && Number.isInteger(count) && count > 0 && count < 10_000
    ? { cairnParts, count }
    : null;
}
