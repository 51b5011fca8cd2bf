import type { Context, TypedResponse } from "hono";
import { inUtf8, type JsonPieces } from "../../domain/json-pieces.ts";
import type { AppEnv } from "./context.ts";

/** Answers with lines of JSON as a stream. Its type is the list's: the two are documented under one status. */
export function rawLines<Shape>(
  lines: ReadableStream,
  type: string,
): Response & TypedResponse<Shape, 200, "json"> {
  const response = new Response(lines, { headers: { "Content-Type": type } });
  return response as Response & TypedResponse<Shape, 200, "json">;
}

/**
 * Answers with JSON that is there in pieces, without parsing it: no byte of a stored value changes. The compiler cannot see
 * that the pieces make up a `Shape`; tests show it.
 */
export function rawJson<Shape, Status extends 200 | 201 = 200>(
  c: Context<AppEnv>,
  pieces: JsonPieces,
  { status = 200, ...headers }: { status?: 200 | 201; ETag?: string } = {},
): Response & TypedResponse<Shape, Status, "json"> {
  // None of these bytes are in shared memory.
  const json = inUtf8(pieces) as Uint8Array<ArrayBuffer>;
  const response = c.body(json, status, { "Content-Type": "application/json", ...headers });
  return response as Response as Response & TypedResponse<Shape, Status, "json">;
}
