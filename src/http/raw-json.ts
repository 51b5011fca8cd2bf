import type { Context, TypedResponse } from "hono";
import { inUtf8, type JsonPieces } from "../json-pieces.ts";
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
export const rawJson = <Shape>(
  c: Context<AppEnv>,
  pieces: JsonPieces,
  headers: Record<string, string> = {},
) => raw<Shape, 200>(c, pieces, { status: 200, headers });

/** The same for what was made just now. */
export const rawJsonCreated = <Shape>(c: Context<AppEnv>, pieces: JsonPieces) =>
  raw<Shape, 201>(c, pieces, { status: 201, headers: {} });

function raw<Shape, Status extends 200 | 201>(
  c: Context<AppEnv>,
  pieces: JsonPieces,
  { status, headers }: { status: Status; headers: Record<string, string> },
): Response & TypedResponse<Shape, Status, "json"> {
  const response: Response = c.body(inUtf8(pieces), status, {
    "Content-Type": "application/json",
    ...headers,
  });
  return response as Response & TypedResponse<Shape, Status, "json">;
}
