import { CairnError } from "./error.ts";

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** The path of a route of the API, with its query. Its segments are percent-encoded here. Rejects what no URL can carry. */
export function pathOf(path: readonly string[], query: Query = {}): string {
  const segments = path.map((_, i) => encoded(path, i)).join("/");
  const parameters = new URLSearchParams();
  for (const [name, given] of Object.entries(query))
    for (const value of [given].flat())
      if (value !== undefined) parameters.append(name, wellFormed(name, value));
  return parameters.size === 0 ? `/${segments}` : `/${segments}?${parameters.toString()}`;
}

/** A URL would carry another text than one with half of a surrogate pair: to clear that prefix would be to clear others. */
function wellFormed(name: string, value: string | number | boolean): string {
  const refused = (what: string) => unsendable(`query.${name}`, `the parameter ${name}`, what);
  // A JavaScript caller may give one, whose text means nothing.
  if (typeof value === "object") throw refused("is an object");
  const text = String(value);
  if (text.isWellFormed()) return text;
  throw refused("holds a lone surrogate");
}

/**
 * URL parsers take `.` and `..` away, encoded or not, and what is left is the path of something else: to delete the key
 * `..` would be to delete its user. Only a key of `.` comes through, as the last segment.
 */
function encoded(path: readonly string[], i: number): string {
  const segment: unknown = path[i];
  // A JavaScript caller may leave an argument out: `recall({ query })` without the user.
  if (typeof segment !== "string") throw unsendableSegment(`is ${typeName(segment)}, not a string`);
  const isKey = i === path.length - 1 && (path[i - 1] === "kv" || path[i - 1] === "cache");
  if (segment === "" || segment === ".." || (segment === "." && !isKey))
    throw unsendableSegment(segment === "" ? "is empty" : `is '${segment}', which no URL can carry`);
  if (!segment.isWellFormed()) throw unsendableSegment("holds a lone surrogate");
  return encodeURIComponent(segment);
}

const typeName = (value: unknown): string => (value === undefined ? "missing" : `of type ${typeof value}`);

const unsendableSegment = (message: string): CairnError => unsendable("path", "a part of the path", message);

const unsendable = (path: string, what: string, message: string): CairnError =>
  new CairnError(
    { code: "invalid_request", message: `not sent: ${what} ${message}`, details: [{ path, message }] },
    { status: 400 },
  );
