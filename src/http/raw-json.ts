import type { Context, TypedResponse } from "hono";
import type { AppEnv } from "./context.ts";

/** A JSON document in pieces: text, and values that are JSON in UTF-8 already. */
export type JsonPieces = (string | Uint8Array)[];

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
