import type { Context, TypedResponse } from "hono";
import type { JsonPieces } from "../json-pieces.ts";
import type { AppEnv } from "./context.ts";

/** Answers with lines of JSON as a stream. Its type is the list's: the two are documented under one status. */
export function rawLines<Shape>(
  c: Context<AppEnv>,
  lines: ReadableStream,
  type: string,
): Response & TypedResponse<Shape, 200, "json"> {
  const response: Response = c.body(lines, 200, { "Content-Type": type });
  return response as Response & TypedResponse<Shape, 200, "json">;
}

/**
 * Answers with the pieces as they are: nothing is parsed on the way, so no byte of a stored value changes. That
 * they make up a `Shape` is for the tests to show; the compiler cannot see into them.
 */
export async function rawJson<Shape>(
  c: Context<AppEnv>,
  pieces: JsonPieces,
  headers: Record<string, string> = {},
): Promise<Response & TypedResponse<Shape, 200, "json">> {
  const json = await new Blob(pieces).arrayBuffer();
  const response: Response = c.body(json, 200, { "Content-Type": "application/json", ...headers });
  return response as Response & TypedResponse<Shape, 200, "json">;
}
