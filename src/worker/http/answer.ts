import type { Context, TypedResponse } from "hono";
import type { Result } from "../../domain/errors.ts";
import { inUtf8, type JsonPieces } from "../../domain/json-pieces.ts";
import type { AppEnv } from "./context.ts";
import { unwrap } from "./failure.ts";

/**
 * Answers with pieces of JSON, or a stream of JSON lines, without parsing them: no byte of a stored value changes. The
 * compiler cannot see that they make up a `Shape`; tests show it.
 */
export function rawJson<Shape, Status extends 200 | 201 = 200>(
  c: Context<AppEnv>,
  json: JsonPieces | ReadableStream,
  { status = 200, ...headers }: { status?: 200 | 201; ETag?: string; "Content-Type"?: string } = {},
): Response & TypedResponse<Shape, Status, "json"> {
  // None of these bytes are in shared memory.
  const body = json instanceof ReadableStream ? json : (inUtf8(json) as Uint8Array<ArrayBuffer>);
  const response = c.body(body, status, { "Content-Type": "application/json", ...headers });
  return response as Response as Response & TypedResponse<Shape, Status, "json">;
}

/** Adds the duration of `work` to the answer's `Server-Timing`. */
export async function wrapTime<T>(c: Context<AppEnv>, name: string, work: Promise<T>): Promise<T> {
  const started = performance.now();
  try {
    return await work;
  } finally {
    const part = `${name};dur=${(performance.now() - started).toFixed(1)}`;
    const before = c.get("timings");
    c.set("timings", before === undefined ? part : `${before},${part}`);
  }
}

/** The value of a result that `work` comes to; adds its duration likewise. */
export const timed = async <T>(c: Context<AppEnv>, name: string, work: Promise<Result<T>>): Promise<T> =>
  unwrap(await wrapTime(c, name, work));

/** For answers that no cache may keep. */
export const NO_STORE = { "Cache-Control": "no-store" } as const;

/** Keeps the request alive for work that never rejects. */
export function afterAnswer(c: Context<AppEnv>, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // Tests call an app without an execution context; the work goes on by itself.
  }
}
