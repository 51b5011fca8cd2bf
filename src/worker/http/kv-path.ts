import { getPath } from "hono/utils/url";

/**
 * The path that routes are matched against. Every URL parser resolves the segment `.` away, encoded or not, and
 * leaves the slash before it: an empty key cannot be, so a path that ends there names the key `.`.
 */
export function routedPath(request: Request): string {
  const path = getPath(request);
  return path.endsWith("/") && /^\/v1\/(users\/[^/]+\/kv|cache)\/$/.test(path) ? `${path}%2E` : path;
}
