/** The directory that a model sees; there is always one. */
export const ROOT = "/memories";

/** What a file system or a URL might take for a way out: `..`, a backslash, NUL, or one of these percent-encoded, however often. */
const WAYS_OUT = /(?:^|\/)\.\.(?:\/|$)|\\|\0|%(?:25)*(?:2e|2f|5c|00)/i;

/** What would break the lines of a listing, or has no encoding in UTF-8. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const UNSPEAKABLE = /[\u0000-\u001f\u007f\u0085\u2028\u2029]/;

/**
 * The one spelling of a path: without `.`, empty segments and a slash at its end. Throws what a model is told of a path
 * that is not in `/memories`, or that somewhere may not stay in it.
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

/** The directories that a path is in, the nearest first, without `/memories` itself. */
export function ancestorsOf(path: string): string[] {
  const parent = path.slice(0, path.lastIndexOf("/"));
  return parent.length <= ROOT.length ? [] : [parent, ...ancestorsOf(parent)];
}
