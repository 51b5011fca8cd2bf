import type { TypedResponse } from "hono";
import { inUtf8, type JsonPieces } from "../../domain/json-pieces.ts";
import { dataHeaders } from "./security-headers.ts";

/** Answers with lines of JSON as a stream. Its type is the list's: the two are documented under one status. */
export function rawLines<Shape>(
  lines: ReadableStream,
  type: string,
): Response & TypedResponse<Shape, 200, "json"> {
  const response = new Response(lines, { headers: { "Content-Type": type } });
  return response as Response & TypedResponse<Shape, 200, "json">;
}

/**
 * Answers with the pieces as they are: nothing is parsed on the way, so no byte of a stored value changes. That
 * they make up a `Shape` is for the tests to show; the compiler cannot see into them.
 */
export const rawJson = <Shape>(pieces: JsonPieces, headers: Record<string, string> = {}) =>
  answer<Shape, 200>(inUtf8(pieces), { status: 200, headers });

/** The same for what was made just now. */
export const rawJsonCreated = <Shape>(pieces: JsonPieces) =>
  answer<Shape, 201>(inUtf8(pieces), { status: 201, headers: {} });

/** As `c.json`, for the answers that many wait for: one Response, where Hono makes its headers first and copies them. */
export const quickJson = <Shape>(value: Shape, headers: Record<string, string> = {}) =>
  answer<Shape, 200>(JSON.stringify(value), { status: 200, headers });

/** The same for what was made just now. */
export const quickJsonCreated = <Shape>(value: Shape) =>
  answer<Shape, 201>(JSON.stringify(value), { status: 201, headers: {} });

function answer<Shape, Status extends 200 | 201>(
  body: BodyInit,
  { status, headers }: { status: Status; headers: Record<string, string> },
): Response & TypedResponse<Shape, Status, "json"> {
  const response = new Response(body, { status, headers: dataHeaders });
  response.headers.set("Content-Type", "application/json");
  for (const name in headers) response.headers.set(name, headers[name] ?? "");
  return response as Response & TypedResponse<Shape, Status, "json">;
}
