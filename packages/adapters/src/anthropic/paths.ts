/** The root directory, which always exists. */
export const ROOT = "/memories";

/** Path escapes: `..`, a backslash, NUL, or one of them percent-encoded any number of times. */
const WAYS_OUT = /(?:^|\/)\.\.(?:\/|$)|\\|\0|%(?:25)*(?:2e|2f|5c|00)/i;

/** Characters that break a line of a listing or have no UTF-8 encoding. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNSPEAKABLE = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;

/**
 * Normalizes a path: removes `.`, empty segments and a trailing slash. Throws the model's error message for a path
 * outside `/memories`, or one that may lead out of it.
 */
export function normalPath(path: unknown): string {
  if (typeof path !== "string" || !(path === ROOT || path.startsWith(`${ROOT}/`)))
    throw new Error(`Path must start with ${ROOT}, got: ${String(path)}`);
  if (WAYS_OUT.test(path)) throw new Error(`Path ${path} would escape ${ROOT} directory`);
  if (UNSPEAKABLE.test(path) || !path.isWellFormed())
    throw new Error(`Path ${JSON.stringify(path)} holds a character that no path may hold`);
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  return `/${segments.join("/")}`;
}

/** The parents of a path, nearest first, without `/memories` itself. */
export function ancestorsOf(path: string): string[] {
  const parent = path.slice(0, path.lastIndexOf("/"));
  return parent.length <= ROOT.length ? [] : [parent, ...ancestorsOf(parent)];
}
