import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import { isStreamed } from "./streamed-body.ts";

const WRITES: readonly string[] = ["POST", "PUT", "PATCH"];
const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

// A byte order mark stays, and is then no JSON: it must not be stored in front of a value.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the body of a write, which must be valid UTF-8: `request.text()` would turn a broken byte into U+FFFD and
 * store that. Both its bytes and its text are kept, for those who need it as it was written.
 */
export const readBody = (c: Context<AppEnv>): Promise<void> => readBodyTo(c, limits.body);

/** The same of a body of at most `most` bytes. */
export async function readBodyTo(c: Context<AppEnv>, most: number): Promise<void> {
  if (!WRITES.includes(c.req.method) || isStreamed(c)) return;
  const bytes = await bytesOf(c.req.raw, most);
  if (bytes.byteLength > 0 && !JSON_TYPE.test(c.req.header("Content-Type") ?? ""))
    throw new Refusal(fail("unsupported_media_type"));
  c.set("body", bytes);
  c.set("bodyText", textOf(bytes));
}

/** The bytes of a body. One that is larger than `most` is not read to its end, nor kept. */
async function bytesOf(request: Request, most: number): Promise<ArrayBuffer> {
  const { headers } = request;
  const length = headers.get("Content-Length");
  // Read at once where its length is known beforehand: HTTP then lets no more of it come than that.
  if (length !== null && !headers.has("Transfer-Encoding")) {
    if (Number(length) > most) throw new Refusal(fail("body_too_large"));
    const bytes = await request.arrayBuffer().catch(incomplete);
    // A Worker that calls by a service binding may say what it likes.
    if (bytes.byteLength > most) throw new Refusal(fail("body_too_large"));
    return bytes;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > most) throw new Refusal(fail("body_too_large"));
      chunks.push(chunk);
    }
  } catch (error) {
    incomplete(error);
  }
  return concatenated(chunks, size).buffer;
}

/** A body that cannot be read to its end is the caller's failure, whatever the runtime calls it. */
const incomplete = (error: unknown): never => {
  throw error instanceof Refusal ? error : new Refusal(fail("body_incomplete"));
};

function concatenated(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let start = 0;
  for (const chunk of chunks) {
    whole.set(chunk, start);
    start += chunk.byteLength;
  }
  return whole;
}

function textOf(bytes: ArrayBuffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal(fail("invalid_json"));
  }
}

/**
 * The body parsed, for the schemas. An empty one is left to them, also where it has a type, which many HTTP clients send
 * with whatever they POST: each schema says itself whether it can do without.
 */
export function parsedBody(c: Context<AppEnv>): unknown {
  const text = c.get("bodyText");
  const type = c.req.header("Content-Type");
  if (type === undefined ? text !== "" : !JSON_TYPE.test(type))
    throw new Refusal(fail("unsupported_media_type"));
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(fail("invalid_json"));
  }
}

/** The body as the JSON value that it is, in the bytes it came in: for values that are kept as they are. */
export function jsonValue(c: Context<AppEnv>): Uint8Array {
  try {
    JSON.parse(c.get("bodyText"));
  } catch {
    throw new Refusal(fail("invalid_json"));
  }
  const value = new Uint8Array(c.get("body"));
  if (value.byteLength > limits.value) throw new Refusal(fail("value_too_large"));
  return value;
}
