import { base64url } from "jose";
import { fail, ok, type Result } from "./errors.ts";

export const invalidCursor = fail("invalid_cursor", {
  details: [{ path: "query.cursor", message: "is not one that this list handed out" }],
});

/**
 * A cursor is the last item's sort key, as base64url of JSON: opaque to callers. New and deleted items do not disturb it. An
 * item whose sort key changes meanwhile may be seen twice or not at all.
 */
export function encodeCursor(key: readonly (string | number)[]): string {
  return base64url.encode(JSON.stringify(key));
}

/** The sort key in a cursor, whose elements have the types of `shape`; undefined for the first page. */
export function decodeCursor<const Shape extends readonly ("string" | "number")[]>(
  cursor: string | undefined,
  shape: Shape,
): Result<{ [I in keyof Shape]: Shape[I] extends "number" ? number : string } | undefined> {
  if (cursor === undefined) return ok(undefined);
  let key: unknown;
  try {
    key = JSON.parse(new TextDecoder().decode(base64url.decode(cursor)));
  } catch {
    return invalidCursor;
  }
  if (!Array.isArray(key) || key.length !== shape.length) return invalidCursor;
  // Each element is checked against `shape`.
  return shape.every((type, i) => typeof key[i] === type) ? ok(key as never) : invalidCursor;
}

/** A page of at most `limit` rows. `rows` may have one row more than `limit`: then another page follows. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { show, keyOf }: { show: (row: Row) => Item; keyOf: (row: Row) => readonly (string | number)[] },
): { items: Item[]; cursor?: string } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items: shown.map(show), ...(more && { cursor: encodeCursor(keyOf(last)) }) };
}
