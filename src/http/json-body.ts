import { createMiddleware } from "hono/factory";
import type { Context } from "hono";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

/**
 * Reads the body of a write, which must be valid UTF-8: `request.text()` would turn a broken byte into U+FFFD and
 * store that. Hono keeps the bytes for the validators and handlers after this.
 */
export const jsonBody = createMiddleware<AppEnv>(async function jsonBody(c, next) {
  if (["POST", "PUT", "PATCH"].includes(c.req.method)) {
    const bytes = await c.req.arrayBuffer();
    if (bytes.byteLength > 0 && !JSON_TYPE.test(c.req.header("Content-Type") ?? ""))
      throw new Refusal(fail("unsupported_media_type"));
    if (!isUtf8(bytes)) throw new Refusal(fail("invalid_json"));
  }
  await next();
});

function isUtf8(bytes: ArrayBuffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The body as the JSON value that it is, in the bytes it came in: for values that are kept as they are. */
export async function jsonValue(c: Context<AppEnv>): Promise<Uint8Array> {
  const text = await c.req.text();
  try {
    JSON.parse(text);
  } catch {
    throw new Refusal(fail("invalid_json"));
  }
  const value = new TextEncoder().encode(text);
  if (value.byteLength > limits.value) throw new Refusal(fail("value_too_large"));
  return value;
}
