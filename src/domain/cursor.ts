import { base64url } from "jose";
import { fail } from "./errors.ts";

export const invalidCursor = fail("invalid_cursor", {
  details: [{ path: "query.cursor", message: "is not one that this list handed out" }],
});

/**
 * A cursor is the last item's sort key, as base64url of JSON: opaque to callers. What comes and goes does not disturb
 * it; an item whose sort key changes meanwhile may be seen twice or not at all.
 */
export function encodeCursor(key: readonly (string | number)[]): string {
  return base64url.encode(JSON.stringify(key));
}

/** The sort key in a cursor, or null if it is not of the shape that `shape` names ("string" or "number" each). */
export function decodeCursor<const Shape extends readonly ("string" | "number")[]>(
  cursor: string,
  shape: Shape,
): { [I in keyof Shape]: Shape[I] extends "number" ? number : string } | null {
  let key: unknown;
  try {
    key = JSON.parse(new TextDecoder().decode(base64url.decode(cursor)));
  } catch {
    return null;
  }
  if (!Array.isArray(key) || key.length !== shape.length) return null;
  if (!shape.every((type, i) => typeof key[i] === type)) return null;
  // Each element was checked against `shape`.
  return key as never;
}
