import { CairnError } from "./error.ts";

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** The URL of a route of the API: `path` in segments, which are percent-encoded here. Rejects what no URL can carry. */
export function addressOf(base: string, path: readonly string[], query: Query = {}): string {
  const { origin, pathname } = new URL(base);
  const parameters = new URLSearchParams();
  for (const [name, given] of Object.entries(query))
    for (const value of [given].flat()) if (value !== undefined) parameters.append(name, String(value));
  const segments = path.map((_, i) => encoded(path, i)).join("/");
  const search = parameters.size === 0 ? "" : `?${parameters.toString()}`;
  return `${origin}${pathname.replace(/\/+$/, "")}/${segments}${search}`;
}

/**
 * URL parsers take `.` and `..` away, encoded or not, and what is left is the path of something else: to delete the key
 * `..` would be to delete its user. Only a key of `.` comes through, as the last segment.
 */
function encoded(path: readonly string[], i: number): string {
  const segment = path[i] ?? "";
  const isKey = i === path.length - 1 && (path[i - 1] === "kv" || path[i - 1] === "cache");
  if (segment === "" || segment === ".." || (segment === "." && !isKey))
    throw unsendable(segment === "" ? "is empty" : `is '${segment}', which no URL can carry`);
  try {
    return encodeURIComponent(segment);
  } catch {
    throw unsendable("holds a lone surrogate");
  }
}

const unsendable = (message: string): CairnError =>
  new CairnError(
    {
      code: "invalid_request",
      message: `not sent: a part of the path ${message}`,
      details: [{ path: "path", message }],
    },
    { status: 400 },
  );
