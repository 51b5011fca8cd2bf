import { base64url } from "jose";
import { fail, ok, type Result } from "./errors.ts";
import { hash32 } from "./hash.ts";

export const invalidCursor = fail("invalid_cursor", {
  details: [{ path: "query.cursor", message: "is not one that this list handed out" }],
});

/**
 * A cursor is a hash of the list's name and the last item's sort key, as base64url of JSON: opaque to callers. New and deleted
 * items do not disturb it. An item whose sort key changes meanwhile may be seen twice or not at all. `list` names the list with
 * its owner, `messages <threadId>`: no other list takes the cursor.
 */
export function encodeCursor(list: string, key: readonly (string | number)[]): string {
  return base64url.encode(JSON.stringify([hash32(list), ...key]));
}

/** The sort key in a cursor of this list, whose elements have the types of `shape`; undefined for the first page. */
export function decodeCursor<const Shape extends readonly ("string" | "number")[]>(
  list: string,
  cursor: string | undefined,
  shape: Shape,
): Result<{ [I in keyof Shape]: Shape[I] extends "number" ? number : string } | undefined> {
  if (cursor === undefined) return ok(undefined);
  let parts: unknown;
  try {
    parts = JSON.parse(new TextDecoder().decode(base64url.decode(cursor)));
  } catch {
    return invalidCursor;
  }
  if (!Array.isArray(parts) || parts.length !== shape.length + 1) return invalidCursor;
  const [of, ...key] = parts as unknown[];
  if (of !== hash32(list)) return invalidCursor;
  // Each element is checked against `shape`.
  return shape.every((type, i) => typeof key[i] === type) ? ok(key as never) : invalidCursor;
}

/** A page of a list of at most `limit` rows. `rows` may have one row more than `limit`: then another page follows. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  {
    list,
    show,
    keyOf,
  }: { list: string; show: (row: Row) => Item; keyOf: (row: Row) => readonly (string | number)[] },
): { items: Item[]; cursor?: string } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items: shown.map(show), ...(more && { cursor: encodeCursor(list, keyOf(last)) }) };
}
