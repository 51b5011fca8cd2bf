import type { Context, MiddlewareHandler } from "hono";
import { concatBytes } from "../../domain/concat-bytes.ts";
import { fail } from "../../domain/errors.ts";
import { jsonFaultAt } from "../../domain/json-fault.ts";
import { limits } from "../../domain/limits.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const WRITES: readonly string[] = ["POST", "PUT", "PATCH"];
const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

/** True for the media type of JSON, with or without parameters. */
export const isJson = (type: string | undefined): boolean => type !== undefined && JSON_TYPE.test(type);

const encoder = new TextEncoder();
// Keeps a byte order mark, which JSON.parse then refuses: it must not be stored in front of a value.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the JSON body of a write, of at most `most` bytes, and keeps its bytes and its text. It must be valid UTF-8:
 * `request.text()` would turn a broken byte into U+FFFD and store that.
 */
export const readBody =
  (most: number): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    if (WRITES.includes(c.req.method)) {
      const text = c.get("bound")?.text;
      const bytes = text === undefined ? await bytesOf(c.req.raw, most) : encoded(text, most);
      if (bytes.byteLength > 0 && !isJson(c.req.header("Content-Type")))
        throw new Refusal(fail("unsupported_media_type"));
      c.set("body", bytes);
      c.set("bodyText", textOf(bytes));
    }
    await next();
  };

/** The bytes of a body. Stops reading at `most`. */
export async function bytesOf(request: Request, most: number): Promise<ArrayBuffer> {
  const { headers } = request;
  const length = headers.get("Content-Length");
  // Read at once where the length is known: HTTP lets no more than that come.
  if (length !== null && !headers.has("Transfer-Encoding")) {
    if (Number(length) > most) throw tooLarge(most);
    const bytes = await request.arrayBuffer().catch(incomplete);
    // A Worker that calls by a service binding may send another length.
    if (bytes.byteLength > most) throw tooLarge(most);
    return bytes;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > most) throw tooLarge(most);
      chunks.push(chunk);
    }
  } catch (error) {
    incomplete(error);
  }
  return concatBytes(chunks).buffer;
}

/** The bytes of a body that comes as a text. */
function encoded(text: string, most: number): ArrayBuffer {
  const bytes = encoder.encode(text);
  if (bytes.byteLength > most) throw tooLarge(most);
  // The encoder would turn half of a character into U+FFFD.
  if (!text.isWellFormed()) throw new Refusal(fail("invalid_json"));
  // A fresh copy, in no shared memory.
  return bytes.buffer as ArrayBuffer;
}

const tooLarge = (most: number): Refusal =>
  new Refusal(
    fail("body_too_large", { message: `The body is larger than ${most.toLocaleString("en-US")} bytes.` }),
  );

/** A body that breaks off is the caller's failure, whatever error the runtime throws. */
const incomplete = (error: unknown): never => {
  throw error instanceof Refusal ? error : new Refusal(fail("body_incomplete"));
};

function textOf(bytes: ArrayBuffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal(fail("invalid_json"));
  }
}

/**
 * The body as its schema takes it. An empty one counts as `{}`, with a type or without: many HTTP clients send the type with
 * every POST.
 */
export function parsedBody(c: Context<AppEnv>): unknown {
  const text = c.get("bodyText");
  const type = c.req.header("Content-Type");
  if (type === undefined ? text !== "" : !isJson(type)) throw new Refusal(fail("unsupported_media_type"));
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(fail("invalid_json", { message: `The body is not valid JSON${placeOfFault(text)}.` }));
  }
}

/** Characters of a text in which the place is looked for: the work for a hostile one is bounded. */
const LOOKED_AT = 200_000;

/** The place at which the text stops being JSON: ` at character 12 (line 1)`. Empty for a long text. */
function placeOfFault(text: string): string {
  const at = text.length > LOOKED_AT ? null : jsonFaultAt(text);
  if (at === null) return "";
  const line = text.slice(0, at).split("\n").length;
  return at === text.length
    ? `: it ends too early, at character ${at}`
    : ` at character ${at} (line ${line})`;
}

/** The bytes of a body that is any JSON value, for values that are stored as they are. */
export function jsonValue(c: Context<AppEnv>): Uint8Array {
  try {
    JSON.parse(c.get("bodyText"));
  } catch {
    throw new Refusal(
      fail("invalid_json", {
        message: `The value is not valid JSON${placeOfFault(c.get("bodyText"))}. A string needs quotes: "dark".`,
      }),
    );
  }
  const value = new Uint8Array(c.get("body"));
  if (value.byteLength > limits.value) throw new Refusal(fail("value_too_large"));
  return value;
}

export const NDJSON = "application/x-ndjson";
